"""Element-wise functions: parts of numbers, rounding, and `np.piecewise`.

A property of the representation, such as an exponent or a neighbor, is not a
smooth function of the number.  Chapter 30.
"""

import math

import numpy as np

from autodiff_mini.core.memory import as_new_array
from autodiff_mini.core.trace import Tracer, elementwise
from autodiff_mini.core.types import convert, typeof
from autodiff_mini.interpreters.jvp import defjvp, match
from autodiff_mini.interpreters.transpose import deftranspose
from autodiff_mini.numpy_functions.table import (
    asarray, check_real, composed_ufunc, implements, inexact, operand,
    stand_in)
from autodiff_mini.primitives.elementwise import row, stop_gradient

gcd_p = row(np.gcd)
lcm_p = row(np.lcm)
bitwise_count_p = row(np.bitwise_count)
spacing_p = row(np.spacing)

# The neighbor of x has the derivative of x.  (JAX has no rule.)
nextafter_p = row(np.nextafter, lambda x_dot, z, x, y: match(x_dot, z), None)
ldexp_p = row(np.ldexp,
              lambda x_dot, z, x, i: match(np.ldexp(x_dot, i), z), None)
deftranspose(ldexp_p, lambda ct, x, i: np.ldexp(ct, i), None)

exponent_p = elementwise('exponent', lambda x: np.frexp(x)[1])
defjvp(exponent_p)


@composed_ufunc(np.frexp)
def numpy_frexp(x):
    exponent = exponent_p.bind(x)
    return np.ldexp(x, -exponent), exponent


@composed_ufunc(np.modf)
def numpy_modf(x):
    whole = np.trunc(x)
    rest = np.fmod(np.where(np.isinf(x), 0, x), 1)
    return np.where(np.isinf(x), np.copysign(0, whole), rest), whole


@composed_ufunc(np.fabs)
def numpy_fabs(x):
    return np.abs(x)


@implements(np.fix)
def numpy_fix(x, out=None):
    return np.trunc(x)


i0_p = elementwise('bessel_i0', np.i0)


@implements(np.i0, as_new_array)
def numpy_i0(x):
    x = inexact(x)
    if x.dtype.kind == 'c':
        raise TypeError('i0 not supported for complex values')
    return i0_p.bind(x)


def i0_rule(x_dot, y, x):
    """Multiply by I1(x), the mean of cos(t) sinh(x cos(t)) over t.

    For a periodic function the midpoint rule converges exponentially
    (Trefethen and Weideman 2014): 64 points are enough wherever I0 is finite.
    """
    t = (np.arange(64) + 0.5) * (math.pi / 128)
    cosines = convert(np.cos(t), typeof(x).dtype)
    slope = np.mean(cosines * np.sinh(x[..., None] * cosines), -1)
    return x_dot * slope


defjvp(i0_p, i0_rule)


@implements(np.piecewise, as_new_array)
def numpy_piecewise(x, condlist, funclist, *args, **kw):
    """Apply to each element the function of its piece.

    The functions must be element-wise, because each gets the whole array.
    """
    x = asarray(x)
    conditions = piecewise_conditions(x, condlist, len(funclist))
    y = np.zeros_like(x)
    for condition, function in zip(conditions, funclist):
        if callable(function):
            # Outside its piece it could give NaN, or a slope of 0 * inf.
            function = function(inside_piece(x, condition), *args, **kw)
        check_real(function, x.dtype)
        y = np.where(condition, convert(operand(function), x.dtype), y)
    return y


def piecewise_conditions(x, condlist, count):
    """Return the condition of each of `count` functions."""
    if is_one_condition(condlist, x):
        condlist = [condlist]
    conditions = [asarray(c, np.dtype(bool)) for c in condlist]
    if len(conditions) == count - 1:
        covered = conditions[0]
        for condition in conditions[1:]:
            covered = covered | condition
        return [*conditions, ~covered]
    if len(conditions) != count:
        n = len(conditions)
        raise ValueError(f'with {n} condition(s), either {n} or {n + 1} '
                         'functions are expected')
    return conditions


def is_one_condition(condition, x) -> bool:
    """Return whether it is one condition, not a list of conditions."""
    if not isinstance(condition, list | tuple) and np.ndim(condition) == 0:
        return True
    first = condition[0]
    return x.ndim > 0 and not isinstance(first, list) and np.ndim(first) == 0


def inside_piece(x, condition):
    """Return `x` with elements outside the piece replaced by one inside."""
    if not x.size:
        return x
    place = np.argmax(np.ravel(condition))
    other = stop_gradient(np.take(np.ravel(x), place))
    return np.where(condition, x, other)


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


@implements(np.sinc)
def numpy_sinc(x):
    y = asarray(x) * math.pi
    small = np.less(np.abs(y), 0.5)
    safe = np.where(small, 1, y)
    # The series has all derivatives at zero, but the quotient does not.
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


@implements(np.result_type)
def numpy_result_type(*arrays_and_dtypes):
    return np.result_type(*[stand_in(x) if isinstance(x, Tracer) else x
                            for x in arrays_and_dtypes])
