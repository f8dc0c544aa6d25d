"""Forward mode: a tangent rides along with every value.

Its one idea: carry two numbers at once, the primal and the tangent, and give
every primitive a rule for the second.  Chapter 2.
"""

from itertools import repeat

import numpy as np

from autodiff_mini.core import (
    PYTHON_NUMBERS, Primitive, ShapedArray, Trace, Tracer, current_trace,
    float0, is_array, set_current_trace, typeof)
from autodiff_mini.errors import RuleTable, user_line
from autodiff_mini.numpy_api import convert, strong
from autodiff_mini.primitives import (
    add_p, astype_p, broadcast_to_p, cos_p, div_p, eq_p, exp_p, ge_p, gt_p,
    index_p, le_p, log_p, lt_p, matmul_p, max_p, mul_p, ne_p, neg_p, pow_p,
    reduce_sum_p, reshape_p, sin_p, sqrt_p, stack_p, sub_p, tanh_p,
    transpose_p, where_p)


class Zero:
    """The tangent of a value that nothing perturbs: zero, and no array.

    Args:
        like: the value whose tangent it is, or the type of that value.
    """

    __slots__ = ('like',)

    def __init__(self, like):
        self.like = like

    @property
    def aval(self):
        return tangent_type(typeof(self.like))

    def __repr__(self):
        return f'Zero({self.aval})'

    def refuse(self, *_, **__):
        raise TypeError(f'{self!r} is a symbolic zero, no array. A rule '
                        'looks for it with isinstance(t, ad.Zero), or makes '
                        'it an array with ad.instantiate_zeros(t).')

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = refuse
    __truediv__ = __rtruediv__ = __matmul__ = __rmatmul__ = refuse
    __pow__ = __neg__ = __getitem__ = __array__ = __array_ufunc__ = refuse
    __array_function__ = __float__ = __bool__ = __lt__ = __gt__ = refuse


def tangent_type(aval):
    """Returns the type of the tangents of values of type `aval`.

    Integers and booleans cannot be perturbed: their tangents hold nothing.
    """
    if aval.dtype.kind in 'fc':
        return aval
    return ShapedArray(aval.shape, float0)


def instantiate_zeros(t):
    """Returns the tangent `t`, as an array if it is a symbolic zero.

    Args:
        t: an array, or a Zero.

    Examples:
        >>> instantiate_zeros(Zero(np.ones(2)))
        array([0., 0.])
    """
    if type(t) is not Zero:
        return t
    aval = t.aval
    if aval.dtype == float0:
        return np.zeros(aval.shape, float0)
    if is_array(t.like):   # an array of whichever library
        return np.zeros_like(t.like)[()]
    return np.zeros(aval.shape, aval.dtype)[()]


class JVPTracer(Tracer):
    """A value of this interpreter: a primal, and the tangent beside it."""

    __slots__ = ('primal', 'tangent')

    def __init__(self, trace, primal, tangent, line):
        self.trace = trace
        self.primal = primal
        self.tangent = tangent
        self.line = line

    @property
    def aval(self):
        return typeof(self.primal)

    def __bool__(self):
        return bool(self.primal)

    def __format__(self, spec):
        return format(self.primal, spec) if spec else str(self)

    def __repr__(self):
        return f'JVPTracer(primal={self.primal}, tangent={self.tangent})'


class JVPTrace(Trace):
    """Computes a tangent beside every primal that the input reaches."""

    def process_primitive(self, primitive, args, params):
        primals, tangents, perturbed = self.split(args)
        try:
            set_current_trace(self.parent)
            if primitive.is_call:
                y, y_dot = jvp_rules[primitive](
                    self.tag, primals, tangents, **params)
            elif perturbed:
                y, y_dot = jvp_rules[primitive](primals, tangents, **params)
            else:
                return primitive.bind(*primals, **params)
        finally:
            set_current_trace(self)
        line = user_line(3)
        if primitive.multiple_results:
            return list(map(self.join, y, y_dot, repeat(line)))
        return self.join(y, y_dot, line)

    def split(self, xs):
        """Returns the primals, the tangents, and whether any is no Zero."""
        primals, tangents, perturbed = [], [], False
        for x in xs:
            if type(x) is JVPTracer and x.trace.tag is self.tag:
                primals.append(x.primal)
                tangents.append(x.tangent)
                perturbed = True
            else:
                primals.append(x)
                tangents.append(Zero(x))
        return primals, tangents, perturbed

    def join(self, primal, tangent, line=None):
        """Returns a tracer of both; the primal, if it is unperturbed."""
        if type(tangent) is Zero:
            return primal
        return JVPTracer(self, primal, tangent, line)


jvp_rules = RuleTable('Differentiation rule', 'define jvp_rules[primitive]')


def jvp_flat(f, primals, tangents, tag):
    """Returns the outputs of `f` and their tangents: two lists.

    Args:
        f: takes arrays, returns a list of them.
        primals: the arrays at which to evaluate it.
        tangents: for each its perturbation, or a Zero.
        tag: which application of jvp this is.
    """
    with JVPTrace(current_trace(), tag) as trace:
        outs = f(*map(trace.join, primals, tangents))
        return trace.split(outs)[:2]


