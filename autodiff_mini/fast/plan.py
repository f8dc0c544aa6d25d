"""Planning: where results go, and what is done piece by piece.

Memory is slower than arithmetic.  A result can take the place of an array
that is not needed any more, and a run of element-wise equations on large
arrays goes through them in blocks that stay in the cache.  Chapters 32
and 26.
"""

import math
from typing import NamedTuple

import numpy as np

from autodiff_mini.arrays import astype_p
from autodiff_mini.fast.simplify import (
    ELEMENTWISE, PIECEWISE, VIEWS, is_ordered, learn, opened)
from autodiff_mini.jaxprs import Equation, Var, programs_in
from autodiff_mini.primitives.elementwise import pow_p, sign_p, where_p
from autodiff_mini.primitives.indexing import add_at_p, index_p, scatter_p
from autodiff_mini.primitives.linalg import matmul_p
from autodiff_mini.primitives.reductions import reducing
from autodiff_mini.primitives.shapes import concatenate_p, reshape_p, stack_p

LARGE = 1024        # elements: what is smaller is not worth a thought
HUGE = 65_536       # elements: what does not fit into a fast cache
BLOCK = 16_384      # elements: what does
SCRATCH = 4_000_000     # bytes: what all arrays of a block may take

UFUNCS = ELEMENTWISE - VIEWS - {pow_p, where_p}
OVERWRITING = UFUNCS - {sign_p}     # with out=, that is seven times slower
FRESH = PIECEWISE | {concatenate_p, matmul_p, stack_p}
reducing.define(FRESH.add)
WRITES = {add_at_p, scatter_p}
learn(UFUNCS, OVERWRITING, FRESH)


class Work(NamedTuple):
    """A step of a running program, and the arrays that it makes and frees.

    Args:
        eqns: the equations that are computed.
        gone: the variables that are freed afterwards.
        into: {result: the operand whose array it takes}.
        pieces: how often the equations are computed, each time for a piece.
        scratch: the bytes of the arrays for the pieces.
        outs: the results that have arrays of their own, if not all have.
        ordered: whether arrays can be expected to be in row order, in the
            programs that an equation holds.
        rows: how many elements of the first axis a piece has; 0 if there are
            no pieces.
    """

    eqns: list[Equation]
    gone: list[Var] = ()
    into: dict = {}
    pieces: int = 1
    scratch: int = 0
    outs: list[Var] | None = None
    ordered: bool = True
    rows: int = 0


def plan(jaxpr, ordered=True) -> list[Work]:
    """Return what a program does, in order: equations, and blocks of them.

    Args:
        jaxpr: a program without calls.
        ordered: whether its arguments are C-contiguous NumPy arrays.  If they
            are not, nothing is overwritten, and there are no blocks.
    """
    in_order = c_ordered(jaxpr) if ordered else ()
    made = [v for eqn in jaxpr.eqns for v in eqn.outvars]
    if not any(map(is_large, [*jaxpr.constvars, *jaxpr.invars, *made])):
        return [Work([eqn], ordered=stays_ordered(eqn, in_order))
                for eqn in jaxpr.eqns]
    groups = runs(jaxpr, in_order)
    uses = last_uses(jaxpr, groups)
    return [placed(group[0], i, uses, in_order) if len(group) == 1
            else block(group, i, uses) for i, group in enumerate(groups)]


def stays_ordered(eqn, in_order):
    """Return whether all operands are, and stay, C-contiguous.

    The carry of a loop comes back as an operand.
    """
    return is_ordered(eqn, in_order) and (
        'counts' not in eqn.params
        or all(map(keeps_order, programs_of(eqn))))


def programs_of(eqn):
    """Return the programs that an equation holds."""
    return [program for x in eqn.params.values()
            for program in programs_in(x)]


def c_ordered(jaxpr) -> set:
    """Return the variables that are C-contiguous, if the arguments are."""
    found = {*jaxpr.invars}
    copied = set()      # what has no order, and a copy of it has this one
    for v, x in zip(jaxpr.constvars, jaxpr.consts, strict=True):
        if type(x) is np.ndarray and x.flags.c_contiguous:
            found.add(v)
        elif type(x) is np.ndarray and not any(x.strides):
            copied.add(v)
    for eqn in jaxpr.eqns:
        known = found | copied if eqn.primitive in WRITES else found
        if makes_order(eqn, is_ordered(eqn, known)):
            found.update(eqn.outvars)
    return found


def makes_order(eqn, ordered):
    """Return whether the results are C-contiguous, if the operands are."""
    ndim = len(eqn.outvars[0].aval.shape) if eqn.outvars else 0
    if eqn.primitive in FRESH or eqn.primitive in WRITES:
        return ordered or ndim < 2 or eqn.primitive is matmul_p and ndim < 3
    if eqn.primitive is index_p:
        return ordered and is_piece(eqn.params['indices'])
    if eqn.primitive is reshape_p:
        return ordered
    programs = programs_of(eqn)
    return ordered and programs != [] and all(map(keeps_order, programs))


def is_piece(indices):
    """Return whether an index selects what lies in one piece in memory."""
    chosen = [i for i in indices if i is not None]
    return all(type(i) is int for i in chosen[:-1]) and all(
        type(i) is int or i is Ellipsis or type(i) is slice
        and i.step in (None, 1) for i in chosen[-1:])


def keeps_order(jaxpr):
    """Return whether the results are C-contiguous, if the arguments are."""
    jaxpr = opened(jaxpr)
    return {*filter(is_variable, jaxpr.outvars)} <= c_ordered(jaxpr)


