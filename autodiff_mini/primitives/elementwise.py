"""Element-wise operations, most of them in one line.

A row is a primitive, its NumPy function, and a JVP rule for each operand.
Rules that hold for all element-wise primitives are defined once, in the
columns `vmap` and `abstract`.  Chapters 1 and 2.
"""

import operator
from functools import partial

import numpy as np

from autodiff_mini.core import seams
from autodiff_mini.core.memory import as_new_array, own_memory
from autodiff_mini.core.trace import Primitive, Tracer, elementwise
from autodiff_mini.core.trees import tree_map
from autodiff_mini.core.types import PYTHON_NUMBERS, convert, typeof
from autodiff_mini.core.zeros import Zero
from autodiff_mini.interpreters import abstract, jvp, lowering, vmap
from autodiff_mini.interpreters.jvp import match
from autodiff_mini.interpreters.transpose import deflinear, deftranspose
from autodiff_mini.numpy_functions.table import (
    as_is, implements, operand, operator_ufunc, ufunc)


def row(function, *rules, name=None, impl=None):
    """Return the primitive of a ufunc, with its JVP rules.

    Args:
        function: the ufunc.
        rules: as for `defjvp`.  Without rules, it is piecewise constant.
        name: the name of the primitive, by default the name of the ufunc.
        impl: the implementation, by default the ufunc.
    """
    primitive = elementwise(name or function.__name__, impl or function)
    ufunc(function, primitive)
    jvp.defjvp(primitive, *rules)
    return primitive


def operator_row(method, function, text, *rules, name=None):
    """Return the primitive of a ufunc that Python has an operator for.

    The operator implements it, so that two Python numbers result in a Python
    number and dtypes follow NumPy's rules exactly.

    Args:
        method: the method that Python calls for the operator, without the
            underscores.
        function: the ufunc.
        text: how the operator is written.
        rules: as for `row`.
        name: the name of the primitive, by default the name of the method.
    """
    primitive = row(function, *rules, name=name or method,
                    impl=getattr(operator, f'__{method}__'))
    operator_ufunc(function, primitive, method)
    lowering.defwritten(primitive, text)
    return primitive


def ratio(x, z):
    """Return `x / z`, and 0 where `z` is 0."""
    is_zero = np.equal(z, 0)
    return np.where(is_zero, 0, np.divide(x, np.where(is_zero, 1, z)))


# Functions of one number.
sin_p = row(np.sin, lambda x_dot, y, x: x_dot * np.cos(x))
cos_p = row(np.cos, lambda x_dot, y, x: x_dot * -np.sin(x))
tanh_p = row(np.tanh, lambda x_dot, y, x: x_dot * (1 - y * y))
exp_p = row(np.exp, lambda x_dot, y, x: x_dot * y)
log_p = row(np.log, lambda x_dot, y, x: np.divide(x_dot, x))
log1p_p = row(np.log1p, lambda x_dot, y, x: np.divide(x_dot, 1 + x))
sqrt_p = row(np.sqrt, lambda x_dot, y, x: x_dot * (0.5 / y))
floor_p = row(np.floor)
isfinite_p = row(np.isfinite)

abs_p = operator_row(
    'abs', np.absolute, 'abs({})',
    lambda x_dot, y, x: match(np.real(x_dot * np.conj(np.sign(x))), y))


def sign_rule(x_dot, y, x):
    if typeof(x).dtype.kind != 'c':
        return Zero(y)
    across = x_dot - np.real(x_dot * np.conj(y)) * y
    return ratio(across, np.abs(x))


sign_p = row(np.sign, sign_rule)

# Arithmetic.
neg_p = operator_row('neg', np.negative, '-{}')
deflinear(neg_p, lambda ct, x: -ct)

add_p = operator_row('add', np.add, '{} + {}')
sub_p = operator_row('sub', np.subtract, '{} - {}')


