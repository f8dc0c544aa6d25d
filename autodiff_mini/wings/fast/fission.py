"""Fission: move work out of a loop.

Most of a body does not depend on the previous step.  `vmap` runs that part
for all steps in one pass, before or after the loop.  A carry that only adds
up values becomes one sum.  See the page *A second compiler*.
"""

import math
from collections import Counter
from typing import NamedTuple

import numpy as np

from autodiff_mini.calls.loops import hoist, scan_p, split
from autodiff_mini.calls.programs import (
    evaluate, others, remembered, stage_program, vmap_jaxpr)
from autodiff_mini.core.jaxprs import Jaxpr, Var, drop_dead
from autodiff_mini.core.names import TraceTag
from autodiff_mini.core.trace import Primitive, current_trace
from autodiff_mini.core.types import ORDINARY, astype_p
from autodiff_mini.interpreters import abstract, lowering
from autodiff_mini.primitives.elementwise import add_p
from autodiff_mini.primitives.linalg import matmul_p
from autodiff_mini.primitives.shapes import reshape_p, stack_p
from autodiff_mini.wings.fast.loop_source import loop_p
from autodiff_mini.wings.fast.simplify import (
    FRESH, PIECEWISE, VIEWS, opened, opening_rules, simplify)

MOST = 4_000_000    # the most elements to keep for all steps


class Parts(NamedTuple):
    """The equations of a body, by when they run.

    Args:
        first: run once, because their operands are the same at every step.
        before: run for all steps in one pass, before the loop.
        core: run step by step.
        after: run for all steps in one pass, after the loop.
        sums: maps the index of a carry to the variable that is added to it,
            or to two whose product is.
        kept: the variables with a value stored for each step.
    """

    first: list
    before: list
    core: list
    after: list
    sums: dict
    kept: set


def taken_apart(body, counts) -> Parts:
    """Split the equations of a body by their dependence on the carry."""
    _, carry, xs = split(body.invars, counts)
    ends = body.outvars[:counts[1]]
    sums = added_up(body, carry, ends)
    ends_of_sums = {ends[i] for i in sums}
    made = [v for vs in sums.values() for v in vs]
    wanted = [*others(ends, [i in sums for i in range(len(ends))]),
              *body.outvars[counts[1]:], *made]
    eqns = drop_dead(Jaxpr([], [], [
        eqn for eqn in body.eqns if eqn.outvars[0] not in ends_of_sums],
        wanted, [])).eqns
    varying = {*xs}
    waiting = {v for v, end in zip(carry, ends) if end is not v}
    strange = set()     # variables that must be computed in the loop
    for eqn in eqns:
        if is_strange(eqn, varying, waiting):
            strange.update(eqn.outvars)
            waiting.update(eqn.outvars)
        for found in (varying, waiting):
            if not found.isdisjoint(eqn.invars):
                found.update(eqn.outvars)
    needed = strange | {*ends} - ends_of_sums
    parts = Parts([], [], [], [], sums, set(made))
    for eqn in reversed(eqns):
        out = eqn.outvars[0]
        if out not in waiting:
            part = parts.before if out in varying else parts.first
        elif needed.isdisjoint(eqn.outvars):
            part = parts.after
        else:
            part = parts.core
            needed.update(eqn.invars)
            if eqn.primitive is reshape_p:
                parts.after.append(eqn)     # so its rows need not be kept
        part.append(eqn)
        if part is parts.before or part is parts.after:
            parts.kept.update(eqn.invars, eqn.outvars)
    for part in parts[:4]:
        part.reverse()
    return parts._replace(kept=parts.kept & (waiting | varying - {*xs}))


def is_strange(eqn, varying, waiting):
    """Return whether an equation must stay in the loop.

    A user's primitive may have no vmap rule, and a Python number stored in a
    row of an array is no longer weakly typed.  NumPy warns of the overflow of
    a single integer, but not of an array's.
    """
    if eqn.primitive not in FRESH | VIEWS:
        return True
    if any(v in waiting and v.aval.weak_type for v in eqn.invars):
        return True
    [out], moving = eqn.outvars, varying | waiting
    return (eqn.primitive in PIECEWISE and out.aval.shape == ()
            and out.aval.dtype.kind in 'iu' and eqn.primitive is not astype_p
            and not moving.isdisjoint(eqn.invars))


def added_up(body, carry, ends) -> dict:
    """Return the addends of each carry that is only a running sum.

    Nothing else may read the carry, and no step may change its type.
    """
    uses = Counter(v for eqn in body.eqns for v in eqn.invars)
    uses.update(body.outvars)
    maker = {v: eqn for eqn in body.eqns for v in eqn.outvars}
    sums = {}
    for i, (start, end) in enumerate(zip(carry, ends, strict=True)):
        eqn = maker.get(end)
        if (eqn is None or eqn.primitive is not add_p
                or start not in eqn.invars or uses[start] > 1
                or uses[end] > 1 or end.aval.dtype.kind != 'f'
                or end.aval.weak_type):
            continue
        [addend] = [v for v in eqn.invars if v is not start]
        if type(addend) is Var and addend.aval == end.aval == start.aval:
            product = maker.get(addend)
            sums[i] = [addend]
            if (product and uses[addend] == 1
                    and product.primitive is matmul_p
                    and all(type(v) is Var and len(v.aval.shape) == 2
                            for v in product.invars)):
                sums[i] = product.invars
    return sums


