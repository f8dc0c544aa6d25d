"""Masks: what the derivatives of `max` and `abs` ask about the same number.

Two tests of the same operands are often one, and two steps of a sum, such as
0 or 1 by the sign of `x`, can be one step.  The results are bitwise the same.
See the page *A second compiler*.
"""

import numpy as np

from autodiff_mini.core.jaxprs import Equation, Literal, Var
from autodiff_mini.primitives.elementwise import (
    abs_p, add_p, and_p, cos_p, div_p, eq_p, exp_p, ge_p, gt_p, le_p, log1p_p,
    log_p, lt_p, mul_p, neg_p, sign_p, sin_p, sqrt_p, sub_p, tanh_p, where_p)

# The outcomes for which a test is true.  It is false for NaN.
OUTCOMES = {lt_p: {'<'}, eq_p: {'='}, gt_p: {'>'}, le_p: {'<', '='},
            ge_p: {'=', '>'}}
# The result is NaN if an operand is.
OPEN = {abs_p, add_p, cos_p, div_p, exp_p, log1p_p, log_p, mul_p, neg_p,
        sign_p, sin_p, sqrt_p, sub_p, tanh_p}


def is_number(v, x):
    """Return whether an operand is this number, its sign included."""
    return (type(v) is Literal and v.val == x
            and repr(complex(v.val)) == repr(complex(x)))


def operands(v, made, primitive):
    """Return the operands of `primitive`, if it makes `v`."""
    eqn = made.get(v)
    return eqn.invars if eqn and eqn.primitive is primitive else None


def operand_keys(invars):
    """Return what equal operands have in common."""
    return [v if type(v) is Var else (type(v.val), repr(v.val))
            for v in invars]


def with_one_mask(eqn, made, keep):
    """Return `where(c & d, x, 0)` for `where(c, where(d, x, 0), 0)`.

    For `where(c, 0, where(d, x, 0))`, the mask is `c < d`, `d` and not `c`.
    """
    c, *choices = eqn.invars
    for primitive, inner, zero in (and_p, *choices), (lt_p, *choices[::-1]):
        d, *rest = operands(inner, made, where_p) or [c, zero, inner]
        if (is_number(zero, 0) and is_number(rest[1], 0)
                and c.aval == d.aval and c.aval.dtype == bool
                and inner.aval == eqn.outvars[0].aval):
            [mask] = keep(Equation(*one_test(primitive, c, d, made), {},
                                   [Var(c.aval)], eqn.line))
            return Equation(where_p, [mask, *rest], {}, eqn.outvars, eqn.line)
    return eqn


def one_test(primitive, c, d, made):
    """Return a primitive and its operands for the mask `c & d` or `c < d`.

    If both are tests of the same operands, it is a test of them, too.
    """
    tests = [made.get(v) for v in (c, d)]
    if all(test and test.primitive in OUTCOMES for test in tests) and (
            operand_keys(tests[0].invars) == operand_keys(tests[1].invars)):
        first, second = [OUTCOMES[test.primitive] for test in tests]
        found = first & second if primitive is and_p else second - first
        for test, outcomes in OUTCOMES.items():
            if outcomes == found:
                return test, tests[0].invars
    return primitive, [c, d]


def step_of(v, made):
    """Return what an array depends on, if that is the sign of a variable.

    Return the variable `x`, and the elements where it is negative, zero, and
    positive.  Where `x` is NaN, the element is 0.
    """
    step, factor = operands(v, made, mul_p) or [v, Literal(1)]
    mask, one, zero = operands(step, made, where_p) or [None] * 3
    test = made.get(mask)
    if (test and test.primitive in OUTCOMES and is_number(zero, 0)
            and all(map(is_real, [factor, one, test.invars[1]]))
            and type(test.invars[0]) is Var and test.invars[1].val == 0):
        return test.invars[0], [
            one.val * (outcome in OUTCOMES[test.primitive]) * factor.val
            for outcome in '<=>']
    return None, None


def is_real(v):
    """Return whether an operand is a Python number, or NumPy's float64."""
    return type(v) is Literal and isinstance(v.val, (int, float))


def with_one_step(eqn, made, seen, keep):
    """Return `w + (sign(x) * a + b)` for `(w + step) + step`.

    At each sign of `x`, one of the steps is zero, and where `x` is NaN, so is
    `w`.  The program must have computed the sign anyway.
    """
    w, inner = operands(eqn.invars[0], made, add_p) or [None, None]
    if not inner:
        return eqn
    (x, first), (y, second) = [
        step_of(v, made) for v in (inner, eqn.invars[1])]
    [out], [sign] = eqn.outvars, seen.get((sign_p, x), [None])
    if (not x or x is not y or not sign or out.aval.dtype != np.float64
            or {sign.aval, w.aval} != {out.aval}):
        return eqn
    pairs = [*zip(first, second)]
    low, b, high = map(sum, pairs)
    a = high - b
    if ((low, high) != (b - a, b + a) or '-' in repr(pairs)
            or any(map(all, pairs)) or not is_nan_with(w, x, made)):
        return eqn
    for primitive, number in (mul_p, a), (add_p, b):
        [sign] = keep(Equation(primitive, [sign, Literal(number)], {},
                               [Var(out.aval)], eqn.line))
    return Equation(add_p, [w, sign], {}, [out], eqn.line)


def is_nan_with(v, x, made):
    """Return whether each element of `v` is NaN where `x` is."""
    waiting, done = [v], set()
    while waiting:
        v = waiting.pop()
        if v is x:
            return True
        eqn = made.get(v)
        if eqn and eqn.primitive in OPEN and v not in done:
            done.add(v)
            waiting += [y for y in eqn.invars if y.aval.shape == x.aval.shape]
    return False
