"""Element-wise functions and reductions that are composed of primitives.

Chapter 30.
"""

import math

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from autodiff_mini.core.types import convert
from autodiff_mini.numpy_functions.table import (
    asarray, composed_ufunc, implements)

composed_ufunc(np.positive)(lambda x: x)
composed_ufunc(np.isnan)(lambda x: x != x)


def count_of(a, axis, where=True, keepdims=False):
    """Return how many elements a reduction over `axis` combines."""
    if where is not True:
        return np.count_nonzero(np.broadcast_to(where, a.shape), axis,
                                keepdims=keepdims)
    axes = range(a.ndim) if axis is None else axis  # a number has no axis 0
    return math.prod(a.shape[i] for i in normalize_axis_tuple(axes, a.ndim))


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
