"""Reductions: many elements become one.

Chapters 1, 2, and 3.
"""

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from autodiff_mini.core.trace import Kind, Primitive, function_table
from autodiff_mini.core.types import convert, typeof
from autodiff_mini.interpreters import abstract, jvp, transpose, vmap
from autodiff_mini.numpy_functions.table import (
    asarray, implements, reduced_axes)

reducing = Kind()   # the result is new; in C order, if the operand is


def reduction(name, function):
    """Return the primitive of a function that reduces the axes `axis`."""
    primitive = reducing(name, function)
    vmap.rules[primitive] = lambda batch, vals, dims, axis, keepdims: (
        primitive.bind(*vals, axis=vmap.behind(axis), keepdims=keepdims), 0)
    abstract.defshape(primitive, reduced_shape)
    return primitive


def reduced_shape(shape, axis, keepdims):
    """Return the shape after some axes are reduced."""
    return tuple(1 if i in axis else n for i, n in enumerate(shape)
                 if keepdims or i not in axis)


def sum_or_product(name, function):
    """Return the primitive of a sum or a product.

    NumPy computes with small integers and booleans in a larger dtype.
    Wrapping around at the end gives the same result as at each step.
    """
    @implements(function)
    def call(a, axis=None, dtype=None, out=None, keepdims=False, *,
             initial=None, where=True):
        if where is not True or initial is not None:
            return function_table[function, 'where='](
                a, axis, keepdims, initial, where, dtype)
        a = asarray(a, dtype)
        y = primitive.bind(a, axis=reduced_axes(a, axis),
                           keepdims=bool(keepdims))
        return y if dtype is None else convert(y, np.dtype(dtype))

    primitive = reduction(name, function)
    return primitive


reduce_sum_p = sum_or_product('reduce_sum', np.sum)


def sum_transpose(ct, x, axis, keepdims):
    fits = keepdims or len(axis) == len(x.shape)
    return np.broadcast_to(ct if fits else np.expand_dims(ct, axis), x.shape)


transpose.deflinear(reduce_sum_p, sum_transpose)


def extremum(name, *functions):
    """Return the primitive of NumPy functions that find an extremum."""
    def call(a, axis=None, out=None, keepdims=False, initial=None,
             where=True):
        if where is not True or initial is not None:
            return function_table[functions[0], 'where='](
                a, axis, keepdims, initial, where)
        a = asarray(a)
        return primitive.bind(a, axis=reduced_axes(a, axis),
                              keepdims=bool(keepdims))

    primitive = reduction(name, functions[0])
    for function in functions:
        implements(function)(call)
    jvp.defjvp(primitive, extremum_rule)
    return primitive


def extremum_rule(x_dot, y, x, axis, keepdims):
    sought = y if keepdims else np.expand_dims(y, axis)
    # NaN does not equal itself; if it is the extremum, all slopes are NaN.
    found = np.equal(x, sought) | np.isnan(sought)
    total = np.sum(np.where(found, x_dot, 0), axis, keepdims=keepdims)
    count = np.sum(found, axis, keepdims=keepdims)
    count = np.where(np.isnan(y), np.nan, count)
    return jvp.match(np.divide(total, convert(count, typeof(y).dtype)), y)


reduce_max_p = extremum('reduce_max', np.max, np.amax)
reduce_min_p = extremum('reduce_min', np.min, np.amin)


def axis_primitive(function, shape_rule, kind=Primitive):
    """Return the primitive of a function that runs along the axis `axis`."""
    primitive = kind(function.__name__, function)
    vmap.rules[primitive] = lambda batch, vals, dims, axis, **params: (
        primitive.bind(*vals, axis=axis + 1, **params), 0)
    abstract.defshape(primitive, shape_rule)
    return primitive


def without_axis(shape, axis):
    return (*shape[:axis], *shape[axis + 1:])


def arg_reduction(function):
    """Return the primitive of a function that finds an element's index."""
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
    jvp.defjvp(primitive)
    return primitive


argmax_p = arg_reduction(np.argmax)
argmin_p = arg_reduction(np.argmin)
