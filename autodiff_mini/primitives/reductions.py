"""Reductions: many elements become one.

Chapters 1, 2 and 3; most rows are in the appendix.
"""

import operator

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from autodiff_mini.arrays import convert
from autodiff_mini.core import Kind, Primitive, typeof
from autodiff_mini.interpreters import vmap
from autodiff_mini.interpreters.abstract import defshape
from autodiff_mini.interpreters.jvp import defjvp, match
from autodiff_mini.interpreters.transpose import deflinear
from autodiff_mini.numpy_api import asarray, implements, reduced_axes

reducing = Kind()   # the result is new; in C order, if the operand is


def reduction(name, function):
    """Return the primitive of a function that reduces the axes `axis`."""
    primitive = reducing(name, function)
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

def extremum(name, functions, larger):
    """Return the primitive of functions that find an extremum.

    Args:
        name: of the primitive.
        functions: NumPy's functions for it.
        larger: the ufunc that finds the extremum of two numbers.
    """
    def call(a, axis=None, out=None, keepdims=False, initial=None,
             where=True):
        if where is not True and initial is None:
            larger.reduce([0.0], where=[True])  # NumPy says what is missing
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


def axis_primitive(function, shape_rule, kind=Primitive):
    """Return the primitive of a function that runs along the axis `axis`."""
    primitive = kind(function.__name__, function)
    vmap.rules[primitive] = lambda batch, vals, dims, axis, **params: (
        primitive.bind(*vals, axis=axis + 1, **params), 0)
    defshape(primitive, shape_rule)
    return primitive


def without_axis(shape, axis):
    return (*shape[:axis], *shape[axis + 1:])


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

    primitive = axis_primitive(function, without_axis, reducing)
    defjvp(primitive)
    return primitive


argmax_p = arg_reduction(np.argmax)
argmin_p = arg_reduction(np.argmin)
