"""`cond` and `switch`: one of several programs.

Its one idea: all branches are programs of one type, so that whoever does not
know which will run can do with any.  Chapter 14.
"""

from itertools import chain, repeat

import numpy as np

from autodiff_mini.arrays import convert
from autodiff_mini.core import Primitive, TraceTag, Tracer, typeof
from autodiff_mini.errors import fun_name, public
from autodiff_mini.higher_order.carries import gives_way
from autodiff_mini.higher_order.jit import jit_p
from autodiff_mini.higher_order.programs import (
    close_once_more, for_arguments, for_outputs, interleave, jvp_jaxpr,
    nothing, others, partial_eval_jaxpr, picked, remembered, run, smaller,
    stage_program, transpose_jaxpr, vmap_jaxpr, zeros)
from autodiff_mini.interpreters.abstract import abstract_rules
from autodiff_mini.interpreters.jaxpr import (
    eval_jaxpr, stage_flat, stage_tree)
from autodiff_mini.interpreters.jvp import jvp_rules
from autodiff_mini.interpreters.lowering import lowering_rules
from autodiff_mini.interpreters.partial_eval import partial_eval_rules
from autodiff_mini.interpreters.transpose import transpose_rules
from autodiff_mini.interpreters.vmap import lengthen, vmap_rules
from autodiff_mini.jaxprs import Jaxpr, Var, dead_rules, drop_dead
from autodiff_mini.memory import own_memory
from autodiff_mini.numpy_api import asarray
from autodiff_mini.primitives.elementwise import stop_gradient
from autodiff_mini.pytree import tree_leaves
from autodiff_mini.signature import map_leaves
from autodiff_mini.zeros import Zero, pack, unpack


def run_branch(index, *xs, branches):
    return jit_p.impl(*xs, jaxpr=branches[int(index)], name='cond')


cond_p = Primitive('cond', run_branch, multiple_results=True)
abstract_rules[cond_p] = lambda *avals, branches: branches[0].out_avals


def cond_lowering(emitter, index, *names, branches):
    functions = [emitter.nested('branch', branch) for branch in branches]
    return f'[{", ".join(functions)}][int({index})]({", ".join(names)})'


lowering_rules[cond_p] = cond_lowering


def alike(transform, branches, *args):
    """Returns what a transform makes of branches, with equal outputs.

    If an output moves, or is mapped, or is unknown in one of them, it is in
    all.
    """
    marks = [transform(branch, *args, nothing(branch))[-1]
             for branch in branches]
    wanted = tuple(map(any, zip(*marks, strict=True)))
    return [transform(branch, *args, wanted) for branch in branches], wanted


def cond_jvp(primals, tangents, branches):
    moving = tuple(type(t) is not Zero for t in tangents[1:])
    results, wanted = alike(jvp_jaxpr, branches, moving)
    outs = cond_p.bind(
        primals[0], *pack(primals[1:], tangents[1:]),
        branches=tuple(branch for branch, _ in results))
    return unpack(outs, [not moves for moves in wanted])


jvp_rules[cond_p] = cond_jvp


def cond_vmap(axis, vals, dims, branches):
    if dims[0] is None:
        mapped = tuple(dim == 0 for dim in dims[1:])
        results, wanted = alike(
            lambda branch, mapped, wanted: vmap_jaxpr(
                branch, axis.size, mapped, wanted), branches, mapped)
        outs = cond_p.bind(*vals, branches=tuple(b for b, _ in results))
        return outs, [0 if has else None for has in wanted]
    index, *xs = vals
    mapped = tuple(dim == 0 for dim in dims[1:])
    outs = None
    for i, branch in enumerate(branches):
        mask = index == i
        ys = run_for_its_own(axis, mask, xs, mapped, branch)
        outs = ys if outs is None else [
            where(mask, y, out) for y, out in zip(ys, outs)]
    return outs, [0] * len(outs)


def run_for_its_own(axis, mask, xs, mapped, branch):
    """Returns what a branch makes of a batch, if any element is its own.

    Nothing may come of the others, no error, no warning, and no nan: in their
    place stand copies of the first element that is.
    """
    program, _ = vmap_jaxpr(branch, axis.size, mapped,
                            (True,) * len(branch.outvars))
    branches = no_run(program), program
    some = convert(np.any(mask), np.dtype(int))
    xs = lend(mask, xs, mapped)
    if isinstance(some, Tracer):
        return cond_p.bind(some, *xs, branches=branches)
    return run(live(branches[bool(some)]), *xs)


