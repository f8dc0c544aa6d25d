"""Simplification: an equivalent program with fewer operations.

It reads the equations once, forwards, and checks for each one whether its
result is already available.  The results are bitwise the same.
See the page *A second compiler*.
"""

from collections import Counter
from dataclasses import replace
from itertools import chain

import numpy as np

from autodiff_mini.core.jaxprs import Equation, Literal, Var, drop_dead
from autodiff_mini.core.trace import elementwise
from autodiff_mini.core.trees import frozen
from autodiff_mini.core.types import astype_p, float0
from autodiff_mini.interpreters.abstract import elementwise_type
from autodiff_mini.interpreters.lowering import inline, inline_rules
from autodiff_mini.primitives import elementwise as rows
from autodiff_mini.primitives.elementwise import (
    PRODUCTS, add_p, conj_p, div_p, mul_p, neg_p, pow_p, real_p, sign_p,
    stop_gradient_p, sub_p, where_p)
from autodiff_mini.primitives.indexing import index_p
from autodiff_mini.primitives.linalg import matmul_p
from autodiff_mini.primitives.reductions import reducing
from autodiff_mini.primitives.shapes import (
    broadcast_to_p, concatenate_p, reshape_p, stack_p, transpose_p)
from autodiff_mini.wings.fast.masks import (
    is_number, operand_keys, operands, with_one_mask, with_one_step)

ELEMENTWISE = {x for x in elementwise.primitives if x in vars(rows).values()}
VIEWS = {broadcast_to_p, index_p, real_p, reshape_p, transpose_p}

PIECEWISE = ELEMENTWISE - VIEWS | {astype_p}
FRESH = PIECEWISE | {concatenate_p, matmul_p, stack_p}
reducing.define(FRESH.add)


def learn(*sets):
    """Add the rows for ufuncs to these sets, including rows defined later."""
    def add(primitive):
        ufunc = primitive.impl
        if (isinstance(ufunc, np.ufunc) and hasattr(np, ufunc.__name__)
                and 'd' * ufunc.nin + '->d' in ufunc.types):
            for primitives in sets:
                primitives.add(primitive)
    elementwise.define(add)


learn(ELEMENTWISE, PIECEWISE, FRESH)


def opened(jaxpr):
    """Inline the calls of a program, and split its loops."""
    return inline(jaxpr, inline_rules | opening_rules)


opening_rules = {}  # like inline_rules, but for speed


def simplify(jaxpr, batched=False, ordered=False):
    """Return a program with fewer operations and bitwise equal results.

    Args:
        jaxpr: a program without calls.
        batched: whether vmap transforms the result.
        ordered: whether its arguments are C-contiguous.
    """
    values = dict(zip(jaxpr.constvars, jaxpr.consts, strict=True))
    # The replacements of variables; a number needs no name.
    env = {v: Literal(x[()]) for v, x in values.items()
           if type(x) is np.ndarray and x.shape == ()}
    in_order = {v for v, x in values.items() if type(x) is np.ndarray
                and x.flags.c_contiguous}.union(jaxpr.invars * ordered)
    seen = {}       # the results of equations, by primitive and operands
    made = {}       # the equation of each variable that is kept
    copies = {}     # the variables that kept variables are copies of
    parts = [part for eqn in jaxpr.eqns for part in products(eqn)]
    kinds = {x.primitive for x in parts}
    uses = Counter(chain(jaxpr.outvars, *[x.invars for x in parts])
                   if neg_p in kinds else ())
    before = {x.outvars[0]: x for x in parts if x.primitive in VIEWS}
    spread = {*before, *values}     # they can have fewer elements in memory
    eqns = []

    def keep(eqn):
        """Append an equation, and return its results or equal ones."""
        key = (eqn.primitive, *operand_keys(eqn.invars),
               *map(frozen, eqn.params.items()))
        if key not in seen:
            seen[key] = eqn.outvars
            eqns.append(eqn)
            made.update(dict.fromkeys(eqn.outvars, eqn))
        return seen[key]

    for old in parts:
        invars = list(map(env.get, old.invars, old.invars))
        if old.primitive in ELEMENTWISE:
            if copies and old.primitive is mul_p:
                invars = originals(invars, copies, made)
            if not spread.isdisjoint(invars):
                invars = narrowed(old, invars, made, values)
        eqn = old if invars == old.invars else Equation(
            old.primitive, invars, old.params, old.outvars, old.line)
        if (eqn.primitive is matmul_p and is_square(invars, made)
                and not is_square(old.invars, before)):
            eqn = with_copy(eqn, keep)
        eqn = rewritten(eqn, made, keep, batched)
        if uses and eqn.primitive in (add_p, sub_p):
            eqn = without_sign(eqn, made, uses, keep)
        if sign_p in kinds and eqn.primitive is add_p:
            eqn = with_one_step(eqn, made, seen, keep)
        same = same_value(eqn)
        if same and is_copy(eqn, same, made, in_order, jaxpr.outvars):
            copies[eqn.outvars[0]], same = same, None
        found = [same] if same else keep(eqn)
        if found is not eqn.outvars:
            env.update(zip(eqn.outvars, found))
            if uses:
                uses.update({w: uses[v] for v, w in zip(eqn.outvars, found)})
    outvars = [env.get(v, v) for v in jaxpr.outvars]
    return drop_dead(replace(jaxpr, eqns=eqns, outvars=outvars, cache={}))


