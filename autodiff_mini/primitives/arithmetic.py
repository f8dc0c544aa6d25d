"""Arithmetic: operations on two numbers, and the sign of one.

Primitives that Python writes as an operator are implemented by that operator,
so that two Python numbers meet as Python numbers and NumPy's rules for dtypes
hold to the letter.  Chapters 1 and 2; most rows are in the appendix.
"""

import operator

import numpy as np

from autodiff_mini.arrays import convert
from autodiff_mini.core import PYTHON_NUMBERS, elementwise, typeof
from autodiff_mini.interpreters.jvp import (
    defjvp, deflinear, defzero, jvp_rules, match)
from autodiff_mini.interpreters.lowering import defwritten
from autodiff_mini.interpreters.transpose import deftranspose
from autodiff_mini.numpy_api import operator_ufunc, ufunc
from autodiff_mini.primitives.elementwise import ratio
from autodiff_mini.zeros import Zero

neg_p = elementwise('neg', operator.neg)
operator_ufunc(np.negative, neg_p, '__neg__')
deflinear(neg_p)
deftranspose(neg_p, lambda ct, x: -ct)
defwritten(neg_p, '-{}')

add_p = elementwise('add', operator.add)
operator_ufunc(np.add, add_p, '__add__', '__radd__')


def add_jvp(primals, tangents):
    z, (x_dot, y_dot) = add_p.bind(*primals), tangents
    if type(x_dot) is Zero:
        return z, match(y_dot, z)
    if type(y_dot) is Zero:
        return z, match(x_dot, z)
    return z, x_dot + y_dot


jvp_rules[add_p] = add_jvp
deftranspose(add_p, lambda ct, x, y: ct, lambda ct, x, y: ct)
defwritten(add_p, '{} + {}')

sub_p = elementwise('sub', operator.sub)
operator_ufunc(np.subtract, sub_p, '__sub__', '__rsub__')


def sub_jvp(primals, tangents):
    z, (x_dot, y_dot) = sub_p.bind(*primals), tangents
    if type(x_dot) is Zero:
        return z, match(-y_dot, z)
    if type(y_dot) is Zero:
        return z, match(x_dot, z)
    return z, x_dot - y_dot


jvp_rules[sub_p] = sub_jvp
deftranspose(sub_p, lambda ct, x, y: ct, lambda ct, x, y: -ct)
defwritten(sub_p, '{} - {}')

mul_p = elementwise('mul', operator.mul)
operator_ufunc(np.multiply, mul_p, '__mul__', '__rmul__')
defjvp(mul_p, lambda x_dot, z, x, y: x_dot * y,
              lambda y_dot, z, x, y: y_dot * x)
deftranspose(mul_p, lambda ct, x, y: ct * y, lambda ct, x, y: ct * x)
defwritten(mul_p, '{} * {}')

div_p = elementwise('div', operator.truediv)
operator_ufunc(np.divide, div_p, '__truediv__', '__rtruediv__')
defjvp(div_p, lambda x_dot, z, x, y: x_dot / y,
              lambda y_dot, z, x, y: y_dot * (-z / y))
deftranspose(div_p, lambda ct, x, y: ct / y, None)
defwritten(div_p, '{} / {}')

PRODUCTS = {    # a small power, as products of smaller ones
    2: [(1, 1)], 3: [(1, 1), (2, 1)], 4: [(1, 1), (2, 2)],
    5: [(1, 1), (2, 2), (4, 1)], 6: [(1, 1), (2, 1), (3, 3)],
    7: [(1, 1), (2, 1), (3, 3), (6, 1)], 8: [(1, 1), (2, 2), (4, 4)]}


def to_the_power(x, y):
    """Returns `x ** y`; of an array of floats a small power as products.

    That is a hundred times faster, and differs in the last digits.
    """
    if (type(y) is not int or y not in PRODUCTS or type(x) is not np.ndarray
            or x.shape == () or x.dtype.kind != 'f'):
        return x ** y
    powers = {1: x}
    for i, j in PRODUCTS[y]:
        powers[i + j] = powers[i] * powers[j]
    return powers[y]


pow_p = elementwise('pow', to_the_power)
operator_ufunc(np.power, pow_p, '__pow__', '__rpow__')


def pow_base(x_dot, z, x, y):
    if type(y) in PYTHON_NUMBERS and y == 0:
        return Zero(z)
    if type(y) in PYTHON_NUMBERS:
        slope = y * pow_p.bind(convert(x, typeof(z).dtype), y - 1)
    else:
        # 0**0 is a special case, because 0 * 0**-1 is no number.
        y = convert(y, typeof(z).dtype)
        safe = np.where(np.equal(x, 0), np.where(np.equal(y, 0), 1, y), y)
        slope = y * np.power(x, safe - 1)
    return match(x_dot * slope, z)


def pow_exponent(y_dot, z, x, y):
    x = convert(np.where(np.equal(x, 0), 1, x), typeof(z).dtype)
    return match(y_dot * z * np.log(x), z)


defjvp(pow_p, pow_base, pow_exponent)

