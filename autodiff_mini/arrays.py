"""Arrays: conversion to a dtype, and arrays of other libraries than NumPy.

Chapters 1 and 30.
"""

import numpy as np

from autodiff_mini.core import NUMBERS, Primitive, is_array, typeof
from autodiff_mini.memory import inside


def astype(x, *, dtype, weak_type):
    """Return `x` as an array of `dtype`, or as a Python number if weak."""
    if weak_type:
        return np.asarray(x, dtype).item()
    return x.astype(dtype) if hasattr(x, 'astype') else dtype.type(x)


astype_p = Primitive('astype', astype)


def convert(x, dtype, weak_type=False):
    """Return `x` with this dtype; weak means as a Python number."""
    aval = typeof(x)
    if aval.dtype == dtype and aval.weak_type == weak_type:
        return x
    return astype_p.bind(x, dtype=dtype, weak_type=weak_type)


def strong(x):
    """Return `x` as an array where it is, or stands for, a Python number."""
    return convert(x, typeof(x).dtype)


def full(like, shape, value, dtype):
    """Return an array of one value, in the library that `like` is of.

    While a program is staged, the library is not known.  Then it is NumPy.
    """
    like = inside(like)
    if not is_foreign(like):
        return np.full(shape, value, dtype)
    if shape == np.shape(like):     # with its chunks, if it has some
        return np.full_like(like, value, dtype=dtype)
    return np.full_like(like, value, dtype=dtype, shape=shape)


def is_foreign(x) -> bool:
    """Return whether `x` is an array of another library than NumPy."""
    return not isinstance(x, (np.ndarray, np.generic)) and is_array(x)


def foreign_one(xs):
    """Return the first array that is of another library, or None.

    It may be in a tracer; what is returned is the array.
    """
    for x in xs:
        if type(x) not in ORDINARY and is_foreign(inside(x)):
            return inside(x)
    return None


ORDINARY = {np.ndarray, *NUMBERS}   # most often it is one of these


def brought(x, like):
    """Return `x`, in the library of `like` if it is one number of NumPy's.

    It may have been broadcast.  If `like` is None, there is only NumPy.
    """
    if like is None or not isinstance(x, (np.ndarray, np.generic)):
        return x
    if x.dtype.kind not in 'fc' or x.size and any(x.strides):
        return x
    return full(like, x.shape, x.flat[0] if x.size else 0, x.dtype)


def argument_like(x, like):
    """Return an argument; an array of one number, in the library of `like`.

    A number itself stays what it is, but for a member of an IntEnum and the
    like: it has no methods of NumPy's.
    """
    if type(x) in NUMBERS:
        return x
    if isinstance(x, (int, float, complex)):
        return np.asarray(x)[()]
    return brought(x, like)


def constant_like(x, like):
    """Return a constant, in the library of `like` if it is of floats."""
    if like is None or not (isinstance(x, (np.ndarray, np.generic))
                            and x.dtype.kind in 'fc'):
        return x
    number = brought(x, like)
    if number is not x:
        return number
    if x.tobytes() == x.flat[0].tobytes() * x.size:     # one, all over
        return full(like, x.shape, x.flat[0], x.dtype)
    return np.asarray(x, like=like)


def own(y, xs):
    """Return a copy of a result of floats, unless it is an argument."""
    if is_foreign(y) and y.dtype.kind in 'fc' and not any(
            y is x for x in xs):
        return np.positive(y)   # is a copy, in any library
    return y