def sum_jvp(primitive, primals, tangents):
    """Add or subtract both tangents in one operation, like the primals."""
    z, (x_dot, y_dot) = primitive.bind(*primals), tangents
    if type(x_dot) is Zero:
        return z, match(-y_dot if primitive is sub_p else y_dot, z)
    if type(y_dot) is Zero:
        return z, match(x_dot, z)
    return z, primitive.impl(x_dot, y_dot)


jvp.rules[add_p] = partial(sum_jvp, add_p)
jvp.rules[sub_p] = partial(sum_jvp, sub_p)
deftranspose(add_p, lambda ct, x, y: ct, lambda ct, x, y: ct)
deftranspose(sub_p, lambda ct, x, y: ct, lambda ct, x, y: -ct)

mul_p = operator_row('mul', np.multiply, '{} * {}',
                     lambda x_dot, z, x, y: x_dot * y,
                     lambda y_dot, z, x, y: y_dot * x)
deftranspose(mul_p, lambda ct, x, y: ct * y, lambda ct, x, y: ct * x)

div_p = operator_row('truediv', np.divide, '{} / {}',
                     lambda x_dot, z, x, y: x_dot / y,
                     lambda y_dot, z, x, y: y_dot * (-z / y), name='div')
deftranspose(div_p, lambda ct, x, y: ct / y, None)

floor_divide_p = operator_row(
    'floordiv', np.floor_divide, '{} // {}', name='floor_divide')
remainder_p = operator_row(
    'mod', np.remainder, '{} % {}',
    lambda x_dot, z, x, y: match(x_dot, z),
    lambda y_dot, z, x, y: match(y_dot * -np.floor_divide(x, y), z),
    name='remainder')

PRODUCTS = {    # a small power, as products of smaller ones
    2: [(1, 1)], 3: [(1, 1), (2, 1)], 4: [(1, 1), (2, 2)],
    5: [(1, 1), (2, 2), (4, 1)], 6: [(1, 1), (2, 1), (3, 3)],
    7: [(1, 1), (2, 1), (3, 3), (6, 1)], 8: [(1, 1), (2, 2), (4, 4)]}


def to_the_power(x, y):
    """Return `x ** y`, using products for small powers of float arrays.

    Products are a hundred times faster, but differ in the last digits.
    """
    if (type(y) is not int or y not in PRODUCTS or type(x) is not np.ndarray
            or x.shape == () or x.dtype.kind != 'f'):
        return x ** y
    powers = {1: x}
    for i, j in PRODUCTS[y]:
        powers[i + j] = powers[i] * powers[j]
    return powers[y]


def pow_base(x_dot, z, x, y):
    if type(y) in PYTHON_NUMBERS and y == 0:
        return Zero(z)
    if type(y) in PYTHON_NUMBERS:
        slope = y * pow_p.bind(convert(x, typeof(z).dtype), y - 1)
    else:
        # 0**0 is a special case, because 0 * 0**-1 is not a number.
        y = convert(y, typeof(z).dtype)
        safe = np.where(np.equal(x, 0), np.where(np.equal(y, 0), 1, y), y)
        slope = y * np.power(x, safe - 1)
    return match(x_dot * slope, z)


def pow_exponent(y_dot, z, x, y):
    x = convert(np.where(np.equal(x, 0), 1, x), typeof(z).dtype)
    return match(y_dot * z * np.log(x), z)


pow_p = row(np.power, pow_base, pow_exponent, name='pow', impl=to_the_power)
float_power_p = row(np.float_power, pow_base, pow_exponent)
operator_ufunc(np.power, pow_p, 'pow')


def power_operator(x, y):
    """Return `x ** y`, whose dtype can depend on the value of `y`."""
    if type(y) is int and x.dtype.kind in 'bi':
        if y < 0 and x.aval.weak_type:
            x = convert(x, np.dtype(float), True)   # 2 ** -1 is 0.5
        elif y == 2 and x.dtype == bool and not x.aval.weak_type:
            example = np.zeros(1, bool) if x.ndim else np.False_
            x = convert(x, (example ** 2).dtype)    # int8 since NumPy 2.4
    return pow_p.bind(x, operand(y))


