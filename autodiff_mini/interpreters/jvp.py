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
from autodiff_mini.numpy_api import convert, full, inside, strong
from autodiff_mini.primitives import (
    abs_p, add_p, and_p, arccos_p, arccosh_p, arcsin_p, arcsinh_p, arctan2_p,
    arctan_p, arctanh_p, argmax_p, argmin_p, argsort_p, astype_p,
    broadcast_to_p, cbrt_p, ceil_p, cholesky_p, concatenate_p, conj_p, cos_p,
    cosh_p, cumprod_p, cumsum_p, det_p, div_p, eq_p, exp2_p, exp_p, expm1_p,
    floor_divide_p, floor_p, fmod_p, ge_p, gt_p, heaviside_p, hypot_p, imag_p,
    index_p, invert_p, isfinite_p, le_p, left_shift_p, log10_p, log1p_p,
    log2_p, log_p, logaddexp2_p, logaddexp_p, lt_p, matmul_p, max_p, min_p,
    mul_p, ne_p, neg_p, or_p, pow_p, real_p, reciprocal_p, reduce_max_p,
    reduce_min_p, reduce_prod_p, reduce_sum_p, remainder_p, reshape_p,
    right_shift_p, rint_p, sign_p, signbit_p, sin_p, sinh_p, slogdet_p,
    solve_p, sqrt_p, stack_p, sub_p, tan_p, tanh_p, transpose_p, trunc_p,
    where_p, xor_p)


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
        return f'{type(self).__name__}({self.aval})'

    def refuse(self, *_, **__):
        raise TypeError(f'{self!r} is a symbolic zero, no array. A rule '
                        'looks for it with isinstance(t, ad.Zero), or makes '
                        'it an array with ad.instantiate_zeros(t).')

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = refuse
    __truediv__ = __rtruediv__ = __matmul__ = __rmatmul__ = refuse
    __pow__ = __neg__ = __getitem__ = __array__ = __array_ufunc__ = refuse
    __float__ = __bool__ = __lt__ = __gt__ = refuse


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
    if not isinstance(t, Zero):
        return t
    aval = t.aval
    if aval.dtype == float0:
        return np.zeros(aval.shape, float0)
    if is_array(t.like):   # an array of whichever library
        return np.zeros_like(t.like)[()]
    zeros = full(t.like, aval.shape, 0, aval.dtype)
    return zeros.item() if aval.weak_type else zeros[()]


def instantiate_all(ts, like) -> list:
    """Returns tangents as arrays.

    Where nobody knows the library of a zero, it is that of `like`.
    """
    def instantiate(t):
        if (type(t) is not Zero or t.aval.dtype == float0
                or t.aval.weak_type or is_array(inside(t.like))):
            return instantiate_zeros(t)
        return full(like, t.aval.shape, 0, t.aval.dtype)
    return list(map(instantiate_zeros if like is None else instantiate, ts))


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
        parent, line = self.parent, self.line or user_line(3)
        try:
            set_current_trace(parent)
            if primitive.is_call:
                y, y_dot = jvp_rules[primitive](
                    self.tag, primals, tangents, **params)
            else:
                parent.line = line
                if not perturbed:
                    return primitive.bind(*primals, **params)
                y, y_dot = jvp_rules[primitive](primals, tangents, **params)
        finally:
            set_current_trace(self)
            parent.line = None
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
                if type(x) is np.ndarray:
                    x = self.parent.keep(x)
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
        y_dot = None
        for rule, x_dot in zip(rules, tangents, strict=True):
            if rule and type(x_dot) is not Zero:
                term = rule(x_dot, y, *primals, **params)
                y_dot = term if y_dot is None else add_tangents(y_dot, term)
        return y, Zero(y) if y_dot is None else y_dot
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
defjvp(sin_p, lambda x_dot, y, x: x_dot * np.cos(x))
defjvp(cos_p, lambda x_dot, y, x: x_dot * -np.sin(x))
defjvp(tanh_p, lambda x_dot, y, x: x_dot * (1 - y * y))
defjvp(exp_p, lambda x_dot, y, x: x_dot * y)
defjvp(log_p, lambda x_dot, y, x: np.divide(x_dot, x))
defjvp(sqrt_p, lambda x_dot, y, x: x_dot * (0.5 / y))

