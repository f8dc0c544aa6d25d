"""Functions that are made of primitives, of each element and of them all.

Chapter 25.
"""

import math

import numpy as np

from autodiff_mini.arrays import convert, strong
from autodiff_mini.numpy_api import (
    asarray, composed_ufunc, implements, operand, reduced_axes)

composed_ufunc(np.positive)(lambda x: x)
composed_ufunc(np.square)(lambda x: x * x)
composed_ufunc(np.isnan)(lambda x: x != x)
composed_ufunc(np.isinf)(lambda x: ~(np.isfinite(x) | np.isnan(x)))
composed_ufunc(np.logical_not)(lambda x: x == 0)
composed_ufunc(np.logical_and)(lambda x, y: (x != 0) & (y != 0))
composed_ufunc(np.logical_or)(lambda x, y: (x != 0) | (y != 0))
composed_ufunc(np.logical_xor)(lambda x, y: (x != 0) ^ (y != 0))
composed_ufunc(np.divmod)(lambda x, y: (x // y, x % y))


@implements(np.clip)
def numpy_clip(a, a_min=None, a_max=None, out=None, *, min=None, max=None):
    a = strong(operand(a))
    low, high = [x if x is None else operand(x) for x in (
        min if a_min is None else a_min, max if a_max is None else a_max)]
    if a.dtype.kind in 'iu':   # NumPy lets a Python int exceed the dtype
        limits = np.iinfo(a.dtype)
        low = None if type(low) is int and low <= limits.min else low
        high = None if type(high) is int and high >= limits.max else high
    a = a if low is None else np.maximum(a, low)
    return a if high is None else np.minimum(a, high)


def count_of(a, axis, where=True, keepdims=False):
    """Return how many elements a reduction over `axis` makes into one."""
    if where is not True:
        return np.count_nonzero(np.broadcast_to(where, a.shape), axis,
                                keepdims=keepdims)
    return math.prod(a.shape[i] for i in reduced_axes(a, axis))


@implements(np.mean)
def numpy_mean(a, axis=None, dtype=None, out=None, keepdims=False, *,
               where=True):
    a, wide = asarray(a), dtype
    if dtype is None:
        dtype = a.dtype if a.dtype.kind in 'fc' else np.float64
        wide = np.result_type(dtype, np.float32)    # for float16
    total = np.sum(a, axis, wide, keepdims=keepdims, where=where)
    return convert(np.divide(total, count_of(a, axis, where, keepdims)),
                   np.dtype(dtype))


@implements(np.any)
def numpy_any(a, axis=None, out=None, keepdims=False, *, where=True):
    return np.sum(np.not_equal(a, 0), axis, np.intp, keepdims=keepdims,
                  where=where) > 0


@implements(np.all)
def numpy_all(a, axis=None, out=None, keepdims=False, *, where=True):
    return np.sum(np.equal(a, 0), axis, np.intp, keepdims=keepdims,
                  where=where) == 0


@implements(np.dot)
def numpy_dot(a, b, out=None):
    a, b = asarray(a), asarray(b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    if a.ndim > 1 and b.ndim > 2:
        return np.tensordot(a, b, (-1, -2))
    return a @ b