live = remembered(drop_dead)    # what of a branch is run here and now


@remembered
def no_run(program):
    """Returns a program of the same type, whose outputs are zeros."""
    return stage_program(lambda *_: list(map(zeros, program.out_avals)),
                         program.in_avals, TraceTag('cond', program))


def lend(mask, xs, mapped):
    """Returns operands with a copy of one row where the mask is False.

    It is the first row where it holds.  No derivative comes back from copies.
    """
    if len(mask) == 0:
        return xs
    lender = np.argmax(mask)
    return [where(mask, x, asarray(stop_gradient(x))[lender]) if has else x
            for x, has in zip(xs, mapped)]


def where(mask, x, y):
    """Returns a row of `x` or of `y` for each element of the batch."""
    return np.where(lengthen(mask, np.ndim(x) - 1), x, y)


vmap_rules[cond_p] = cond_vmap


def cond_partial_eval(trace, args, branches):
    index, *xs = args
    unknown = tuple(map(trace.is_unknown, xs))
    if trace.is_unknown(index):
        return trace.record(cond_p, args, {'branches': branches})
    if not any(unknown):
        return trace.compute(cond_p, args, {'branches': branches})
    if not isinstance(index, Tracer):
        return own_memory(run(live(branches[int(index)]), *xs), xs)
    results, out_unknown = alike(partial_eval_jaxpr, branches, unknown)
    n = out_unknown.count(False)
    types = tuple(tuple(known.out_avals[n:]) for known, *_ in results)
    outs = trace.compute(cond_p, [index, *others(xs, unknown)], {
        'branches': tuple(put_out_all(known, i, types)
                          for i, (known, *_) in enumerate(results))})
    late = trace.record(cond_p, [index, *outs[n:], *picked(xs, unknown)], {
        'branches': tuple(take_in_all(later, i, types)
                          for i, (_, later, _) in enumerate(results))})
    return interleave(out_unknown, late, outs[:n])


@remembered
def put_out_all(jaxpr, i, types):
    """Returns branch `i` with the residuals of all branches for outputs.

    Those of the others are zeros.
    """
    n = len(jaxpr.outvars) - len(types[i])

    def all_out(*xs):
        outs = run(jaxpr, *xs)
        return outs[:n] + [
            r for j, avals in enumerate(types)
            for r in (outs[n:] if i == j else map(zeros, avals))]
    return stage_program(all_out, jaxpr.in_avals, TraceTag('cond', all_out))


@remembered
def take_in_all(jaxpr, i, types):
    """Returns branch `i` with arguments for what any branch has kept.

    Those of branch `i` are the first of its arguments.
    """
    n, own = len(types[i]), iter(jaxpr.invars)
    residuals = [next(own) if i == j else Var(aval)
                 for j, avals in enumerate(types) for aval in avals]
    return Jaxpr(jaxpr.constvars, [*residuals, *jaxpr.invars[n:]],
                 jaxpr.eqns, jaxpr.outvars, jaxpr.consts)


partial_eval_rules[cond_p] = cond_partial_eval


def cond_transpose(cts, *operands, branches):
    index, *xs = operands
    if type(index) is Var:
        index.refuse()
    linear = tuple(type(x) is Var for x in xs)
    given = tuple(ct is not None for ct in cts)
    outs = cond_p.bind(
        index, *others(xs, linear), *picked(cts, given),
        branches=tuple(transpose_jaxpr(branch, linear, given)
                       for branch in branches))
    return [None, *interleave(linear, outs, repeat(None))]


transpose_rules[cond_p] = cond_transpose


def cond_for_outputs(eqn, used):
    branches, marks = zip(*[for_outputs(branch, used)
                            for branch in eqn.params['branches']])
    matter = tuple(map(any, zip(*marks)))
    return smaller(eqn, (True, *matter), used, branches=tuple(
        for_arguments(branch, matter) for branch in branches))


dead_rules[cond_p] = cond_for_outputs