float_power_p = elementwise('float_power', np.float_power)
ufunc(np.float_power, float_power_p)
defjvp(float_power_p, pow_base, pow_exponent)

max_p = elementwise('max', np.maximum)
ufunc(np.maximum, max_p)


def chosen(x_dot, z, x, y):
    """Returns `x_dot` where `z` is `x`, half of it where `y` is so too."""
    share = np.where(np.equal(x, y), 0.5 * x_dot, x_dot)
    return match(np.where(np.equal(x, z), share, 0), z)


defjvp(max_p, chosen, lambda y_dot, z, x, y: chosen(y_dot, z, y, x))

min_p = elementwise('min', np.minimum)
ufunc(np.minimum, min_p)
defjvp(min_p, chosen, lambda y_dot, z, x, y: chosen(y_dot, z, y, x))

fmax_p = elementwise('fmax', np.fmax)
ufunc(np.fmax, fmax_p)
defjvp(fmax_p, chosen, lambda y_dot, z, x, y: chosen(y_dot, z, y, x))

fmin_p = elementwise('fmin', np.fmin)
ufunc(np.fmin, fmin_p)
defjvp(fmin_p, chosen, lambda y_dot, z, x, y: chosen(y_dot, z, y, x))

copysign_p = elementwise('copysign', np.copysign)
ufunc(np.copysign, copysign_p)


def copysign_rule(x_dot, z, x, y):
    same = np.equal(np.signbit(x), np.signbit(y))
    return match(np.where(same, x_dot, -x_dot), z)


defjvp(copysign_p, copysign_rule, None)

floor_divide_p = elementwise('floor_divide', operator.floordiv)
operator_ufunc(np.floor_divide, floor_divide_p,
               '__floordiv__', '__rfloordiv__')
defzero(floor_divide_p)
defwritten(floor_divide_p, '{} // {}')

remainder_p = elementwise('remainder', operator.mod)
operator_ufunc(np.remainder, remainder_p, '__mod__', '__rmod__')
defjvp(remainder_p,
       lambda x_dot, z, x, y: match(x_dot, z),
       lambda y_dot, z, x, y: match(y_dot * -np.floor_divide(x, y), z))
defwritten(remainder_p, '{} % {}')

fmod_p = elementwise('fmod', np.fmod)
ufunc(np.fmod, fmod_p)
defjvp(fmod_p,
       lambda x_dot, z, x, y: match(x_dot, z),
       lambda y_dot, z, x, y: match(y_dot * -np.rint((x - z) / y), z))

arctan2_p = elementwise('arctan2', np.arctan2)
ufunc(np.arctan2, arctan2_p)
defjvp(arctan2_p,
       lambda y_dot, z, y, x: match(y_dot * (
           cosine(x, y, np.hypot(y, x)) / np.hypot(y, x)), z),
       lambda x_dot, z, y, x: match(x_dot * (
           -cosine(y, x, np.hypot(y, x)) / np.hypot(y, x)), z))

hypot_p = elementwise('hypot', np.hypot)
ufunc(np.hypot, hypot_p)
defjvp(hypot_p, lambda x_dot, z, x, y: x_dot * cosine(x, y, z),
                lambda y_dot, z, x, y: y_dot * cosine(y, x, z))


def cosine(x, y, z):
    """Returns `x / z`, where `z` is the length of `(x, y)`."""
    x = convert(x, typeof(z).dtype)
    alone = np.isfinite(y) & ~np.isfinite(x)    # x / z would be inf / inf
    return ratio(np.where(alone, np.sign(x), x), np.where(alone, 1, z))


def above(x, y, z):
    """Returns `y - x`, and 0 where both are the same infinity."""
    x, y = convert(x, typeof(z).dtype), convert(y, typeof(z).dtype)
    same = np.equal(x, y) & ~np.isfinite(x)
    return np.where(same, 0, y) - np.where(same, 0, x)


# The logarithm of a slope is x - z.  Beside large numbers it would be lost.
logaddexp_p = elementwise('logaddexp', np.logaddexp)
ufunc(np.logaddexp, logaddexp_p)
defjvp(logaddexp_p,
       lambda x_dot, z, x, y: x_dot * np.exp(
           -np.logaddexp(0, above(x, y, z))),
       lambda y_dot, z, x, y: y_dot * np.exp(
           -np.logaddexp(0, above(y, x, z))))

logaddexp2_p = elementwise('logaddexp2', np.logaddexp2)
ufunc(np.logaddexp2, logaddexp2_p)
defjvp(logaddexp2_p,
       lambda x_dot, z, x, y: x_dot * np.exp2(
           -np.logaddexp2(0, above(x, y, z))),
       lambda y_dot, z, x, y: y_dot * np.exp2(
           -np.logaddexp2(0, above(y, x, z))))

heaviside_p = elementwise('heaviside', np.heaviside)
ufunc(np.heaviside, heaviside_p)
defjvp(heaviside_p, None,
       lambda y_dot, z, x, y: match(np.where(np.equal(x, 0), y_dot, 0), z))
