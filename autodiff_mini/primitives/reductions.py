"""Reductions: many elements become one; and what runs along an axis.

Chapters 1, 2 and 3; most rows are in the appendix.
"""

import operator

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from autodiff_mini.arrays import convert
from autodiff_mini.core import Primitive, typeof
from autodiff_mini.errors import refuse
from autodiff_mini.interpreters import vmap
from autodiff_mini.interpreters.abstract import defshape
from autodiff_mini.interpreters.jvp import defjvp, defzero, match
from autodiff_mini.interpreters.transpose import deflinear
from autodiff_mini.numpy_api import (
    along_one, asarray, implements, reduced_axes)


def reduction(name, function):
    """Return the primitive of a function that reduces the axes `axis`."""
    primitive = Primitive(name, function)
    vmap.rules[primitive] = lambda batch, vals, dims, axis, keepdims: (
        primitive.bind(*vals, axis=vmap.behind(axis), keepdims=keepdims), 0)
    defshape(primitive, reduced_shape)
    return primitive


def reduced_shape(shape, axis, keepdims):
    """Return the shape that is left when some axes are reduced."""
    return tuple(1 if i in axis else n for i, n in enumerate(shape)
                 if keepdims or i not in axis)


def sum_or_product(function, primitive, combine, identity):
    """Let `primitive` stand for a sum or a product.

    NumPy computes with small integers and booleans in a larger dtype.  To
    wrap around at the end is the same as at each step.
    """
    @implements(function)
    def call(a, axis=None, dtype=None, out=None, keepdims=False, *,
             initial=None, where=True):
        a = asarray(a, dtype)
        if where is not True:
            a = masked(a, where, identity)
        y = primitive.bind(a, axis=reduced_axes(a, axis),
                           keepdims=bool(keepdims))
        if dtype is not None:
            y = convert(y, np.dtype(dtype))
        return y if initial is None else combine(y, convert(initial, y.dtype))


def masked(a, where, identity):
    """Return `a`, with what does not matter where `where` is false."""
    if where is True:
        return a
    return np.where(np.broadcast_to(where, a.shape), a,
                    convert(identity, a.dtype))


reduce_sum_p = reduction('reduce_sum', np.sum)
sum_or_product(np.sum, reduce_sum_p, operator.add, identity=0)


def sum_transpose(ct, x, axis, keepdims):
    spread_out = ct if keepdims else np.expand_dims(ct, axis)
    return np.broadcast_to(spread_out, x.shape)


deflinear(reduce_sum_p, sum_transpose)

reduce_prod_p = reduction('reduce_prod', np.prod)
sum_or_product(np.prod, reduce_prod_p, operator.mul, identity=1)


def prod_rule(x_dot, y, x, axis, keepdims):
    x, x_dot = as_rows(x, axis), as_rows(x_dot, axis)
    while len(x) > 1:
        half = len(x) // 2
        a, b, rest = x[:half], x[half:2*half], x[2*half:]
        a_dot, b_dot = x_dot[:half], x_dot[half:2*half]
        x = np.concatenate([a * b, rest])
        x_dot = np.concatenate([a_dot * b + a * b_dot, x_dot[2*half:]])
    return np.reshape(np.sum(x_dot, 0), np.shape(y))


def as_rows(x, axis):
    """Return `x` with these axes made one, in front."""
    x = np.moveaxis(x, axis, range(len(axis)))
    count, rest = int(np.prod(x.shape[:len(axis)])), x.shape[len(axis):]
    return np.reshape(x, (count, *rest))


defjvp(reduce_prod_p, prod_rule)


def extremum(name, functions, larger):
    """Return the primitive of functions that find an extremum.

    Args:
        name: of the primitive.
        functions: of NumPy's, all for the same.
        larger: the ufunc that finds the extremum of two numbers.
    """
    def call(a, axis=None, out=None, keepdims=False, initial=None,
             where=True):
        if where is not True and initial is None:
            raise ValueError(
                f'reduction operation {larger.__name__!r} does not have an '
                "identity, so to use a where mask one has to specify "
                "'initial'")
        a = masked(asarray(a), where, initial)
        axes, keepdims = reduced_axes(a, axis), bool(keepdims)
        if initial is None:
            return primitive.bind(a, axis=axes, keepdims=keepdims)
        initial = convert(initial, a.dtype)
        if a.size == 0:
            return np.broadcast_to(
                initial, reduced_shape(a.shape, axes, keepdims))
        return larger(primitive.bind(a, axis=axes, keepdims=keepdims),
                      initial)

    primitive = reduction(name, functions[0])
    for function in functions:
        implements(function)(call)
    defjvp(primitive, extremum_rule)
    return primitive