@remembered
def fission(jaxpr, avals, length, reverse, counts):
    """Return a scan as a program in which only its core is a loop.

    Args:
        jaxpr: the body.
        avals: the types of the operands of the scan.
        length, reverse, counts: the parameters of the scan.
    """
    if length == 1:
        return one_step(jaxpr, avals, counts)
    body = simplify(opened(jaxpr), batched=True)
    parts = taken_apart(body, counts)
    if length * sum(math.prod(v.aval.shape) for v in parts.kept) > MOST:
        parts = Parts([], [], body.eqns, [], {}, set())
    _, carry, xs = split(body.invars, counts)
    ends, ys = body.outvars[:counts[1]], body.outvars[counts[1]:]
    stays = [i for i in range(len(carry))
             if i not in parts.sums and ends[i] is not carry[i]]

    def scan(*operands):
        env = dict(zip(body.invars, operands, strict=True))
        starts = [env[v] for v in carry]
        for v, end in zip(carry, ends):
            if end is not v:
                del env[v]
        rows = {*xs}    # variables that have the axis of the steps

        def compute(eqns, outs):
            """Compute variables for all steps in one pass."""
            outs = [v for v in outs if v not in rows]
            part = as_program(body, parts.first + eqns, outs)
            values = [env[v] for v in part.invars]
            mapped = tuple(v in rows for v in part.invars)
            part, *_ = vmap_jaxpr(part, mapped, (True,) * len(outs), length)
            env.update(zip(outs, evaluate(part, *values), strict=True))
            rows.update(outs)

        compute(parts.before, results(parts.before))
        late = [*ys, *(v for vs in parts.sums.values() for v in vs)]
        kept = [v for v in as_program(body, parts.first + parts.after,
                                      late).invars if v not in env]
        core = as_program(body, parts.first + parts.core,
                          [*[ends[i] for i in stays], *kept])
        fixed = [v for v in core.invars if v in env and v not in rows]
        moving = [v for v in core.invars if v in rows]
        core.invars = [*fixed, *[carry[i] for i in stays], *moving]
        first, core = hoist(simplify(core), len(fixed))
        fixed = [env[v] for v in fixed]
        fixed += evaluate(first, *fixed)
        line = body.eqns[0].line if body.eqns else None
        current_trace().line = line
        last = loop_p.bind(
            *fixed, *[starts[i] for i in stays], *[env[v] for v in moving],
            jaxpr=core, length=length, reverse=reverse,
            counts=(len(fixed), len(stays)))
        env.update(zip(kept, last[len(stays):], strict=True))
        rows.update(kept)
        compute(parts.after, late)
        current_trace().line = line
        outs = dict(enumerate(starts)) | dict(zip(stays, last))
        for i, vs in parts.sums.items():
            outs[i] = add_up_p.bind(starts[i], *[env[v] for v in vs],
                                    reverse=reverse)
        return [*outs.values(), *[env[v] for v in ys]]
    return stage_program(scan, avals, TraceTag('scan', Jaxpr))


def one_step(body, avals, counts):
    """Return a scan of one step as a program without a loop."""
    def step(*operands):
        consts, carry, xs = split(operands, counts)
        outs = evaluate(body, *consts, *carry, *[x[0] for x in xs])
        return [*outs[:counts[1]], *[stack_p.bind(y, axis=0)
                                     for y in outs[counts[1]:]]]
    return stage_program(step, avals, TraceTag('scan', Jaxpr))


def results(eqns):
    return [v for eqn in eqns for v in eqn.outvars]


def as_program(body, eqns, outs):
    """Return some equations of a body as a program of their own."""
    part = drop_dead(Jaxpr(body.constvars, [], eqns, outs, body.consts))
    made = {*results(part.eqns), *part.constvars}
    used = [v for eqn in part.eqns for v in eqn.invars] + outs
    part.invars = [v for v in dict.fromkeys(used)
                   if type(v) is Var and v not in made]
    return part


def add_up(start, x, y=None, reverse=False):
    """Return `start` plus the rows of `x`, or the products `x[i] @ y[i]`.

    Rows are added in the order of the steps, so the bits are those of the
    loop.  The products become one large product, which has other last
    digits, unless a sum could overflow.
    """
    is_plain = {type(start), type(x)} <= ORDINARY
    if is_plain and y is None:
        return add_rows(start, x[::-1] if reverse else x)
    if is_plain and stays_finite(start, x, y):
        (steps, rows, count), columns = x.shape, y.shape[2]
        return start + (
            np.reshape(np.swapaxes(x, 0, 1), (rows, steps * count))
            @ np.reshape(y, (steps * count, columns)))
    for i in range(len(x))[::-1] if reverse else range(len(x)):
        start = start + (x[i] if y is None else x[i] @ y[i])
    return start


add_up_p = Primitive('add_up', add_up)
abstract.rules[add_up_p] = lambda start, *rows, reverse: start


def add_up_lowering(emitter, *names, reverse):
    function = emitter.constant('add_up', add_up)
    return f'{function}({", ".join(names)}{", reverse=True" * reverse})'


lowering.rules[add_up_p] = add_up_lowering


def stays_finite(start, x, y):
    """Return whether no sum of `start` and the products can overflow.

    By the Cauchy–Schwarz inequality, no such sum is larger than the bound.
    """
    with np.errstate(all='ignore'):
        start, x, y = [np.sqrt(np.vdot(z, z)) for z in (start, x, y)]
        return start + x * y < np.finfo(x.dtype).max / 2


def add_rows(start, x):
    """Return the sum of `start` and rows, added in order.

    NumPy adds rows one after the other, but single numbers in pairs.
    """
    rows = np.empty((len(x) + 1, *x.shape[1:]), x.dtype)
    rows[0], rows[1:] = start, x
    if rows[0].size == 1:
        return np.add.accumulate(rows)[-1].copy()
    return np.add.reduce(rows, initial=None)    # 0 + -0.0 would be 0.0


opening_rules[scan_p] = lambda *avals, jaxpr, length, reverse, counts: (
    length and fission(jaxpr, avals, length, reverse, counts))
