"""The most used functions that are composed of primitives.

Chapter 30.
"""

import numpy as np

from autodiff_mini.core.types import strong
from autodiff_mini.numpy_functions.table import (
    as_read_only_view, asarray, composed_ufunc, implements, operand)

composed_ufunc(np.isinf)(lambda x: ~(np.isfinite(x) | np.isnan(x)))
composed_ufunc(np.square)(lambda x: x * x)
composed_ufunc(np.logical_not)(lambda x: x == 0)
composed_ufunc(np.logical_and)(lambda x, y: (x != 0) & (y != 0))
composed_ufunc(np.logical_or)(lambda x, y: (x != 0) | (y != 0))
composed_ufunc(np.logical_xor)(lambda x, y: (x != 0) ^ (y != 0))
composed_ufunc(np.divmod)(lambda x, y: (x // y, x % y))


GIVEN_BY_NAME = object()    # a bound is `min=` or `max=`, or there is none


@implements(np.clip)
def numpy_clip(a, a_min=GIVEN_BY_NAME, a_max=GIVEN_BY_NAME, out=None, *,
               min=None, max=None):
    if (a_min is GIVEN_BY_NAME) != (a_max is GIVEN_BY_NAME):
        name = 'a_min' if a_min is GIVEN_BY_NAME else 'a_max'
        raise TypeError('clip() missing 1 required positional argument: '
                        f'{name!r}')
    if a_min is not GIVEN_BY_NAME and (min is not None or max is not None):
        raise ValueError('Passing `min` or `max` keyword argument when '
                         '`a_min` and `a_max` are provided is forbidden.')
    a = strong(operand(a))
    bounds = (min, max) if a_min is GIVEN_BY_NAME else (a_min, a_max)
    low, high = [x if x is None else operand(x) for x in bounds]
    if a.dtype.kind in 'iu':   # NumPy lets a Python int exceed the dtype
        limits = np.iinfo(a.dtype)
        low = None if type(low) is int and low <= limits.min else low
        high = None if type(high) is int and high >= limits.max else high
    a = a if low is None else np.maximum(a, low)
    return a if high is None else np.minimum(a, high)


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


@implements(np.diagonal, as_read_only_view)
def numpy_diagonal(a, offset=0, axis1=0, axis2=1):
    a = np.moveaxis(a, (axis1, axis2), (-2, -1))
    rows, columns = a.shape[-2:]
    above, below = max(offset, 0), max(-offset, 0)
    i = np.arange(max(min(rows - below, columns - above), 0))
    return a[..., i + below, i + above]


@implements(np.trace)
def numpy_trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    return np.sum(np.diagonal(a, offset, axis1, axis2), -1, dtype)
