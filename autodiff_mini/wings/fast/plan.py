"""Planning: where results are stored, and what runs piece by piece.

Memory is slower than arithmetic.  A result can overwrite an array that is no
longer needed, and a run of element-wise equations on large arrays processes
them in blocks that stay in the cache.  See the page *A second compiler*.
"""

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from autodiff_mini.calls.programs import remembered
from autodiff_mini.core.jaxprs import Equation, Var, programs_of
from autodiff_mini.core.types import astype_p
from autodiff_mini.primitives.elementwise import pow_p, sign_p, where_p
from autodiff_mini.primitives.indexing import add_at_p, index_p, scatter_p
from autodiff_mini.primitives.linalg import matmul_p
from autodiff_mini.primitives.shapes import reshape_p
from autodiff_mini.wings.fast.simplify import (
    ELEMENTWISE, FRESH, PIECEWISE, VIEWS, learn, opened)

LARGE = 1024        # elements: smaller arrays are not worth planning
HUGE = 65_536       # elements: too many for a fast cache
BLOCK = 16_384      # elements: few enough for it
SCRATCH = 1_000_000     # bytes: for all arrays of a block; malloc keeps them

UFUNCS = ELEMENTWISE - VIEWS - {pow_p, where_p}
WRITES = {add_at_p, scatter_p}
learn(UFUNCS)