@public
def cond(pred, true_fun, false_fun, *operands):
    """Returns what one of two functions returns.

    Under `vmap`, a function runs for the whole batch, if any element takes
    it.  It is not told of the other elements, so they cause no error.

    Args:
        pred: which, a scalar.
        true_fun: a function of the operands, if it is true, or not zero.
        false_fun: another, if it is not.  Both return trees of the same
            structure, shapes and dtypes.
        operands: arrays, or trees of arrays.

    Raises:
        TypeError: `pred` is no scalar, or the results disagree.

    Source: `jax.lax.cond`.

    Examples:
        >>> cond(True, lambda x: x + 1, lambda x: x * 2, 5.0)
        6.0
    """
    for f in (true_fun, false_fun):
        if not callable(f):
            raise TypeError(
                'cond takes two functions after its condition, but got '
                f'something of type {type(f).__name__}. To choose between '
                'two values, write np.where(pred, a, b).')
    tag = TraceTag('cond', true_fun)
    check_scalar(tag, 'Pred', pred)
    if typeof(pred).dtype != bool:
        pred = np.not_equal(pred, 0)
    return choose(tag, convert(pred, np.dtype(int)), (false_fun, true_fun),
                  operands)


@public
def switch(index, branches, *operands):
    """Returns what one of several functions returns.

    Args:
        index: which, an integer; one that is too small or too large means
            the first or the last.
        branches: functions of the operands, which return trees of the same
            structure, shapes and dtypes.
        operands: arrays, or trees of arrays.

    Raises:
        TypeError: `index` is no integer, or the results disagree.
        ValueError: there are no branches.

    Source: `jax.lax.switch`.

    Examples:
        >>> switch(1, [np.sin, np.cos, np.tan], 0.0)
        1.0
    """
    branches = tuple(branches)
    if not branches:
        raise ValueError('switch needs at least one branch')
    tag = TraceTag('switch', branches[0])
    check_scalar(tag, 'Index', index)
    if typeof(index).dtype.kind not in 'iu':
        raise TypeError(f'{tag}: Index must be an integer, but got '
                        f'{typeof(index)}')
    index = np.clip(index, 0, len(branches) - 1)
    return choose(tag, index, branches, operands)


def check_scalar(tag, what, x):
    """Raises a TypeError if `x` is no scalar."""
    [aval] = map_leaves(typeof, lambda: [f'{tag}: {what}'], [x])
    if aval.shape != ():
        raise TypeError(f'{tag}: {what} must be a scalar, but got {aval}. To '
                        'choose for each element of an array, use np.where.')


def choose(tag, index, functions, operands):
    """Writes all branches down, and asks for the one."""
    xs = tree_leaves(operands)
    staged = [stage_tree(f, operands, {}, tag) for f in functions]
    _, out_tree = staged[0]
    for f, (jaxpr, tree) in zip(functions, staged):
        if tree != out_tree:
            raise TypeError(
                f'{tag}: the branches must have the same type structure, but '
                f'{fun_name(functions[0])} returns {out_tree}, and '
                f'{fun_name(f)} returns {tree}')
    types = [common_type(tag, functions, avals) for avals in
             zip(*[jaxpr.out_avals for jaxpr, _ in staged])]
    branches, traced = [], []
    for jaxpr, _ in staged:
        branch, values = close_once_more(fit_outputs(jaxpr, types, tag))
        branches.append(branch)
        traced.append(values)
    types = [tuple(map(typeof, values)) for values in traced]
    outs = cond_p.bind(
        index, *chain(*traced), *xs,
        branches=tuple(take_in_all(branch, i, tuple(types))
                       for i, branch in enumerate(branches)))
    return out_tree.unflatten(outs)


def common_type(tag, functions, avals):
    """Returns the type of an output: a Python number becomes an array's."""
    strong = [aval for aval in avals if not aval.weak_type]
    if not strong:
        return max(avals, key=lambda aval: 'biufc'.index(aval.dtype.kind))
    for f, aval in zip(functions, avals):
        fits = (gives_way(aval, strong[0]) if aval.weak_type
                else aval.dtype == strong[0].dtype)
        if aval.shape != strong[0].shape or not fits:
            raise TypeError(
                f'{tag}: the branches must return equal types, but '
                f'{fun_name(functions[avals.index(strong[0])])} returns '
                f'{strong[0]}, and {fun_name(f)} returns {aval}')
    return strong[0]


def fit_outputs(jaxpr, types, tag):
    """Returns a program whose outputs have these types."""
    if jaxpr.out_avals == types:
        return jaxpr

    def fitted(*xs):
        return [convert(y, aval.dtype, aval.weak_type) for y, aval in
                zip(eval_jaxpr(jaxpr, jaxpr.consts, *xs), types)]
    return stage_flat(fitted, jaxpr.in_avals, tag)
