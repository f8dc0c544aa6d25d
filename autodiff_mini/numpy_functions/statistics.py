"""Means, counts, and what is asked of all elements.

Appendix A.
"""

import math

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from autodiff_mini.arrays import convert
from autodiff_mini.errors import refuse
from autodiff_mini.numpy_api import asarray, implements


def count_of(a, axis):
    """Returns how many elements a reduction over `axis` makes into one."""
    axes = range(a.ndim) if axis is None else axis
    return math.prod(a.shape[i] for i in normalize_axis_tuple(axes, a.ndim))


@implements(np.mean)
def numpy_mean(a, axis=None, dtype=None, out=None, keepdims=False, *,
               where=None):
    refuse(np.mean, out=out, where=where)
    a = asarray(a)
    if dtype is None:
        dtype = a.dtype if a.dtype.kind in 'fc' else np.float64
        wide = np.float32 if dtype == np.float16 else dtype
    else:
        wide = dtype
    total = np.sum(a, axis, wide, keepdims=keepdims)
    return convert(np.divide(total, count_of(a, axis)), np.dtype(dtype))


@implements(np.var)
def numpy_var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *,
              where=None, mean=None, correction=None):
    refuse(np.var, out=out, where=where, mean=mean)
    a, count = asarray(a), count_of(a, axis)
    if dtype is None and a.dtype.kind in 'biu':
        dtype = np.float64
    total = np.sum(a, axis, dtype, keepdims=True)
    error = a - convert(np.divide(total, count), total.dtype)
    squares = np.square(np.real(error))
    if error.dtype.kind == 'c':
        squares = squares + np.square(np.imag(error))
    total = np.sum(squares, axis, dtype, keepdims=keepdims)
    free = max(count - (ddof if correction is None else correction), 0)
    return convert(np.divide(total, free), total.dtype)


@implements(np.std)
def numpy_std(a, *args, **kwargs):
    return np.sqrt(np.var(a, *args, **kwargs))


@implements(np.average)
def numpy_average(a, axis=None, weights=None, returned=False, *,
                  keepdims=False):
    refuse(np.average, returned=returned or None)
    if weights is None:
        return np.mean(a, axis, keepdims=keepdims)
    a, weights = asarray(a), asarray(weights)
    if weights.shape != a.shape:
        if axis is None:
            raise TypeError('Axis must be specified when shapes of a and '
                            'weights differ.')
        axes = normalize_axis_tuple(axis, a.ndim)
        shape = [a.shape[i] if i in axes else 1 for i in range(a.ndim)]
        weights = np.transpose(weights, np.argsort(axes)).reshape(shape)
        weights = np.broadcast_to(weights, a.shape)
    dtype = np.result_type(a.dtype, weights.dtype,
                           a.dtype if a.dtype.kind in 'fc' else np.float64)
    total = np.sum(weights, axis, dtype, keepdims=keepdims)
    return np.sum(convert(a, dtype) * convert(weights, dtype), axis,
                  keepdims=keepdims) / total


@implements(np.count_nonzero)
def numpy_count_nonzero(a, axis=None, *, keepdims=False):
    return np.sum(np.not_equal(a, 0), axis, np.intp, keepdims=keepdims)


@implements(np.any)
def numpy_any(a, axis=None, out=None, keepdims=False, *, where=None):
    refuse(np.any, out=out, where=where)
    return np.count_nonzero(a, axis, keepdims=keepdims) > 0


@implements(np.all)
def numpy_all(a, axis=None, out=None, keepdims=False, *, where=None):
    refuse(np.all, out=out, where=where)
    return np.count_nonzero(np.equal(a, 0), axis, keepdims=keepdims) == 0
