"""Functions of each element that are made of primitives.

Chapter 25.
"""

import math

import numpy as np

from autodiff_mini.arrays import convert, strong
from autodiff_mini.core import Tracer, typeof
from autodiff_mini.memory import handed_array
from autodiff_mini.numpy_api import (
    asarray, composed_ufunc, implements, operand, promote)


@composed_ufunc(np.positive)
def numpy_positive(x):
    return x


@composed_ufunc(np.square)
def numpy_square(x):
    return x * x


@composed_ufunc(np.isnan)
def numpy_isnan(x):
    return x != x


@composed_ufunc(np.isinf)
def numpy_isinf(x):
    return ~(np.isfinite(x) | np.isnan(x))


@composed_ufunc(np.logical_not)
def numpy_logical_not(x):
    return x == 0


@composed_ufunc(np.logical_and)
def numpy_logical_and(x, y):
    return (x != 0) & (y != 0)


@composed_ufunc(np.logical_or)
def numpy_logical_or(x, y):
    return (x != 0) | (y != 0)


@composed_ufunc(np.logical_xor)
def numpy_logical_xor(x, y):
    return (x != 0) ^ (y != 0)


@composed_ufunc(np.divmod)
def numpy_divmod(x, y):
    return x // y, x % y


Tracer.__pos__ = lambda x: x if x.aval.weak_type else np.positive(x)
Tracer.__divmod__ = lambda x, y: (x // y, x % y)
Tracer.__rdivmod__ = lambda y, x: (x // y, x % y)


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


@implements(np.around)
@implements(np.round)
def numpy_round(a, decimals=0, out=None):
    a, scale = asarray(a), 10.0 ** abs(decimals)
    if a.dtype.kind in 'iu':
        return a if decimals >= 0 else convert(
            np.rint(a / scale) * scale, a.dtype)
    if decimals >= 0:
        return np.rint(a * scale) / scale if decimals else np.rint(a)
    return np.rint(a / scale) * scale


@implements(np.angle)
def numpy_angle(z, deg=False):
    z = asarray(z)
    angle = np.arctan2(np.imag(z) if z.dtype.kind == 'c' else 0, np.real(z))
    return angle * (180 / math.pi) if deg else angle


@implements(np.sinc)
def numpy_sinc(x):
    y = asarray(x) * math.pi
    small = np.less(np.abs(y), 0.5)
    safe = np.where(small, 1, y)
    # The series has all derivatives at zero, which the quotient has not.
    series, square = 1, y * y
    for k in range(20, 0, -2):
        series = 1 - series * square / (k * (k + 1))
    return np.where(small, series, np.sin(safe) / safe)


@implements(np.nan_to_num)
def numpy_nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    x = asarray(x)
    if x.dtype.kind in 'biu':
        return x
    if x.dtype.kind == 'c':
        parts = np.real(x), np.imag(x)
        real, imag = [np.nan_to_num(part, copy, nan, posinf, neginf)
                      for part in parts]
        return real + 1j * imag
    limits = np.finfo(x.dtype)
    posinf = limits.max if posinf is None else posinf
    neginf = limits.min if neginf is None else neginf
    y = np.where(np.isnan(x), x.dtype.type(nan), x)
    y = np.where(np.equal(x, np.inf), x.dtype.type(posinf), y)
    return np.where(np.equal(x, -np.inf), x.dtype.type(neginf), y)


@implements(np.isclose)
def numpy_isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    x, y = operand(a), operand(b)
    y = y * 1.0 if typeof(y).dtype.kind in 'biu' else y
    with np.errstate(invalid='ignore'):
        near = np.abs(np.subtract(x, y)) <= atol + rtol * np.abs(y)
        close = near & np.isfinite(y) | np.equal(x, y)
    return close | np.isnan(x) & np.isnan(y) if equal_nan else close


@implements(np.allclose)
def numpy_allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return np.all(np.isclose(a, b, rtol, atol, equal_nan))


@implements(np.select, handed_array)
def numpy_select(condlist, choicelist, default=0):
    if not 0 < len(condlist) == len(choicelist):
        raise ValueError(
            'list of cases must be same length as list of conditions')
    conditions = list(map(asarray, condlist))
    if any(condition.dtype != bool for condition in conditions):
        raise TypeError('invalid entry in condlist: should be boolean '
                        'ndarray')
    *choices, out = promote(*map(operand, [*choicelist, default]))
    for condition, choice in zip(conditions[::-1], choices[::-1]):
        out = np.where(condition, choice, out)
    return out