def is_variable(v):
    return type(v) is Var


def runs(jaxpr, in_order) -> list:
    """Return the equations in groups: most alone, some to be a block.

    An equation that needs nothing of the open run goes before it.
    """
    groups, run, made, shape = [], [], set(), None
    for eqn in jaxpr.eqns:
        out, fits = eqn.outvars[0], is_blockable(eqn, in_order)
        ends = (out.aval.shape != shape if fits
                else not made.isdisjoint(eqn.invars))
        if run and ends:
            groups += [run]
            run, made = [], set()
        if fits:
            run.append(eqn)
            made.add(out)
            shape = out.aval.shape
        else:
            groups.append([eqn])
    return [*groups, run] if run else groups


def is_blockable(eqn, in_order):
    """Return whether an equation can be done piece by piece."""
    shape = eqn.outvars[0].aval.shape
    return (eqn.primitive in PIECEWISE and math.prod(shape) >= HUGE
            and shape[0] > rows_of(shape) and is_ordered(eqn, in_order))


def rows_of(shape):
    """Return how many elements of the first axis make a block."""
    return max(1, BLOCK // math.prod(shape[1:]))


class Uses(NamedTuple):
    """When variables, and the arrays behind them, are used last.

    Args:
        owner: for each variable, the one whose array it is a view of.
        variable: for each variable, the number of a group.
        array: for each owner, the number of the last group that uses any
            view of it; infinity where others may hold one.
    """

    owner: dict
    variable: dict
    array: dict


def last_uses(jaxpr, groups) -> Uses:
    """Return what is used last when."""
    given = [*jaxpr.constvars, *jaxpr.invars]
    owner = {v: v for v in given}
    variable, array = {}, {}
    for i, group in enumerate(groups):
        for eqn in group:
            is_view = eqn.primitive in VIEWS
            for v in eqn.outvars:
                owner[v] = owner.get(eqn.invars[0], v) if is_view else v
            end = i if is_view or eqn.primitive in FRESH else math.inf
            for v in filter(is_variable, [*eqn.invars, *eqn.outvars]):
                variable[v] = i
                array[owner[v]] = max(array.get(owner[v], 0), end)
    for v in filter(is_variable, [*given, *jaxpr.outvars]):
        variable[v] = array[owner[v]] = math.inf
    return Uses(owner, variable, array)


def is_large(v):
    return math.prod(v.aval.shape) >= LARGE


def placed(eqn, i, uses, in_order):
    """Return the work of one equation; `i` is the number of its group."""
    ordered = stays_ordered(eqn, in_order)
    variables = dict.fromkeys(
        filter(is_variable, [*eqn.invars, *eqn.outvars]))

    def is_free(v):
        sharing = [w for w in variables if uses.owner[w] is v]
        return (ordered and is_large(v) and sharing == [v]
                and uses.array[v] == i)
    taken = overwritten(eqn, is_free)
    gone = [v for v in variables if v is not taken and is_large(v)
            and uses.variable[v] == i]
    return Work([eqn], gone, {eqn.outvars[0]: taken} if taken else {},
                ordered=ordered)


def overwritten(eqn, is_free):
    """Return the operand whose array can take the result, or None."""
    if eqn.primitive in OVERWRITING:
        for v in eqn.invars:
            if (type(v) is Var and v.aval == eqn.outvars[0].aval
                    and is_free(v)):
                return v
    return None


def block(eqns, i, uses):
    """Return the work of a run of equations, to be done piece by piece.

    Within it all arrays are of one shape, so a result can take any array that
    is free.  A new piece is made before the one of the same name is freed.

    Args:
        eqns: element-wise equations of one shape.
        i: the number of their group.
        uses: when variables are used last.
    """
    made = [eqn.outvars[0] for eqn in eqns]
    outs = [v for v in made if uses.variable[v] > i]
    inner = {*made}.difference(outs)
    last = {v: j for j, eqn in enumerate(eqns) for v in eqn.invars}
    free, into = [], {}
    for j, eqn in enumerate(eqns):
        [out], taken = eqn.outvars, None
        done = [v for v in dict.fromkeys(eqn.invars)
                if v in inner and last[v] == j]
        if out in inner:
            taken = overwritten(eqn, done.__contains__)
            if taken is None and eqn.primitive in UFUNCS:
                taken = next((v for v in reversed(free)
                              if v.aval.dtype == out.aval.dtype), None)
        if taken:
            into[out] = taken
        free = [v for v in free + done if v is not taken]
    shape = made[0].aval.shape
    rows, row = rows_of(shape), math.prod(shape[1:])
    new = [v.aval.dtype.itemsize for v in inner.difference(into)]
    while rows > 1 and rows * row * sum(new) > SCRATCH:
        rows //= 2
    gone = [v for v in last if type(v) is Var and is_large(v)
            and v not in inner and uses.variable[v] == i]
    return Work(eqns, gone, into, math.ceil(shape[0] / rows),
                (sum(new) + max(new, default=0)) * rows * row, outs,
                rows=rows)


def are_new(jaxpr):
    """Return whether each result is new: no argument, constant, or view.

    A scalar must be a NumPy scalar, not an array without axes.
    """
    made = {v: eqn.primitive for eqn in jaxpr.eqns for v in eqn.outvars}
    scalar = FRESH - {astype_p, where_p}
    return len({*jaxpr.outvars}) == len(jaxpr.outvars) and all(
        made.get(v) in (FRESH if v.aval.shape else scalar)
        for v in jaxpr.outvars)