class Work(NamedTuple):
    """A step of a running program, and the arrays that it makes and frees.

    Args:
        eqns: the equations to compute.
        gone: the variables to free afterwards.
        into: {result: the variable whose array it overwrites}.
        pieces: the number of pieces; the equations run for each.
        scratch: the bytes of the arrays for the pieces.
        outs: the results with arrays of their own, if not all have them.
        ordered: whether programs nested in an equation can expect arrays in
            row order.
        rows: the length of a piece along the first axis, or 0 without
            pieces.
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
    """Return the steps of a program, in order: equations and blocks.

    Args:
        jaxpr: a program without calls.
        ordered: whether its arguments are C-contiguous NumPy arrays.  If not,
            no array is overwritten, and there are no blocks.
    """
    in_order, slices = c_ordered(jaxpr) if ordered else (set(), set())
    made = [v for eqn in jaxpr.eqns for v in eqn.outvars]
    if not any(map(is_large, jaxpr.constvars + jaxpr.invars + made)):
        return [Work([eqn], ordered=stays_ordered(eqn, in_order))
                for eqn in jaxpr.eqns]
    groups = runs(jaxpr, partial(is_blockable, in_order=in_order))
    uses = last_uses(jaxpr, groups)
    return [placed(group[0], i, uses, in_order, slices) if len(group) == 1
            else block(group, i, uses) for i, group in enumerate(groups)]


def stays_ordered(eqn, in_order):
    """Return whether all operands are C-contiguous and stay so.

    A loop passes its carry to the next step as an operand.
    """
    return is_ordered(eqn, in_order) and (
        'counts' not in eqn.params
        or all(map(keeps_order, programs_of(eqn))))


def is_ordered(eqn, in_order):
    """Return whether all operands of an equation are C-contiguous.

    A loop reads its rows one by one, and a single number has no order.
    """
    operands = eqn.invars
    if 'counts' in eqn.params:
        start = sum(eqn.params['counts'])
        operands = operands[:start] + [
            v for v in operands[start:] if math.prod(v.aval.shape[1:]) > 1
            and (v, 'rows') not in in_order]
    return in_order.issuperset(filter(is_variable, operands))


def c_ordered(jaxpr) -> tuple:
    """Return the variables that are C-contiguous, if the arguments are.

    A pair `(v, 'rows')` says that each row of `v` is.  Also return those that
    NumPy computes C-contiguous arrays from.  They include slices, whose
    strides do not increase from axis to axis.
    """
    arrays = [(v, x) for v, x in zip(jaxpr.constvars, jaxpr.consts)
              if type(x) is np.ndarray]
    found = {*jaxpr.invars, *(v for v, x in arrays if x.flags.c_contiguous)}
    slices = found | {v for v, x in arrays if not any(x.strides)}
    for eqn in jaxpr.eqns:
        if makes_order(eqn, found, slices):
            found.update(eqn.outvars)
            slices.update(eqn.outvars)
            continue
        if (eqn.primitive in (index_p, reshape_p) and len(eqn.invars) == 1
                and is_ordered(eqn, slices)):
            slices.update(eqn.outvars)
        if eqn.primitive is index_p and keeps_rows(eqn, found):
            found.update((v, 'rows') for v in eqn.outvars)
    return found, slices


def makes_order(eqn, in_order, slices):
    """Return whether the results are C-contiguous; see c_ordered."""
    ndim = len(eqn.outvars[0].aval.shape) if eqn.outvars else 0
    if eqn.primitive in WRITES:     # it copies the first operand
        return ndim < 2 or eqn.invars[0] in slices
    if eqn.primitive in FRESH:
        return (ndim < 2 or eqn.primitive is matmul_p and ndim < 3
                or is_ordered(eqn, slices))
    if not is_ordered(eqn, in_order):
        return False
    if eqn.primitive is index_p:
        return is_piece(eqn.params['indices'])
    programs = programs_of(eqn)
    return eqn.primitive is reshape_p or (
        programs != [] and all(map(keeps_order, programs)))


def keeps_rows(eqn, in_order):
    """Return whether an index selects a contiguous piece of each row."""
    [v, *_], [first, *rest] = eqn.invars, eqn.params['indices'] or [0]
    return (not in_order.isdisjoint([v, (v, 'rows')])
            and type(first) is slice and is_piece(rest))


def is_piece(indices):
    """Return whether an index selects one contiguous piece of memory."""
    chosen = [i for i in indices if i is not None]
    return all(type(i) is int for i in chosen[:-1]) and all(
        type(i) is int or i is Ellipsis or type(i) is slice
        and i.step in (None, 1) for i in chosen[-1:])


@remembered
def keeps_order(jaxpr):
    """Return whether the results are C-contiguous, if the arguments are."""
    jaxpr = opened(jaxpr)
    return {*filter(is_variable, jaxpr.outvars)} <= c_ordered(jaxpr)[0]


def is_variable(v):
    return type(v) is Var


def runs(jaxpr, is_part) -> list:
    """Return the equations in groups of one, or of several for a block.

    An equation that does not depend on the open run is put before it.

    Args:
        jaxpr: the program.
        is_part: whether a block can contain an equation.
    """
    groups, run, made, shape = [], [], set(), None
    for eqn in jaxpr.eqns:
        out, fits = eqn.outvars[0], is_part(eqn)
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
    """Return whether an equation can be computed piece by piece."""
    shape = eqn.outvars[0].aval.shape
    return (eqn.primitive in PIECEWISE and math.prod(shape) >= HUGE
            and shape[0] > rows_of(shape) and is_ordered(eqn, in_order))


def rows_of(shape):
    """Return the length of a block along the first axis."""
    return max(1, BLOCK // math.prod(shape[1:]))


class Uses(NamedTuple):
    """The last uses of variables and of the arrays behind them.

    Args:
        owner: for each variable, the variable whose array it is a view of.
        variable: for each variable, the number of the last group to use it.
        array: for each owner, the number of the last group that uses a view
            of it, or infinity if code outside the program can hold one.
    """

    owner: dict
    variable: dict
    array: dict


def last_uses(jaxpr, groups) -> Uses:
    """Return the Uses of a program."""
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


def placed(eqn, i, uses, in_order, slices):
    """Return the Work of one equation; `i` is the number of its group."""
    ordered, is_new = stays_ordered(eqn, in_order), is_ordered(eqn, slices)
    used = dict.fromkeys(filter(is_variable, [*eqn.invars, *eqn.outvars]))

    def is_free(v):
        sharing = [w for w in used if uses.owner[w] is v]
        return (is_new and is_large(v) and sharing == [v]
                and uses.array[v] == i)
    taken = overwritten(eqn, is_free)
    gone = [v for v in used if v is not taken and is_large(v)
            and uses.variable[v] == i]
    return Work([eqn], gone, {eqn.outvars[0]: taken} if taken else {},
                ordered=ordered)


def overwritten(eqn, is_free):
    """Return the operand whose array can hold the result, or None."""
    if eqn.primitive not in UFUNCS - {sign_p}:
        return None     # with out=, np.sign is seven times slower
    return next((v for v in eqn.invars if type(v) is Var
                 and v.aval == eqn.outvars[0].aval and is_free(v)), None)


def block(eqns, i, uses):
    """Return the Work of a run of equations, computed piece by piece.

    All its arrays have one shape, so a result can take any free array.  A new
    piece is allocated before the old piece of the same name is freed.

    Args:
        eqns: element-wise equations of one shape.
        i: the number of their group.
        uses: the last uses of variables.
    """
    outs = [eqn.outvars[0] for eqn in eqns
            if uses.variable[eqn.outvars[0]] > i]
    eqns = in_turn(eqns, outs)
    made = [eqn.outvars[0] for eqn in eqns]
    inner = {*made}.difference(outs)
    last = {v: j for j, eqn in enumerate(eqns) for v in eqn.invars}
    free, into = {}, {}     # `free` is a set with an order
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
        free.update(dict.fromkeys(done))
        free.pop(taken, None)
    shape = made[0].aval.shape
    row = math.prod(shape[1:])
    new = [v.aval.dtype.itemsize for v in inner.difference(into)]
    rows = max(1, min(rows_of(shape), SCRATCH // (row * sum(new) or 1)))
    rows = math.ceil(shape[0] / math.ceil(shape[0] / rows))     # all alike
    gone = [v for v in last if type(v) is Var and is_large(v)
            and v not in inner and uses.variable[v] == i]
    return Work(eqns, gone, into, math.ceil(shape[0] / rows),
                (sum(new) + max(new, default=0)) * rows * row, outs,
                rows=rows)


def in_turn(eqns, outs):
    """Return equations in an order in which fewer results wait for others.

    An equation comes after its operands, the one that needs most arrays
    first, and a result comes after the one before it.
    """
    makes, need = {eqn.outvars[0]: eqn for eqn in eqns}, {}
    for v, eqn in makes.items():
        needs = sorted([need[x] for x in {*eqn.invars} if x in need])
        need[v] = max([n + i for i, n in enumerate(needs[::-1])], default=1)
    order, waiting = {}, outs[::-1]     # `order` is a set with an order
    while waiting:
        inner = [x for x in makes[waiting[-1]].invars
                 if x in makes and x not in order]
        if inner:
            waiting += sorted(inner, key=need.get)
        else:
            order[waiting.pop()] = None
    return [makes[v] for v in order]


def are_new(jaxpr):
    """Return whether each result is new, not an argument, constant, or view.

    A scalar must be a NumPy scalar, not an array of shape ().
    """
    made = {v: eqn.primitive for eqn in jaxpr.eqns for v in eqn.outvars}
    scalar = FRESH - {astype_p, where_p}
    return len({*jaxpr.outvars}) == len(jaxpr.outvars) and all(
        made.get(v) in (FRESH if v.aval.shape else scalar)
        for v in jaxpr.outvars)
