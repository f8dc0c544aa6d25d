"""Functions of one number, applied to each element of an array.

A row is one place: the primitive, the function of NumPy's that it stands for,
and its rules, in the order of the columns.  What holds for all that works
element by element is said once, in the columns `vmap` and `abstract`.
Chapters 1 and 2; most rows are in the appendix.
"""

import operator

import numpy as np

from autodiff_mini.arrays import convert, full
from autodiff_mini.core import Primitive, Tracer, elementwise, typeof
from autodiff_mini.interpreters.abstract import abstract_rules
from autodiff_mini.interpreters.jvp import (
    defjvp, deflinear, defzero, jvp_rules, match)
from autodiff_mini.interpreters.lowering import defwritten
from autodiff_mini.interpreters.transpose import deftranspose
from autodiff_mini.interpreters.vmap import defelementwise
from autodiff_mini.memory import ONLY_SEEN, is_a_number, own_memory, view_of
from autodiff_mini.numpy_api import (
    implements, operand, operator_ufunc, seen, ufunc, unchanged)
from autodiff_mini.pytree import tree_map
from autodiff_mini.zeros import Zero

sin_p = elementwise('sin', np.sin)
ufunc(np.sin, sin_p)
defjvp(sin_p, lambda x_dot, y, x: x_dot * np.cos(x))

cos_p = elementwise('cos', np.cos)
ufunc(np.cos, cos_p)
defjvp(cos_p, lambda x_dot, y, x: x_dot * -np.sin(x))

tanh_p = elementwise('tanh', np.tanh)
ufunc(np.tanh, tanh_p)
defjvp(tanh_p, lambda x_dot, y, x: x_dot * (1 - y * y))

exp_p = elementwise('exp', np.exp)
ufunc(np.exp, exp_p)
defjvp(exp_p, lambda x_dot, y, x: x_dot * y)

log_p = elementwise('log', np.log)
ufunc(np.log, log_p)
defjvp(log_p, lambda x_dot, y, x: np.divide(x_dot, x))

sqrt_p = elementwise('sqrt', np.sqrt)
ufunc(np.sqrt, sqrt_p)
defjvp(sqrt_p, lambda x_dot, y, x: x_dot * (0.5 / y))

LOG_2 = float(np.log(2))    # Python's, so that they widen no dtype
LOG_10 = float(np.log(10))

exp2_p = elementwise('exp2', np.exp2)
ufunc(np.exp2, exp2_p)
defjvp(exp2_p, lambda x_dot, y, x: x_dot * (LOG_2 * y))

expm1_p = elementwise('expm1', np.expm1)
ufunc(np.expm1, expm1_p)
defjvp(expm1_p, lambda x_dot, y, x: x_dot * np.exp(x))

log2_p = elementwise('log2', np.log2)
ufunc(np.log2, log2_p)
defjvp(log2_p, lambda x_dot, y, x: np.divide(x_dot, LOG_2 * x))

log10_p = elementwise('log10', np.log10)
ufunc(np.log10, log10_p)
defjvp(log10_p, lambda x_dot, y, x: np.divide(x_dot, LOG_10 * x))

log1p_p = elementwise('log1p', np.log1p)
ufunc(np.log1p, log1p_p)
defjvp(log1p_p, lambda x_dot, y, x: np.divide(x_dot, 1 + x))

cbrt_p = elementwise('cbrt', np.cbrt)
ufunc(np.cbrt, cbrt_p)
defjvp(cbrt_p, lambda x_dot, y, x: x_dot / (3 * y * y))

reciprocal_p = elementwise('reciprocal', np.reciprocal)
ufunc(np.reciprocal, reciprocal_p)
defjvp(reciprocal_p, lambda x_dot, y, x: x_dot * (-y * y))

tan_p = elementwise('tan', np.tan)
ufunc(np.tan, tan_p)
defjvp(tan_p, lambda x_dot, y, x: x_dot * (1 + y * y))

arcsin_p = elementwise('arcsin', np.arcsin)
ufunc(np.arcsin, arcsin_p)
defjvp(arcsin_p, lambda x_dot, y, x: x_dot / np.sqrt((1 - x) * (1 + x)))

arccos_p = elementwise('arccos', np.arccos)
ufunc(np.arccos, arccos_p)
defjvp(arccos_p, lambda x_dot, y, x: -x_dot / np.sqrt((1 - x) * (1 + x)))

arctan_p = elementwise('arctan', np.arctan)
ufunc(np.arctan, arctan_p)
defjvp(arctan_p, lambda x_dot, y, x: np.divide(x_dot, 1 + x * x))

sinh_p = elementwise('sinh', np.sinh)
ufunc(np.sinh, sinh_p)
defjvp(sinh_p, lambda x_dot, y, x: x_dot * np.cosh(x))

cosh_p = elementwise('cosh', np.cosh)
ufunc(np.cosh, cosh_p)
defjvp(cosh_p, lambda x_dot, y, x: x_dot * np.sinh(x))

arcsinh_p = elementwise('arcsinh', np.arcsinh)
ufunc(np.arcsinh, arcsinh_p)


def arcsinh_rule(x_dot, y, x):
    is_complex = typeof(x).dtype.kind == 'c'    # y knows the side of a cut
    return x_dot / (np.cosh(y) if is_complex else np.hypot(x, 1))


