"""Reductions: many elements become one; and what runs along an axis.

Chapters 1, 2 and 3; most rows are in the appendix.
"""

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from autodiff_mini.arrays import convert
from autodiff_mini.core import Primitive, typeof
from autodiff_mini.errors import refuse
from autodiff_mini.interpreters.abstract import defshape
from autodiff_mini.interpreters.jvp import defjvp, deflinear, defzero, match
from autodiff_mini.interpreters.transpose import deftranspose
from autodiff_mini.interpreters.vmap import behind, vmap_rules
from autodiff_mini.numpy_api import (
    along_one, asarray, implements, reduced_axes)


def reduce_rule(primitive):
    """Returns the rule of a reduction over the axes `axis`."""
    def rule(batch, vals, dims, axis, **params):
        return primitive.bind(*vals, axis=behind(axis), **params), 0
    return rule


def reduced_shape(shape, axis, keepdims):
    """Returns the shape that is left when some axes are reduced."""
    return tuple(1 if i in axis else n for i, n in enumerate(shape)
                 if keepdims or i not in axis)


reduce_sum_p = Primitive('reduce_sum', np.sum)


@implements(np.sum)
def numpy_sum(a, axis=None, dtype=None, out=None, keepdims=False, *,
              initial=None, where=True):
    a = masked(asarray(a, dtype), where, 0)
    y = reduce_sum_p.bind(a, axis=reduced_axes(a, axis),
                          keepdims=bool(keepdims))
    y = as_asked(y, dtype)
    return y if initial is None else y + convert(initial, y.dtype)


def masked(a, where, identity):
    """Returns `a`, with what does not matter where `where` is false."""
    if where is True:
        return a
    return np.where(np.broadcast_to(where, a.shape), a,
                    convert(identity, a.dtype))


def as_asked(y, dtype):
    """Returns a sum or product in the dtype that was asked for.

    NumPy computes with small integers and booleans in a larger one.  To wrap
    around at the end is the same as at each step.
    """
    return y if dtype is None else convert(y, np.dtype(dtype))


deflinear(reduce_sum_p)
vmap_rules[reduce_sum_p] = reduce_rule(reduce_sum_p)
defshape(reduce_sum_p, reduced_shape)


def sum_transpose(ct, x, axis, keepdims):
    spread_out = ct if keepdims else np.expand_dims(ct, axis)
    return np.broadcast_to(spread_out, x.shape)


deftranspose(reduce_sum_p, sum_transpose)

reduce_prod_p = Primitive('reduce_prod', np.prod)


@implements(np.prod)
def numpy_prod(a, axis=None, dtype=None, out=None, keepdims=False, *,
               initial=None, where=True):
    a = masked(asarray(a, dtype), where, 1)
    y = reduce_prod_p.bind(a, axis=reduced_axes(a, axis),
                           keepdims=bool(keepdims))
    y = as_asked(y, dtype)
    return y if initial is None else y * convert(initial, y.dtype)


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
    """Returns `x` with these axes made one, in front."""
    x = np.moveaxis(x, axis, range(len(axis)))
    count, rest = int(np.prod(x.shape[:len(axis)])), x.shape[len(axis):]
    return np.reshape(x, (count, *rest))


defjvp(reduce_prod_p, prod_rule)
vmap_rules[reduce_prod_p] = reduce_rule(reduce_prod_p)
defshape(reduce_prod_p, reduced_shape)


def extremum(function, primitive, larger):
    """Lets `primitive` stand for a function that finds an extremum.

    Args:
        function: NumPy's.
        primitive: what stands for it.
        larger: the ufunc that finds it of two.
    """
    @implements(function)
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


def extremum_rule(x_dot, y, x, axis, keepdims):
    sought = y if keepdims else np.expand_dims(y, axis)
    # NaN equals nothing: where it is the extremum, all slopes are NaN.
    found = np.equal(x, sought) | np.isnan(sought)
    total = np.sum(np.where(found, x_dot, 0), axis, keepdims=keepdims)
    count = np.sum(found, axis, keepdims=keepdims)
    count = np.where(np.isnan(y), np.nan, count)
    return match(np.divide(total, convert(count, typeof(y).dtype)), y)