LOG_2 = float(np.log(2))    # Python's, so that they widen no dtype
LOG_10 = float(np.log(10))

defjvp(exp2_p, lambda x_dot, y, x: x_dot * (LOG_2 * y))
defjvp(expm1_p, lambda x_dot, y, x: x_dot * np.exp(x))
defjvp(log2_p, lambda x_dot, y, x: np.divide(x_dot, LOG_2 * x))
defjvp(log10_p, lambda x_dot, y, x: np.divide(x_dot, LOG_10 * x))
defjvp(log1p_p, lambda x_dot, y, x: np.divide(x_dot, 1 + x))
defjvp(cbrt_p, lambda x_dot, y, x: x_dot / (3 * y * y))
defjvp(reciprocal_p, lambda x_dot, y, x: x_dot * (-y * y))

defjvp(tan_p, lambda x_dot, y, x: x_dot * (1 + y * y))
defjvp(arcsin_p, lambda x_dot, y, x: x_dot / np.sqrt((1 - x) * (1 + x)))
defjvp(arccos_p, lambda x_dot, y, x: -x_dot / np.sqrt((1 - x) * (1 + x)))
defjvp(arctan_p, lambda x_dot, y, x: np.divide(x_dot, 1 + x * x))
defjvp(sinh_p, lambda x_dot, y, x: x_dot * np.cosh(x))
defjvp(cosh_p, lambda x_dot, y, x: x_dot * np.sinh(x))
defjvp(arcsinh_p, lambda x_dot, y, x: x_dot / np.cosh(y))
defjvp(arccosh_p, lambda x_dot, y, x: x_dot / np.sinh(y))
defjvp(arctanh_p, lambda x_dot, y, x: np.divide(x_dot, (1 - x) * (1 + x)))

deflinear(conj_p)
deflinear(real_p)
deflinear(imag_p)


def abs_rule(x_dot, y, x):
    return match(np.real(x_dot * np.conj(np.sign(x))), y)


def sign_rule(x_dot, y, x):
    if typeof(x).dtype.kind != 'c':
        return Zero(y)
    across = x_dot - np.real(x_dot * np.conj(y)) * y
    return ratio(across, np.abs(x))


def ratio(x, z):
    """Returns `x / z`, and 0 where `z` is 0."""
    is_zero = np.equal(z, 0)
    return np.where(is_zero, 0, np.divide(x, np.where(is_zero, 1, z)))


defjvp(abs_p, abs_rule)
defjvp(sign_p, sign_rule)


def add_jvp(primals, tangents):
    z, (x_dot, y_dot) = add_p.bind(*primals), tangents
    if type(x_dot) is Zero:
        return z, match(y_dot, z)
    if type(y_dot) is Zero:
        return z, match(x_dot, z)
    return z, x_dot + y_dot


def sub_jvp(primals, tangents):
    z, (x_dot, y_dot) = sub_p.bind(*primals), tangents
    if type(x_dot) is Zero:
        return z, match(-y_dot, z)
    if type(y_dot) is Zero:
        return z, match(x_dot, z)
    return z, x_dot - y_dot


jvp_rules[add_p] = add_jvp
jvp_rules[sub_p] = sub_jvp

defjvp(mul_p, lambda x_dot, z, x, y: x_dot * y,
              lambda y_dot, z, x, y: y_dot * x)
defjvp(div_p, lambda x_dot, z, x, y: x_dot / y,
              lambda y_dot, z, x, y: y_dot * (-z / y))
defjvp(matmul_p, lambda x_dot, z, x, y: x_dot @ y,
                 lambda y_dot, z, x, y: x @ y_dot)