def defjvp(primitive, *rules):
    """Defines how the tangent of each operand reaches the output.

    Args:
        rules: for each operand `rule(x_dot, out, *operands, **params)`,
            which returns a tangent; None in place of a rule for an operand
            whose motion does not move the output.
    """
    def unary_rule(primals, tangents, **params):
        y = primitive.bind(*primals, **params)
        return y, rules[0](*tangents, y, *primals, **params)

    def jvp_rule(primals, tangents, **params):
        y = primitive.bind(*primals, **params)
        y_dot = Zero(y)
        for rule, x_dot in zip(rules, tangents, strict=True):
            if rule and type(x_dot) is not Zero:
                term = rule(x_dot, y, *primals, **params)
                y_dot = add_tangents(y_dot, term)
        return y, y_dot
    jvp_rules[primitive] = unary_rule if len(rules) == 1 else jvp_rule


def add_tangents(s, t):
    """Returns the sum of two tangents of one value."""
    if type(s) is Zero:
        return t
    return s if type(t) is Zero else s + t


def deflinear(primitive):
    """Defines a rule for a primitive that is linear in its one operand."""
    defjvp(primitive,
           lambda x_dot, y, x, **params: primitive.bind(x_dot, **params))


def defzero(primitive):
    """Defines a rule for a primitive whose output stays when inputs move."""
    def zero_rule(primals, tangents, **params):
        y = primitive.bind(*primals, **params)
        return y, Zero(y)
    jvp_rules[primitive] = zero_rule


def match(x_dot, y):
    """Returns `x_dot` with the shape and the dtype of `y`."""
    have, want = typeof(x_dot), typeof(y)
    if have is want:
        return x_dot
    if have.shape != want.shape:
        x_dot = np.broadcast_to(x_dot, want.shape)
    return convert(x_dot, want.dtype, want.weak_type)


deflinear(neg_p)
defjvp(sin_p, lambda x_dot, y, x: np.cos(x) * x_dot)
defjvp(cos_p, lambda x_dot, y, x: -np.sin(x) * x_dot)
defjvp(tanh_p, lambda x_dot, y, x: (1 - y * y) * x_dot)
defjvp(exp_p, lambda x_dot, y, x: y * x_dot)
defjvp(log_p, lambda x_dot, y, x: np.divide(x_dot, x))
defjvp(sqrt_p, lambda x_dot, y, x: 0.5 * x_dot / y)

defjvp(add_p, lambda x_dot, z, x, y: match(x_dot, z),
              lambda y_dot, z, x, y: match(y_dot, z))
defjvp(sub_p, lambda x_dot, z, x, y: match(x_dot, z),
              lambda y_dot, z, x, y: match(-y_dot, z))
defjvp(mul_p, lambda x_dot, z, x, y: x_dot * y,
              lambda y_dot, z, x, y: x * y_dot)
defjvp(div_p, lambda x_dot, z, x, y: x_dot / y,
              lambda y_dot, z, x, y: -y_dot * z / y)
defjvp(matmul_p, lambda x_dot, z, x, y: x_dot @ y,
                 lambda y_dot, z, x, y: x @ y_dot)


def pow_base(x_dot, z, x, y):
    if type(y) in PYTHON_NUMBERS and y == 0:
        return Zero(z)
    if type(y) in PYTHON_NUMBERS:
        slope = y * strong(x) ** (y - 1)
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


def larger(x_dot, z, x, y):
    """Returns `x_dot` where `x` is the larger, half of it in a tie."""
    tie = np.where(np.equal(x, y), 0.5 * x_dot, 0)
    return match(np.where(np.greater(x, y), x_dot, tie), z)


defjvp(max_p, larger, lambda y_dot, z, x, y: larger(y_dot, z, y, x))


def where_jvp(primals, tangents):
    condition, x, y = primals
    z = where_p.bind(condition, x, y)
    x_dot, y_dot = [0 if type(t) is Zero else t for t in tangents[1:]]
    if type(tangents[1]) is type(tangents[2]) is Zero:
        return z, Zero(z)
    return z, match(np.where(condition, x_dot, y_dot), z)


jvp_rules[where_p] = where_jvp

defzero(lt_p)
defzero(le_p)
defzero(gt_p)
defzero(ge_p)
defzero(eq_p)
defzero(ne_p)

deflinear(reduce_sum_p)
deflinear(reshape_p)
deflinear(transpose_p)
deflinear(broadcast_to_p)


def index_jvp(primals, tangents, indices):
    (x, *arrays), x_dot = primals, tangents[0]
    y = index_p.bind(x, *arrays, indices=indices)
    return y, index_p.bind(x_dot, *arrays, indices=indices)


jvp_rules[index_p] = index_jvp


def stack_jvp(primals, tangents, axis):
    y = stack_p.bind(*primals, axis=axis)
    tangents = [np.zeros(typeof(x).shape, y.dtype) if type(t) is Zero else t
                for x, t in zip(primals, tangents, strict=True)]
    return y, stack_p.bind(*tangents, axis=axis)


jvp_rules[stack_p] = stack_jvp


def astype_rule(x_dot, y, x, dtype, weak_type):
    if dtype.kind not in 'fc':
        return Zero(y)
    return astype_p.bind(x_dot, dtype=dtype, weak_type=weak_type)


defjvp(astype_p, astype_rule)

stop_gradient_p = Primitive('stop_gradient', lambda x: x)
jvp_rules[stop_gradient_p] = lambda primals, tangents: (
    stop_gradient_p.bind(*primals), Zero(*primals))