def is_square(operands, made):
    """Return whether two operands are views of one array."""
    return len({*(owner(v, made) for v in operands)}) == 1


def with_copy(eqn, keep):
    """Return `x @ y` with a copy of `y`, because it has become `x @ x`.

    BLAS sums `x @ x` in another order.
    """
    x, y = eqn.invars
    [copy] = keep(Equation(mul_p, [y, Literal(1)], {}, [Var(y.aval)],
                           eqn.line))
    return replace(eqn, invars=[x, copy])


def rewritten(eqn, made, keep, batched):
    """Return an equation with the same result that needs fewer others."""
    if eqn.primitive is reshape_p and not batched:
        eqn = vector_product(eqn, made)
    if eqn.primitive is matmul_p:
        return without_transpose(eqn, made, batched)
    return with_one_mask(eqn, made, keep) if eqn.primitive is where_p else eqn


def vector_product(eqn, made):
    """Return `x @ y` for a reshape of the product of a row and `y`."""
    row, y = operands(eqn.invars[0], made, matmul_p) or (None, None)
    [x] = operands(row, made, reshape_p) or [None]
    if (x and [len(v.aval.shape) for v in (x, y, *eqn.outvars)] == [1, 2, 1]
            and row.aval.shape == (1, *x.aval.shape)):
        return replace(eqn, primitive=matmul_p, invars=[x, y], params={})
    return eqn


def without_transpose(eqn, made, batched):
    """Return `y @ x` for `x.T @ y`, and `x @ y` for `y @ x.T`.

    They are equal if `y` is a vector.  But vmap would compute the latter two
    in different ways.
    """
    x, y = eqn.invars
    for matrix, vector in ((x, y),) if batched else ((x, y), (y, x)):
        [flipped] = operands(matrix, made, transpose_p) or [None]
        if (flipped and made[matrix].params['axes'] == (1, 0)
                and vector.aval.ndim == 1 and x.aval.dtype == y.aval.dtype):
            return replace(eqn, invars=[v if v is vector else flipped
                                        for v in (y, x)])
    return eqn


def without_sign(eqn, made, uses, keep):
    """Return `x - y` for `x + -y`, and `x + y` for `x - -y`.

    In a product, the sign of a factor is the sign of the product.  The sign
    of a NaN can differ.
    """
    x, y = eqn.invars
    if eqn.outvars[0].aval.dtype.kind != 'f':
        return eqn
    for v, other in ((y, x), (x, y)) if eqn.primitive is add_p else ((y, x),):
        opposite = negated(v, made, uses, keep)
        if opposite:
            return Equation(sub_p if eqn.primitive is add_p else add_p,
                            [other, opposite], {}, eqn.outvars, eqn.line)
    return eqn


def negated(v, made, uses, keep, depth=6):
    """Return `-v`, if the program need not compute more operations for it."""
    eqn = made.get(v)
    if not eqn or v.aval.dtype.kind != 'f':
        return None
    x = eqn.invars[0]
    if eqn.primitive is neg_p:      # of which a copy could be laid out anew
        return x if len(v.aval.shape) < 2 or x in made and (
            made[x].primitive in FRESH) else None
    if eqn.primitive in (mul_p, div_p) and uses[v] == 1 and depth:
        for i, x in enumerate(eqn.invars):
            opposite = negated(x, made, uses, keep, depth - 1)
            if opposite:
                invars = [*eqn.invars[:i], opposite, *eqn.invars[i + 1:]]
                return keep(Equation(eqn.primitive, invars, {},
                                     [Var(v.aval)], eqn.line))[0]
    return None


def owner(v, made, views=VIEWS):
    """Return the variable that `v` is a view of, or `v` itself.

    An index that is an operand makes a copy, or fails if out of range.
    """
    while (eqn := made.get(v)) and eqn.primitive in views and (
            len(eqn.invars) == 1):
        [v] = eqn.invars
    return v