def pow_base(x_dot, z, x, y):
    if type(y) in PYTHON_NUMBERS and y == 0:
        return Zero(z)
    if type(y) in PYTHON_NUMBERS:
        slope = y * pow_p.bind(strong(x), y - 1)
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


def chosen(x_dot, z, x, y):
    """Returns `x_dot` where `z` is `x`, half of it where `y` is so too."""
    share = np.where(np.equal(x, y), 0.5 * x_dot, x_dot)
    return match(np.where(np.equal(x, z), share, 0), z)


defjvp(max_p, chosen, lambda y_dot, z, x, y: chosen(y_dot, z, y, x))
defjvp(min_p, chosen, lambda y_dot, z, x, y: chosen(y_dot, z, y, x))

defjvp(arctan2_p,
       lambda y_dot, z, y, x: y_dot * (x / np.hypot(y, x) / np.hypot(y, x)),
       lambda x_dot, z, y, x: x_dot * (-y / np.hypot(y, x) / np.hypot(y, x)))
defjvp(hypot_p, lambda x_dot, z, x, y: x_dot * ratio(x, z),
                lambda y_dot, z, x, y: y_dot * ratio(y, z))


def excess(x, z):
    """Returns `x - z`, and 0 where they are equal, and be they infinite."""
    x, same = convert(x, typeof(z).dtype), np.equal(x, z)
    return np.where(same, 0, x) - np.where(same, 0, z)


defjvp(logaddexp_p,
       lambda x_dot, z, x, y: x_dot * np.exp(excess(x, z)),
       lambda y_dot, z, x, y: y_dot * np.exp(excess(y, z)))
defjvp(logaddexp2_p,
       lambda x_dot, z, x, y: x_dot * np.exp2(excess(x, z)),
       lambda y_dot, z, x, y: y_dot * np.exp2(excess(y, z)))

defzero(floor_divide_p)
defjvp(remainder_p,
       lambda x_dot, z, x, y: match(x_dot, z),
       lambda y_dot, z, x, y: match(y_dot * -np.floor_divide(x, y), z))
defjvp(fmod_p,
       lambda x_dot, z, x, y: match(x_dot, z),
       lambda y_dot, z, x, y: match(y_dot * -np.rint((x - z) / y), z))
defjvp(heaviside_p, None,
       lambda y_dot, z, x, y: match(np.where(np.equal(x, 0), y_dot, 0), z))


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
defzero(and_p)
defzero(or_p)
defzero(xor_p)
defzero(invert_p)
defzero(left_shift_p)
defzero(right_shift_p)
defzero(floor_p)
defzero(ceil_p)
defzero(rint_p)
defzero(trunc_p)
defzero(isfinite_p)
defzero(signbit_p)
defzero(argmax_p)
defzero(argmin_p)
defzero(argsort_p)

deflinear(reduce_sum_p)
deflinear(cumsum_p)


def extremum_rule(x_dot, y, x, axis, keepdims):
    found = np.equal(x, y if keepdims else np.expand_dims(y, axis))
    total = np.sum(np.where(found, x_dot, 0), axis, keepdims=keepdims)
    count = np.sum(found, axis, keepdims=keepdims)
    return match(np.divide(total, convert(count, typeof(y).dtype)), y)


defjvp(reduce_max_p, extremum_rule)
defjvp(reduce_min_p, extremum_rule)


def prod_rule(x_dot, y, x, axis, keepdims):
    x, x_dot = as_rows(x, axis), as_rows(x_dot, axis)
    while len(x) > 1:
        half = len(x) // 2
        a, b, rest = x[:half], x[half:2*half], x[2*half:]
        a_dot, b_dot = x_dot[:half], x_dot[half:2*half]
        x = np.concatenate([a * b, rest])
        x_dot = np.concatenate([a_dot * b + a * b_dot, x_dot[2*half:]])
    return np.reshape(np.sum(x_dot, 0), np.shape(y))