Tracer.__pow__ = power_operator


def chosen_by(test):
    """Return the rules of a function that chooses `x` if `test(x, y)`.

    Each operand contributes half in a tie.
    """
    def chosen(x_dot, z, x, y):
        share = np.where(np.equal(x, y), 0.5 * x_dot, x_dot)
        return match(np.where(test(x, y), share, 0), z)
    return chosen, lambda y_dot, z, x, y: chosen(y_dot, z, y, x)


max_p = row(np.maximum, *chosen_by(np.greater_equal), name='max')
min_p = row(np.minimum, *chosen_by(np.less_equal), name='min')

# Comparisons, logic, and selection.
lt_p = operator_row('lt', np.less, '{} < {}')
le_p = operator_row('le', np.less_equal, '{} <= {}')
gt_p = operator_row('gt', np.greater, '{} > {}')
ge_p = operator_row('ge', np.greater_equal, '{} >= {}')
eq_p = operator_row('eq', np.equal, '{} == {}')
ne_p = operator_row('ne', np.not_equal, '{} != {}')
and_p = operator_row('and', np.bitwise_and, '{} & {}')
or_p = operator_row('or', np.bitwise_or, '{} | {}')
xor_p = operator_row('xor', np.bitwise_xor, '{} ^ {}')
invert_p = operator_row('invert', np.invert, '~{}')
left_shift_p = operator_row(
    'lshift', np.left_shift, '{} << {}', name='left_shift')
right_shift_p = operator_row(
    'rshift', np.right_shift, '{} >> {}', name='right_shift')


def allow_comparison_with_none(name, answer):
    """Let `==` or `!=` accept None and strings, as arrays do."""
    method = getattr(Tracer, name)

    def compare(self, other):
        if other is None or isinstance(other, str):
            return np.full(self.shape, answer) if self.shape else answer
        return method(self, other)
    setattr(Tracer, name, compare)


allow_comparison_with_none('__eq__', False)
allow_comparison_with_none('__ne__', True)

where_p = elementwise('where', np.where)


@implements(np.where, as_new_array)
def numpy_where(condition, *choices):
    if not choices:
        return np.nonzero(condition)
    return where_p.bind(*map(operand, (condition, *choices)))


def where_jvp(primals, tangents):
    condition, z = primals[0], where_p.bind(*primals)
    if {*map(type, tangents[1:])} == {Zero}:
        return z, Zero(z)
    x_dot, y_dot = [0 if type(t) is Zero else t for t in tangents[1:]]
    return z, match(np.where(condition, x_dot, y_dot), z)


jvp.rules[where_p] = where_jvp
deftranspose(where_p, None, lambda ct, c, x, y: np.where(c, ct, 0),
                            lambda ct, c, x, y: np.where(c, 0, ct))

# Complex numbers.
conj_p = row(np.conjugate, name='conj')
deflinear(conj_p, lambda ct, x: np.conj(ct))

real_p = elementwise('real', np.real)
deflinear(real_p, lambda ct, x: ct)


@implements(np.real, as_is)
def numpy_real(val):
    val = operand(val)
    if typeof(val).dtype.kind != 'c':
        return val
    return seams.view_of.run(val, real_p.bind(val), (real_p, (), {}))


# The identity, whose derivative is zero.
stop_gradient_p = Primitive('stop_gradient', lambda x: x)
jvp.defjvp(stop_gradient_p)
vmap.defelementwise(stop_gradient_p)
abstract.rules[stop_gradient_p] = lambda x: x
deftranspose(stop_gradient_p, lambda ct, x: stop_gradient_p.bind(ct))


def stop_gradient(x):
    """Return `x` as a constant, whose derivative is zero.

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
