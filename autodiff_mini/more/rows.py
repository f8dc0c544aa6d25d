"""Element-wise rows that no chapter needs, written as those of the core are.

Chapter 25.
"""

import numpy as np

from autodiff_mini.core import elementwise, typeof
from autodiff_mini.interpreters.jvp import match
from autodiff_mini.interpreters.transpose import deflinear
from autodiff_mini.numpy_api import ufunc
from autodiff_mini.primitives.elementwise import (
    above, chosen, chosen_last, cosine, row)

LOG_2 = float(np.log(2))    # Python's, so that they widen no dtype
LOG_10 = float(np.log(10))

# Functions of one number.
exp2_p = row(np.exp2, lambda x_dot, y, x: x_dot * (LOG_2 * y))
log2_p = row(np.log2, lambda x_dot, y, x: np.divide(x_dot, LOG_2 * x))
log10_p = row(np.log10, lambda x_dot, y, x: np.divide(x_dot, LOG_10 * x))
cbrt_p = row(np.cbrt, lambda x_dot, y, x: x_dot / (3 * y * y))
reciprocal_p = row(np.reciprocal, lambda x_dot, y, x: x_dot * (-y * y))
arccos_p = row(np.arccos,
               lambda x_dot, y, x: -x_dot / np.sqrt((1 - x) * (1 + x)))
arctanh_p = row(np.arctanh,
                lambda x_dot, y, x: np.divide(x_dot, (1 - x) * (1 + x)))


def arcsinh_rule(x_dot, y, x):
    is_complex = typeof(x).dtype.kind == 'c'    # y knows the side of a cut
    return x_dot / (np.cosh(y) if is_complex else np.hypot(x, 1))


def arccosh_rule(x_dot, y, x):
    is_complex = typeof(x).dtype.kind == 'c'
    return x_dot / (np.sinh(y) if is_complex
                    else np.sqrt(x - 1) * np.sqrt(x + 1))


arcsinh_p = row(np.arcsinh, arcsinh_rule)
arccosh_p = row(np.arccosh, arccosh_rule)

deg2rad_p = elementwise('deg2rad', np.deg2rad)
ufunc(np.deg2rad, deg2rad_p)
ufunc(np.radians, deg2rad_p)
deflinear(deg2rad_p, lambda ct, x: np.deg2rad(ct))

rad2deg_p = elementwise('rad2deg', np.rad2deg)
ufunc(np.rad2deg, rad2deg_p)
ufunc(np.degrees, rad2deg_p)
deflinear(rad2deg_p, lambda ct, x: np.rad2deg(ct))

# Functions of two numbers.
fmax_p = row(np.fmax, chosen, chosen_last)
fmin_p = row(np.fmin, chosen, chosen_last)
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