reduce_max_p = Primitive('reduce_max', np.max)
extremum(np.max, reduce_max_p, np.maximum)
extremum(np.amax, reduce_max_p, np.maximum)
defjvp(reduce_max_p, extremum_rule)
vmap_rules[reduce_max_p] = reduce_rule(reduce_max_p)
defshape(reduce_max_p, reduced_shape)

reduce_min_p = Primitive('reduce_min', np.min)
extremum(np.min, reduce_min_p, np.minimum)
extremum(np.amin, reduce_min_p, np.minimum)
defjvp(reduce_min_p, extremum_rule)
vmap_rules[reduce_min_p] = reduce_rule(reduce_min_p)
defshape(reduce_min_p, reduced_shape)


def along_rule(primitive):
    """Returns the rule of a primitive that works along the axis `axis`."""
    def rule(batch, vals, dims, axis, **params):
        return primitive.bind(*vals, axis=axis + 1, **params), 0
    return rule


def without_axis(shape, axis):
    return (*shape[:axis], *shape[axis + 1:])


def same_shape(shape, **params):
    return shape


def arg_reduction(function, primitive):
    """Lets `primitive` stand for a function that finds an element."""
    @implements(function)
    def call(a, axis=None, out=None, *, keepdims=False):
        a = asarray(a)
        if axis is None or a.ndim == 0 and axis in (0, -1):
            place = primitive.bind(np.reshape(a, -1), axis=0)
            return np.reshape(place, [1] * a.ndim) if keepdims else place
        axis = normalize_axis_index(axis, a.ndim)
        place = primitive.bind(a, axis=axis)
        return np.expand_dims(place, axis) if keepdims else place


argmax_p = Primitive('argmax', np.argmax)
arg_reduction(np.argmax, argmax_p)
defzero(argmax_p)
vmap_rules[argmax_p] = along_rule(argmax_p)
defshape(argmax_p, without_axis)

argmin_p = Primitive('argmin', np.argmin)
arg_reduction(np.argmin, argmin_p)
defzero(argmin_p)
vmap_rules[argmin_p] = along_rule(argmin_p)
defshape(argmin_p, without_axis)

argsort_p = Primitive('argsort', np.argsort)


@implements(np.argsort)
def numpy_argsort(a, axis=-1, kind=None, order=None, *, stable=None):
    refuse(np.argsort, order=order)
    a, axis = along_one(a, axis, or_number=True)
    return argsort_p.bind(a, axis=axis, kind='stable' if stable else kind)


defzero(argsort_p)
vmap_rules[argsort_p] = along_rule(argsort_p)
defshape(argsort_p, same_shape)


def cumulation(function, primitive):
    """Lets `primitive` stand for a function that runs along an axis."""
    @implements(function)
    def call(a, axis=None, dtype=None, out=None):
        a, axis = along_one(asarray(a, dtype), axis, or_number=True)
        return as_asked(primitive.bind(a, axis=axis), dtype)


cumsum_p = Primitive('cumsum', np.cumsum)
cumulation(np.cumsum, cumsum_p)
deflinear(cumsum_p)
vmap_rules[cumsum_p] = along_rule(cumsum_p)
defshape(cumsum_p, same_shape)
deftranspose(cumsum_p, lambda ct, x, axis: np.flip(
    np.cumsum(np.flip(ct, axis), axis), axis))

cumprod_p = Primitive('cumprod', np.cumprod)
cumulation(np.cumprod, cumprod_p)


def cumprod_rule(x_dot, y, x, axis):
    x, x_dot = np.moveaxis(x, axis, 0), np.moveaxis(x_dot, axis, 0)
    distance = 1
    while distance < len(x):
        before = shifted(x, distance, 1)
        x_dot = x_dot * before + x * shifted(x_dot, distance, 0)
        x, distance = x * before, 2 * distance
    return np.moveaxis(x_dot, 0, axis)


def shifted(x, distance, value):
    """Returns `x` moved along its first axis, with `value` at the start."""
    start = np.full_like(x[:distance], value)
    return np.concatenate([start, x[:-distance]])


defjvp(cumprod_p, cumprod_rule)
vmap_rules[cumprod_p] = along_rule(cumprod_p)
defshape(cumprod_p, same_shape)
