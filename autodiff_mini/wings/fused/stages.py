"""Stages: a block as kernels, and NumPy's functions between them.

NumPy computes the functions whose bits only it has, such as `exp`.  All the
arithmetic between two of them is a kernel, which reads and writes each array
once.
"""

import math
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from autodiff_mini.core.jaxprs import (
    Equation, Jaxpr, Literal, Var, drop_dead, programs_of)
from autodiff_mini.core.memory import bits
from autodiff_mini.core.types import astype_p
from autodiff_mini.core.zeros import Zero
from autodiff_mini.primitives.elementwise import (
    abs_p, add_p, and_p, div_p, eq_p, floor_p, ge_p, gt_p, invert_p,
    isfinite_p, le_p, lt_p, max_p, min_p, mul_p, ne_p, neg_p, or_p, sign_p,
    sqrt_p, sub_p, where_p, xor_p)
from autodiff_mini.wings.fast.plan import (
    block, c_ordered, is_blockable, is_ordered, last_uses, placed, plan, runs)
from autodiff_mini.wings.fast.simplify import PIECEWISE

# What kernels compute.  A STRICT operation needs its operands in any case.
STRICT = {
    add_p: '{} + {}', sub_p: '{} - {}', mul_p: '{} * {}', div_p: '{} / {}',
    neg_p: '-{}', abs_p: 'abs({})', sqrt_p: 'sqrt({})', floor_p: 'floor({})',
    astype_p: '{}'}
TESTS = {lt_p: '{} < {}', le_p: '{} <= {}', gt_p: '{} > {}',
         ge_p: '{} >= {}', eq_p: '{} == {}', ne_p: '{} != {}',
         isfinite_p: 'abs({}) < inf'}
LOGIC = {and_p: '{} & {}', or_p: '{} | {}', xor_p: '{} ^ {}',
         invert_p: 'not {}'}
CHOICES = {
    where_p: 'choose({}, {}, {})',
    max_p: 'choose(({0} > {1}) | ({0} != {0}), {0}, {1})',
    min_p: 'choose(({0} < {1}) | ({0} != {0}), {0}, {1})',
    sign_p: 'choose({0} != {0}, {0}, {kind}({0} > 0) - {kind}({0} < 0))'}
COMPARISONS = TESTS.keys() - {isfinite_p}
TEMPLATES = STRICT | TESTS | LOGIC | CHOICES
RAISING = {add_p, sub_p, mul_p, div_p, sqrt_p, astype_p}    # set flags
SLOW = {div_p, sqrt_p}
REPEATED = 4    # operations: a value that takes fewer is not worth storing


def is_real(v):
    """Return whether a kernel can compute with an operand as a number."""
    if type(v) is Literal:
        return type(v.val) in (bool, int, float, np.float32, np.float64) and (
            type(v.val) is not int or abs(v.val) <= 2**53)
    return v.aval.dtype in (np.float32, np.float64)


def working_dtype(eqn):
    """Return the dtype that an equation of a kernel computes in."""
    if eqn.primitive not in TESTS:
        return eqn.outvars[0].aval.dtype
    return max((v.aval.dtype for v in eqn.invars if not v.aval.weak_type),
               default=np.dtype(float))


def is_arithmetic(eqn):
    """Return whether a kernel can compute an equation, bit for bit."""
    primitive, xs, [out] = eqn.primitive, eqn.invars, eqn.outvars
    is_mask = lambda v: type(v) is Var and (
        v.aval.dtype, v.aval.shape) == (bool, out.aval.shape)
    if primitive in LOGIC or primitive in COMPARISONS and all(
            map(is_mask, xs)):
        return all(map(is_mask, xs))
    if primitive in TESTS:
        return all(map(is_real, xs)) and all(
            map(fits(working_dtype(eqn)), xs))
    tests, xs = xs[:primitive is where_p], xs[primitive is where_p:]
    dtype = out.aval.dtype
    return (primitive in TEMPLATES and dtype in (np.float32, np.float64)
            and all(map(is_mask, tests)) and all(map(fits(dtype), xs))
            and all(is_real(v) or primitive in STRICT and is_mask(v)
                    for v in xs)
            and (primitive not in (max_p, min_p) or chooses_the_second()))