def extremum_rule(x_dot, y, x, axis, keepdims):
    sought = y if keepdims else np.expand_dims(y, axis)
    # NaN equals nothing: where it is the extremum, all slopes are NaN.
    found = np.equal(x, sought) | np.isnan(sought)
    total = np.sum(np.where(found, x_dot, 0), axis, keepdims=keepdims)
    count = np.sum(found, axis, keepdims=keepdims)
    count = np.where(np.isnan(y), np.nan, count)
    return match(np.divide(total, convert(count, typeof(y).dtype)), y)


reduce_max_p = extremum('reduce_max', [np.max, np.amax], np.maximum)
reduce_min_p = extremum('reduce_min', [np.min, np.amin], np.minimum)


def axis_primitive(function, shape_rule):
    """Return the primitive of a function that runs along the axis `axis`."""
    primitive = Primitive(function.__name__, function)
    vmap.rules[primitive] = lambda batch, vals, dims, axis, **params: (
        primitive.bind(*vals, axis=axis + 1, **params), 0)
    defshape(primitive, shape_rule)
    return primitive


def without_axis(shape, axis):
    return (*shape[:axis], *shape[axis + 1:])


def same_shape(shape, **params):
    return shape


def arg_reduction(function):
    """Return the primitive of a function that finds the place of one."""
    @implements(function)
    def call(a, axis=None, out=None, *, keepdims=False):
        a = asarray(a)
        if axis is None or a.ndim == 0 and axis in (0, -1):
            place = primitive.bind(np.reshape(a, -1), axis=0)
            return np.reshape(place, [1] * a.ndim) if keepdims else place
        axis = normalize_axis_index(axis, a.ndim)
        place = primitive.bind(a, axis=axis)
        return np.expand_dims(place, axis) if keepdims else place

    primitive = axis_primitive(function, without_axis)
    defzero(primitive)
    return primitive


argmax_p = arg_reduction(np.argmax)
argmin_p = arg_reduction(np.argmin)

argsort_p = axis_primitive(np.argsort, same_shape)
defzero(argsort_p)


@implements(np.argsort)
def numpy_argsort(a, axis=-1, kind=None, order=None, *, stable=None):
    refuse(np.argsort, order=order)
    a, axis = along_one(a, axis, or_number=True)
    return argsort_p.bind(a, axis=axis, kind='stable' if stable else kind)


def cumulation(function):
    """Return the primitive of a function that adds up, or multiplies."""
    @implements(function)
    def call(a, axis=None, dtype=None, out=None):
        a, axis = along_one(asarray(a, dtype), axis, or_number=True)
        y = primitive.bind(a, axis=axis)
        return y if dtype is None else convert(y, np.dtype(dtype))

    primitive = axis_primitive(function, same_shape)
    return primitive


cumsum_p = cumulation(np.cumsum)
deflinear(cumsum_p, lambda ct, x, axis: np.flip(
    np.cumsum(np.flip(ct, axis), axis), axis))

cumprod_p = cumulation(np.cumprod)


def cumprod_rule(x_dot, y, x, axis):
    x, x_dot = np.moveaxis(x, axis, 0), np.moveaxis(x_dot, axis, 0)
    distance = 1
    while distance < len(x):
        before = shifted(x, distance, 1)
        x_dot = x_dot * before + x * shifted(x_dot, distance, 0)
        x, distance = x * before, 2 * distance
    return np.moveaxis(x_dot, 0, axis)


def shifted(x, distance, value):
    """Return `x` moved along its first axis, with `value` at the start."""
    start = np.full_like(x[:distance], value)
    return np.concatenate([start, x[:-distance]])


defjvp(cumprod_p, cumprod_rule)