def products(eqn):
    """Expand a small power of an array into equations for products."""
    x, n = eqn.invars if eqn.primitive is pow_p else (None, None)
    if (type(n) is not Literal or type(n.val) is not int
            or n.val not in {0, *PRODUCTS} or x.aval.shape == ()
            or x.aval.dtype.kind != 'f'):
        return [eqn]
    if n.val == 0:      # even of nan
        return [Equation(broadcast_to_p, [Literal(x.aval.dtype.type(1))],
                         {'shape': x.aval.shape}, eqn.outvars, eqn.line)]
    powers, eqns = {1: x}, []
    for i, j in PRODUCTS[n.val]:
        powers[i + j] = Var(x.aval)
        eqns.append(Equation(mul_p, [powers[i], powers[j]], {},
                             [powers[i + j]], eqn.line))
    eqns[-1].outvars = eqn.outvars
    return eqns


def narrowed(eqn, invars, made, values):
    """Replace broadcast operands by smaller ones that NumPy broadcasts."""
    [out] = eqn.outvars
    for i, v in enumerate(invars):
        base = owner(v, made)
        smaller = operands(v, made, broadcast_to_p) or []
        if base in values and base.aval.dtype == v.aval.dtype:
            smaller = [*spread_number(values[base]), *smaller]
        for small in smaller:
            shorter = [*invars[:i], small, *invars[i + 1:]]
            if elementwise_type(eqn.primitive,
                                *[v.aval for v in shorter]) == out.aval:
                invars = shorter
                break
    return invars


def originals(invars, copies, made):
    """Return the operands of a product, without the copies it does not need.

    A product with a number has the layout of a copy anyway, like `2 * x ** 1`
    in the derivative of `x ** 2`.  A vector of ones affects no layout.
    """
    found = list(map(copies.get, invars, invars))
    if Literal in map(type, found):
        return found
    return [x if len(x.aval.shape) == 1 and is_number(
        *operands(x, made, broadcast_to_p) or [x], 1) else v
        for x, v in zip(found, invars)]


def spread_number(x):
    """Return the number that a constant broadcasts, if it does.

    Return it as two literals, weak and strong, or return an empty list.
    """
    if type(x) is not np.ndarray or x.size < 2 or x.dtype == float0 or any(
            stride for stride, n in zip(x.strides, x.shape) if n > 1) and (
            x.ndim > 1 or x.dtype.kind != 'f' or x[0] == 0
            or np.any(x != x[0])):
        return []
    return [Literal(x.item(0)), Literal(x[(0,) * x.ndim])]


def same_value(eqn):
    """Return the operand that the result equals bit for bit, or None."""
    rule = same_rules.get(eqn.primitive)
    v = rule(*eqn.invars) if rule else None
    if v is None or v.aval != eqn.outvars[0].aval or (
            v.aval.dtype.kind == 'c' and eqn.primitive in PIECEWISE):
        return None     # inf + 0j times 1 is inf + nan j
    return v


def is_copy(eqn, v, made, in_order, outs):
    """Return whether an equation makes a copy that the program needs.

    The caller needs a copy of an argument or a constant.  The program needs
    a copy of an array that may not be contiguous, because NumPy could sum the
    array in another order, or compute its functions with other instructions.

    Args:
        eqn: the equation.
        v: the operand that equals its result.
        made: the equation of each variable.
        in_order: the arguments and constants that are C-contiguous.
        outs: the results of the program.
    """
    is_out = eqn.outvars[0] in outs
    v = v if is_out else owner(v, made, {reshape_p, transpose_p})
    fresh = (made[v].primitive in FRESH if v in made
             else v in in_order and not is_out)
    return eqn.primitive in PIECEWISE and v.aval.shape and not fresh


def same_sum(x, y):
    """Drop -0.0 from a sum, but not 0.0, which turns -0.0 into 0.0."""
    zero = -0.0 if 'f' in (x.aval.dtype.kind, y.aval.dtype.kind) else 0
    return x if is_number(y, zero) else y if is_number(x, zero) else None


same_rules = {
    mul_p: lambda x, y: (
        x if is_number(y, 1) else y if is_number(x, 1) else None),
    add_p: same_sum, sub_p: lambda x, y: x if is_number(y, 0) else None,
    **dict.fromkeys([div_p, pow_p],
                    lambda x, y: x if is_number(y, 1) else None),
    **dict.fromkeys([astype_p, reshape_p, broadcast_to_p, stop_gradient_p,
                     real_p, conj_p], lambda x: x)}