def fits(dtype):
    """Return a function: whether a literal is as finite in a dtype."""
    def fits_v(v):
        with np.errstate(all='ignore'):
            return type(v) is Var or isinstance(v.val, Zero) is False and (
                np.isfinite(v.val) == np.isfinite(dtype.type(v.val)))
    return fits_v


@cache
def chooses_the_second():
    """Return whether NumPy chooses a first NaN, or the second of equals.

    They can be 0.0 and -0.0.  NumPy has vector instructions for this, whose
    rules differ, so test pairs of arrays and numbers at all places.
    """
    values = np.array([0.0, -0.0, np.nan, 1.0])
    for dtype in np.float32, np.float64:
        left = np.repeat(values, 44).astype(dtype)
        right = np.tile(values, 44).astype(dtype)
        for x, y in [(left, right), *[(left, z) for z in right[:4]],
                     *[(z, right) for z in left[::44]]]:
            for f, test in (np.maximum, np.greater), (np.minimum, np.less):
                mine = np.where(test(x, y) | np.isnan(x), x, y)
                for n in range(1, 20):
                    a, b = [z[:-n] if z.shape else z for z in (x, y)]
                    if bits(f(a, b)).tolist() != bits(mine[:-n]).tolist():
                        return False
    return True


class Kernel(NamedTuple):
    """Arithmetic that runs as one compiled loop.

    Args:
        eqns: the equations, in order.
        ins: the arrays that it reads.
        outs: the arrays that it fills.
    """

    eqns: list[Equation]
    ins: list[Var]
    outs: list[Var]


def fused_plan(jaxpr, ordered=True) -> list:
    """Return the steps of a program like `plan`, with smaller blocks.

    Args:
        jaxpr: a program without calls.
        ordered: whether its arguments are C-contiguous NumPy arrays.
    """
    if not ordered:
        return plan(jaxpr, ordered)
    in_order, slices = c_ordered(jaxpr)
    groups = []
    for group in runs(jaxpr, partial(can_be_fused, in_order=in_order)):
        is_block = is_worth_it(group) or len(group) > 1 and all(
            is_blockable(eqn, in_order) for eqn in group)
        groups += [group] if is_block else [[eqn] for eqn in group]
    uses = last_uses(jaxpr, groups)
    return [placed(group[0], i, uses, in_order, slices) if len(group) == 1
            else block(group, i, uses) for i, group in enumerate(groups)]


def can_be_fused(eqn, in_order):
    """Return whether an equation can be part of a block.

    All arrays must have one shape, and be contiguous.
    """
    shape = eqn.outvars[0].aval.shape
    return (eqn.primitive in PIECEWISE and math.prod(shape) > 0
            and shape != () and is_ordered(eqn, in_order)
            and all(v.aval.shape in (shape, ()) for v in eqn.invars))


def is_worth_it(eqns):
    """Return whether kernels take less time than NumPy for a group.

    Calling a kernel takes as long as two calls of NumPy, and switching
    between kernels and NumPy as long as a few.
    """
    if len(eqns) == 1:
        return False
    depth = depths(eqns)
    found = [depth[v] for eqn in eqns if is_arithmetic(eqn)
             for v in eqn.outvars]
    saved = len(found) - len({*found})
    size = math.prod(eqns[0].outvars[0].aval.shape)
    return saved * (1 + size / 2000) >= (
        4 if len({*depth.values()}) > 1 else 2)


def depths(eqns) -> dict:
    """Return how many NumPy functions a value needs in sequence."""
    depth = {}
    for eqn in eqns:
        n = max((depth.get(v, 0) for v in eqn.invars), default=0)
        depth[eqn.outvars[0]] = n + (not is_arithmetic(eqn))
    return depth