def as_rows(x, axis):
    """Returns `x` with these axes made one, in front."""
    x = np.moveaxis(x, axis, range(len(axis)))
    count, rest = int(np.prod(x.shape[:len(axis)])), x.shape[len(axis):]
    return np.reshape(x, (count, *rest))


defjvp(reduce_prod_p, prod_rule)


def cumprod_rule(x_dot, y, x, axis):
    x, x_dot = np.moveaxis(x, axis, 0), np.moveaxis(x_dot, axis, 0)
    distance = 1
    while distance < len(x):
        before = shifted(x, distance, 1)
        x_dot = x_dot * before + x * shifted(x_dot, distance, 0)
        x, distance = x * before, 2 * distance
    return np.moveaxis(x_dot, 0, axis)


def shifted(x, distance, value):
    """Returns `x` moved along its first axis, with `value` at the start."""
    start = np.full_like(x[:distance], value)
    return np.concatenate([start, x[:-distance]])


defjvp(cumprod_p, cumprod_rule)

deflinear(reshape_p)
deflinear(transpose_p)
deflinear(broadcast_to_p)


def index_jvp(primals, tangents, indices):
    (x, *arrays), x_dot = primals, tangents[0]
    y = index_p.bind(x, *arrays, indices=indices)
    return y, index_p.bind(x_dot, *arrays, indices=indices)


jvp_rules[index_p] = index_jvp


def join_rule(primitive):
    """Returns the rule of a primitive that joins arrays along an axis."""
    def rule(primals, tangents, axis):
        y = primitive.bind(*primals, axis=axis)
        dots = [np.zeros(typeof(x).shape, y.dtype) if type(t) is Zero else t
                for x, t in zip(primals, tangents, strict=True)]
        return y, primitive.bind(*dots, axis=axis)
    return rule


jvp_rules[stack_p] = join_rule(stack_p)
jvp_rules[concatenate_p] = join_rule(concatenate_p)


def astype_rule(x_dot, y, x, dtype, weak_type):
    if dtype.kind not in 'fc':
        return Zero(y)
    return astype_p.bind(x_dot, dtype=dtype, weak_type=weak_type)


defjvp(astype_p, astype_rule)

defjvp(solve_p,
       lambda a_dot, x, a, b: -np.linalg.solve(a, a_dot @ x),
       lambda b_dot, x, a, b: np.linalg.solve(a, b_dot))


def det_rule(a_dot, y, a):
    return np.sum(a_dot * cofactors(a), (-2, -1))


def cofactors(a):
    """Returns the determinants of `a` with a unit vector for each row."""
    size = a.shape[-1]
    unit = np.eye(size, dtype=a.dtype)[:, None, :]
    is_row = np.eye(size, dtype=bool)[:, None, :, None]
    return np.linalg.det(np.where(is_row, unit, a[..., None, None, :, :]))


defjvp(det_p, det_rule)


def slogdet_jvp(primals, tangents):
    (a,), (a_dot,) = primals, tangents
    sign, logdet = slogdet_p.bind(a)
    dot = np.trace(np.linalg.solve(a, a_dot), axis1=-2, axis2=-1)
    if typeof(sign).dtype.kind != 'c':
        return [sign, logdet], [Zero(sign), dot]
    return [sign, logdet], [1j * np.imag(dot) * sign, np.real(dot)]


jvp_rules[slogdet_p] = slogdet_jvp


def cholesky_rule(a_dot, y, a):
    a_dot = (a_dot + np.conj(np.matrix_transpose(a_dot))) / 2
    half = np.linalg.solve(y, a_dot)
    middle = np.linalg.solve(y, np.conj(np.matrix_transpose(half)))
    size = a.shape[-1]
    halves = np.tri(size, dtype=y.dtype) - np.eye(size, dtype=y.dtype) / 2
    return y @ (halves * middle)


defjvp(cholesky_p, cholesky_rule)

stop_gradient_p = Primitive('stop_gradient', lambda x: x)
jvp_rules[stop_gradient_p] = lambda primals, tangents: (
    stop_gradient_p.bind(*primals), Zero(*primals))