defjvp(arcsinh_p, arcsinh_rule)

arccosh_p = elementwise('arccosh', np.arccosh)
ufunc(np.arccosh, arccosh_p)


def arccosh_rule(x_dot, y, x):
    is_complex = typeof(x).dtype.kind == 'c'
    return x_dot / (np.sinh(y) if is_complex
                    else np.sqrt(x - 1) * np.sqrt(x + 1))


defjvp(arccosh_p, arccosh_rule)

arctanh_p = elementwise('arctanh', np.arctanh)
ufunc(np.arctanh, arctanh_p)
defjvp(arctanh_p, lambda x_dot, y, x: np.divide(x_dot, (1 - x) * (1 + x)))

deg2rad_p = elementwise('deg2rad', np.deg2rad)
ufunc(np.deg2rad, deg2rad_p)
ufunc(np.radians, deg2rad_p)
deflinear(deg2rad_p)
deftranspose(deg2rad_p, lambda ct, x: np.deg2rad(ct))

rad2deg_p = elementwise('rad2deg', np.rad2deg)
ufunc(np.rad2deg, rad2deg_p)
ufunc(np.degrees, rad2deg_p)
deflinear(rad2deg_p)
deftranspose(rad2deg_p, lambda ct, x: np.rad2deg(ct))

abs_p = elementwise('abs', operator.abs)
operator_ufunc(np.absolute, abs_p, '__abs__')


def abs_rule(x_dot, y, x):
    return match(np.real(x_dot * np.conj(np.sign(x))), y)


defjvp(abs_p, abs_rule)
defwritten(abs_p, 'abs({})')

sign_p = elementwise('sign', np.sign)
ufunc(np.sign, sign_p)


def sign_rule(x_dot, y, x):
    if typeof(x).dtype.kind != 'c':
        return Zero(y)
    across = x_dot - np.real(x_dot * np.conj(y)) * y
    return ratio(across, np.abs(x))


def ratio(x, z):
    """Returns `x / z`, and 0 where `z` is 0."""
    is_zero = np.equal(z, 0)
    return np.where(is_zero, 0, np.divide(x, np.where(is_zero, 1, z)))


defjvp(sign_p, sign_rule)

# The root of a sum of squares is a cone: it has no slope at its tip, and 0 is
# what stands there, as for abs.
length_p = elementwise('length', np.sqrt)
defjvp(length_p, lambda x_dot, y, x: x_dot * ratio(0.5, y))

floor_p = elementwise('floor', np.floor)
ufunc(np.floor, floor_p)
defzero(floor_p)

ceil_p = elementwise('ceil', np.ceil)
ufunc(np.ceil, ceil_p)
defzero(ceil_p)

rint_p = elementwise('rint', np.rint)
ufunc(np.rint, rint_p)
defzero(rint_p)

trunc_p = elementwise('trunc', np.trunc)
ufunc(np.trunc, trunc_p)
defzero(trunc_p)

isfinite_p = elementwise('isfinite', np.isfinite)
ufunc(np.isfinite, isfinite_p)
defzero(isfinite_p)

signbit_p = elementwise('signbit', np.signbit)
ufunc(np.signbit, signbit_p)
defzero(signbit_p)

conj_p = elementwise('conj', np.conjugate)
ufunc(np.conjugate, conj_p)
deflinear(conj_p)
deftranspose(conj_p, lambda ct, x: np.conj(ct))

real_p = elementwise('real', np.real)


@implements(np.real, seen)
def numpy_real(val):
    val = operand(val)
    return real_p.bind(val) if typeof(val).dtype.kind == 'c' else val


deflinear(real_p)
deftranspose(real_p, lambda ct, x: ct)

imag_p = elementwise('imag', np.imag)


@implements(np.imag, unchanged)
def numpy_imag(val):
    val = operand(val)
    aval = typeof(val)
    if aval.dtype.kind == 'c':
        return view_of(val, imag_p.bind(val))
    zero = full(val, aval.shape, 0, aval.dtype)[()]
    zero = convert(zero, aval.dtype, aval.weak_type)
    return zero if is_a_number(val) else view_of(val, zero, why=ONLY_SEEN)


deflinear(imag_p)
deftranspose(imag_p, lambda ct, x: -1j * ct)

stop_gradient_p = Primitive('stop_gradient', lambda x: x)
jvp_rules[stop_gradient_p] = lambda primals, tangents: (
    stop_gradient_p.bind(*primals), Zero(*primals))
defelementwise(stop_gradient_p)
abstract_rules[stop_gradient_p] = lambda x: x
deftranspose(stop_gradient_p, lambda ct, x: stop_gradient_p.bind(ct))


def stop_gradient(x):
    """Returns `x`, as a constant: its derivative is zero.

    Args:
        x: an array, or a tree of arrays.

    Source: `jax.lax.stop_gradient`.

    Examples:
        >>> from autodiff_mini import jvp
        >>> jvp(lambda x: x * stop_gradient(x), (3.0,), (1.0,))
        (9.0, 3.0)
    """
    return tree_map(stop_leaf, x)


def stop_leaf(x):
    y = stop_gradient_p.bind(x) if isinstance(x, Tracer) else x
    return own_memory([y], [x])[0]