def why_not(eqn, ordered):
    """Return why NumPy computes an equation, or Python a loop.

    Args:
        eqn: the equation.
        ordered: whether its operands are C-contiguous.
    """
    operands = [v for v in eqn.invars + eqn.outvars if type(v) is Var]
    shapes = {v.aval.shape for v in operands}
    strange = {str(v.aval.dtype) for v in operands} - KNOWN
    if programs_of(eqn):
        return 'not a loop of single numbers, or its steps need NumPy'
    if eqn.primitive not in PIECEWISE:
        return 'not element-wise'
    if shapes == {()}:
        return 'single numbers'
    if len(shapes - {()}) > 1:
        return 'operands have several shapes'
    if not ordered:
        return 'arrays are not contiguous'
    if strange:
        return f'of {", ".join(sorted(strange))}'
    if is_arithmetic(eqn):
        return 'too little arithmetic in one place'
    if eqn.primitive in TEMPLATES:
        return 'unusual operands'
    return 'only NumPy gives these bits'


KNOWN = {'bool', 'float32', 'float64'}


def stages(eqns, outs) -> list:
    """Return the steps of a block: kernels, and equations for NumPy.

    A value that needs `n` NumPy functions in sequence is computed in kernel
    `n`.

    Args:
        eqns: the equations of a block.
        outs: the variables whose values are needed after the block.
    """
    depth, kernels, calls, made = depths(eqns), {}, {}, {}
    for eqn in eqns:
        [out] = eqn.outvars
        if is_arithmetic(eqn):
            made[out] = eqn
        group = kernels if out in made else calls
        group.setdefault(depth[out], []).append(eqn)
    stored = {*outs}.union(*[eqn.invars for group in calls.values()
                             for eqn in group])
    bodies = {n: with_earlier(kernels[n], made, stored)
              for n in sorted(kernels)}
    steps = []
    for n in range(max(depth.values()) + 1):
        steps += calls.get(n, [])
        outs = [eqn.outvars[0] for eqn in kernels.get(n, ())
                if eqn.outvars[0] in stored]
        if outs:
            body = drop_dead(Jaxpr([], [], bodies[n], outs, [])).eqns
            inside = {eqn.outvars[0] for eqn in body}
            used = dict.fromkeys(v for eqn in body for v in eqn.invars)
            steps.append(Kernel(
                body, [v for v in used if type(v) is Var and v.aval.shape
                       and v not in inside], outs))
    return steps


def with_earlier(eqns, made, stored):
    """Return the equations of a kernel, with some of earlier kernels.

    A value of an earlier kernel is computed again if that is cheaper than
    storing it.  Otherwise it is added to `stored`.

    Args:
        eqns: the equations of the kernel.
        made: the equation of each value that a kernel computes.
        stored: the values that have an array.
    """
    inside, body = {eqn.outvars[0] for eqn in eqns}, []

    def price(v):
        """Return how many operations computing `v` in this kernel takes."""
        if v not in made or v in stored or v in inside:
            return 0
        return sum(map(price, made[v].invars)) + (
            REPEATED + 1 if made[v].primitive in SLOW else 1)

    def bring(v):
        if v not in made or v in stored or v in inside:
            return
        if price(v) > REPEATED:
            stored.add(v)
            return
        for w in made[v].invars:
            bring(w)
        inside.add(v)
        body.append(made[v])
    for eqn in eqns:
        for v in eqn.invars:
            bring(v)
        body.append(eqn)
    return body


def unneeded(eqns, outs) -> list:
    """Return the values whose flags are lost if LLVM leaves them out.

    A choice needs only the operand that is chosen, and a test whose result
    LLVM knows needs none.  A kernel keeps the bits of such a value.

    Args:
        eqns: the equations of a kernel.
        outs: the variables that it stores for each element or step.
    """
    alive, found = {*outs}, []
    for eqn in reversed(eqns):
        [out] = eqn.outvars
        if out not in alive and eqn.primitive in RAISING:
            found.append(out)
            alive.add(out)
        if out in alive and eqn.primitive in STRICT:
            alive.update(eqn.invars)
    return found
