"""New arrays, like another array or with given values.

Chapter 30.
"""

import numpy as np

from autodiff_mini.core import seams
from autodiff_mini.core.memory import writable_result
from autodiff_mini.core.trace import Tracer
from autodiff_mini.core.types import convert, full, typeof
from autodiff_mini.numpy_functions.table import as_is, asarray, implements


@implements(np.full_like, writable_result)
def numpy_full_like(a, fill_value, dtype=None, order='K', subok=True,
                    shape=None, *, device=None):
    shape = np.shape(a) if shape is None else shape
    dtype = typeof(a).dtype if dtype is None else np.dtype(dtype)
    if isinstance(fill_value, Tracer):
        return np.broadcast_to(convert(fill_value, dtype), shape)
    return full(a, shape, fill_value, dtype)


@implements(np.zeros_like, as_is)
def numpy_zeros_like(a, *args, **kwargs):
    return np.full_like(a, 0, *args, **kwargs)


@implements(np.ones_like, as_is)
def numpy_ones_like(a, *args, **kwargs):
    return np.full_like(a, 1, *args, **kwargs)


implements(np.empty_like, as_is)(numpy_zeros_like)


@implements(np.copy, writable_result)
def numpy_copy(a, order='K', subok=False):
    return asarray(a)


# `np.zeros(3, like=x)` asks the library of `x` (NEP 35).
@implements(np.full, writable_result)
def numpy_full(shape, fill_value, dtype=None, order='C', *, device=None):
    if isinstance(fill_value, Tracer):
        return np.full_like(fill_value, fill_value, dtype, shape=shape)
    return np.full(shape, fill_value, dtype)


@implements(np.array, writable_result)
def numpy_array(object, dtype=None, *, copy=True, order='K', subok=False,
                ndmin=0, ndmax=0):
    a = asarray(object, dtype)
    a = a if isinstance(a, Tracer) else np.array(a)
    if ndmin > a.ndim:
        a = np.reshape(a, (*[1] * (ndmin - a.ndim), *a.shape))
    return a


@implements(np.asarray, as_is)
def numpy_asarray(a, dtype=None, order=None, *, device=None, copy=None):
    a = asarray(a, dtype)
    if copy or isinstance(a, Tracer) and seams.is_a_number.run(a):
        return np.copy(a)
    return a


NEW = (np.zeros, np.ones, np.empty, np.arange, np.eye, np.tri, np.identity)
for function in NEW:
    implements(function, writable_result)(function)
