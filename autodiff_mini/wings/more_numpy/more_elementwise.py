"""Element-wise rows that no chapter needs, written like the core's.

Chapter 30.
"""

import numpy as np

from autodiff_mini.core.types import convert, typeof
from autodiff_mini.interpreters.jvp import match
from autodiff_mini.interpreters.transpose import deflinear
from autodiff_mini.numpy_functions.table import ufunc
from autodiff_mini.primitives.elementwise import chosen_by, ratio, row

LOG_2 = float(np.log(2))    # Python floats, which widen no dtype
LOG_10 = float(np.log(10))

# Functions of one number.
tan_p = row(np.tan, lambda x_dot, y, x: x_dot * (1 + y * y))
sinh_p = row(np.sinh, lambda x_dot, y, x: x_dot * np.cosh(x))
cosh_p = row(np.cosh, lambda x_dot, y, x: x_dot * np.sinh(x))
arctan_p = row(np.arctan, lambda x_dot, y, x: np.divide(x_dot, 1 + x * x))
expm1_p = row(np.expm1, lambda x_dot, y, x: x_dot * np.exp(x))
exp2_p = row(np.exp2, lambda x_dot, y, x: x_dot * (LOG_2 * y))
log2_p = row(np.log2, lambda x_dot, y, x: np.divide(x_dot, LOG_2 * x))
log10_p = row(np.log10, lambda x_dot, y, x: np.divide(x_dot, LOG_10 * x))
cbrt_p = row(np.cbrt, lambda x_dot, y, x: x_dot / (3 * y * y))
reciprocal_p = row(np.reciprocal, lambda x_dot, y, x: x_dot * (-y * y))
arctanh_p = row(np.arctanh,
                lambda x_dot, y, x: np.divide(x_dot, (1 - x) * (1 + x)))
ceil_p = row(np.ceil)
rint_p = row(np.rint)
trunc_p = row(np.trunc)
signbit_p = row(np.signbit)


def sine(x):
    """Return the sine of `arccos(x)`, and the cosine of `arcsin(x)`."""
    if typeof(x).dtype.kind != 'c':
        return np.sqrt((1 - x) * (1 + x))
    # 0j and -0j are on different sides of the cut, and 1 - x has 0j for both.
    return np.sqrt(-((x - 1) * (x - -1)))


arcsin_p = row(np.arcsin, lambda x_dot, y, x: x_dot / sine(x))
arccos_p = row(np.arccos, lambda x_dot, y, x: -x_dot / sine(x))


def arcsinh_rule(x_dot, y, x):
    is_complex = typeof(x).dtype.kind == 'c'    # y has the side of the cut
    return x_dot / (np.cosh(y) if is_complex else np.hypot(x, 1))


def arccosh_rule(x_dot, y, x):
    is_complex = typeof(x).dtype.kind == 'c'
    return x_dot / (np.sinh(y) if is_complex
                    else np.sqrt(x - 1) * np.sqrt(x + 1))


arcsinh_p = row(np.arcsinh, arcsinh_rule)
arccosh_p = row(np.arccosh, arccosh_rule)

def scaling_row(function, other):
    """Return the primitive of two ufuncs that convert units of an angle."""
    primitive = row(function)
    ufunc(other, primitive)
    deflinear(primitive, lambda ct, x: primitive.bind(ct))
    return primitive


deg2rad_p = scaling_row(np.deg2rad, np.radians)
rad2deg_p = scaling_row(np.rad2deg, np.degrees)


# Functions of two numbers.
def cosine(x, y, z):
    """Return `x / z`, where `z` is the length of `(x, y)`."""
    x = convert(x, typeof(z).dtype)
    alone = np.isfinite(y) & ~np.isfinite(x)    # x / z would be inf / inf
    return ratio(np.where(alone, np.sign(x), x), np.where(alone, 1, z))


hypot_p = row(np.hypot, lambda x_dot, z, x, y: x_dot * cosine(x, y, z),
                        lambda y_dot, z, x, y: y_dot * cosine(y, x, z))


def above(x, y, z):
    """Return `y - x`, and 0 where both are the same infinity."""
    x, y = convert(x, typeof(z).dtype), convert(y, typeof(z).dtype)
    same = np.equal(x, y) & ~np.isfinite(x)
    return np.where(same, 0, y) - np.where(same, 0, x)


# The logarithm of a slope is x - z, which large numbers would cancel.
logaddexp_p = row(
    np.logaddexp,
    lambda x_dot, z, x, y: x_dot * np.exp(-np.logaddexp(0, above(x, y, z))),
    lambda y_dot, z, x, y: y_dot * np.exp(-np.logaddexp(0, above(y, x, z))))
fmax_p = row(np.fmax, *chosen_by(lambda x, y: np.equal(x, np.fmax(x, y))))
fmin_p = row(np.fmin, *chosen_by(lambda x, y: np.equal(x, np.fmin(x, y))))
fmod_p = row(
    np.fmod,
    lambda x_dot, z, x, y: match(x_dot, z),
    lambda y_dot, z, x, y: match(y_dot * -np.rint((x - z) / y), z))
arctan2_p = row(
    np.arctan2,
    lambda y_dot, z, y, x: match(y_dot * (
        cosine(x, y, np.hypot(y, x)) / np.hypot(y, x)), z),
    lambda x_dot, z, y, x: match(x_dot * (
        -cosine(y, x, np.hypot(y, x)) / np.hypot(y, x)), z))
logaddexp2_p = row(
    np.logaddexp2,
    lambda x_dot, z, x, y: x_dot * np.exp2(
        -np.logaddexp2(0, above(x, y, z))),
    lambda y_dot, z, x, y: y_dot * np.exp2(
        -np.logaddexp2(0, above(y, x, z))))
heaviside_p = row(
    np.heaviside, None,
    lambda y_dot, z, x, y: match(np.where(np.equal(x, 0), y_dot, 0), z))


def copysign_rule(x_dot, z, x, y):
    same = np.equal(np.signbit(x), np.signbit(y))
    return match(np.where(same, x_dot, -x_dot), z)


copysign_p = row(np.copysign, copysign_rule, None)
