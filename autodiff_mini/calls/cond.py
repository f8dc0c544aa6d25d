"""`cond`: run one of several programs.

All branches are programs of one type, so an interpreter that does not know
which branch will run can transform them all.  Chapter 16.
"""

from itertools import repeat

import numpy as np

from autodiff_mini.calls.jit import run_compiled
from autodiff_mini.calls.programs import (
    close_together, defpartial, evaluate, fit_outputs, for_arguments,
    for_outputs, interleave, jvp_jaxpr, nothing, others, pad_residual_inputs,
    partial_eval_jaxpr, picked, prune_equation, remembered, stage_program,
    stage_tree, transpose_jaxpr, vmap_jaxpr, zeros)
from autodiff_mini.core import seams
from autodiff_mini.core.jaxprs import Var, dead_rules
from autodiff_mini.core.memory import own_memory
from autodiff_mini.core.names import TraceTag
from autodiff_mini.core.public import public
from autodiff_mini.core.trace import Primitive, Tracer
from autodiff_mini.core.trees import tree_leaves
from autodiff_mini.core.types import common_type, convert, typeof
from autodiff_mini.core.zeros import (
    leave_zeros_out, perturbed, put_zeros_back)
from autodiff_mini.interpreters import (
    abstract, jvp, lowering, transpose, vmap)
from autodiff_mini.numpy_functions.table import asarray
from autodiff_mini.primitives.elementwise import stop_gradient


def run_branch(index, *xs, branches):
    return run_compiled(*xs, jaxpr=branches[int(index)])


cond_p = Primitive('cond', run_branch, multiple_results=True)
abstract.rules[cond_p] = lambda *avals, branches: branches[0].out_avals


def transform_branches(transform, branches, marks, *more):
    """Transform all branches, and return the results and the output marks.

    An output that is perturbed, mapped, or unknown in one branch is marked
    so in all branches.

    Args:
        transform: `transform(branch, marks, wanted, *more)`, which returns a
            tuple that ends with the marks of the outputs.
        branches: programs.
        marks: the marks of their arguments.
        more: other arguments of the transform.
    """
    results = [transform(branch, marks, nothing(branch), *more)
               for branch in branches]
    wanted = tuple(map(any, zip(*[found[-1] for found in results])))
    results = [found if tuple(found[-1]) == wanted
               else transform(branch, marks, wanted, *more)
               for branch, found in zip(branches, results)]
    return *list(zip(*results))[:-1], list(wanted)


def cond_jvp(primals, tangents, branches):
    branches, out_moving = transform_branches(jvp_jaxpr, branches,
                                              perturbed(tangents[1:]))
    arrays = leave_zeros_out(primals[1:], tangents[1:])
    outs = cond_p.bind(primals[0], *arrays, branches=branches)
    return put_zeros_back(outs, out_moving)


jvp.rules[cond_p] = cond_jvp


def cond_vmap(axis, vals, dims, branches):
    """Run each branch that any element takes, for the whole batch."""
    mapped = tuple(dim == 0 for dim in dims[1:])
    if dims[0] is None:
        branches, _, out_mapped = transform_branches(
            vmap_jaxpr, branches, mapped, axis.size)
        outs = cond_p.bind(*vals, branches=branches)
        return outs, [0 if has else None for has in out_mapped]
    index, *xs = vals
    outs = None
    for i, branch in enumerate(branches):
        mask = index == i
        ys = run_branch_if_any(axis, mask, xs, mapped, branch)
        outs = ys if outs is None else [
            where(mask, y, out) for y, out in zip(ys, outs)]
    return outs, [0] * len(outs)


def run_branch_if_any(axis, mask, xs, mapped, branch):
    """Run a branch for the whole batch, if any element takes it.

    The other elements must not cause errors, warnings, or NaNs, so copies of
    the first element that takes the branch replace them.
    """
    program, *_ = vmap_jaxpr(branch, mapped, (True,) * len(branch.outvars),
                             axis.size)
    branches = no_run(program), program
    some = convert(np.any(mask), np.dtype(int))
    xs = fill_from_first_match(mask, xs, mapped)
    if isinstance(some, Tracer):
        return cond_p.bind(some, *xs, branches=branches)
    return evaluate(pruned(branches[bool(some)]), *xs)


def pruned(branch):
    """Return a branch for running operation by operation."""
    return for_outputs(branch, (True,) * len(branch.outvars))[0]


@remembered
def no_run(program):
    """Return a program of the same type that returns zeros."""
    return stage_program(lambda *_: list(map(zeros, program.out_avals)),
                         program.in_avals, TraceTag('cond', program))


def fill_from_first_match(mask, xs, mapped):
    """Replace rows where the mask is False by the first where it is True.

    The copies contribute nothing to the derivative.
    """
    if len(mask) == 0:
        return xs
    first = np.argmax(mask)
    return [where(mask, x, asarray(stop_gradient(x))[first]) if has else x
            for x, has in zip(xs, mapped)]


def where(mask, x, y):
    """Choose a row of `x` or of `y` for each element of the batch."""
    return np.where(vmap.lengthen(mask, np.ndim(x) - 1), x, y)


vmap.rules[cond_p] = cond_vmap


def cond_partial_eval(trace, args, unknown, branches):
    index, *xs = args
    if unknown[0]:
        return trace.record(cond_p, args, {'branches': branches})
    if not isinstance(index, Tracer):
        program, start = pruned(branches[int(index)]), len(trace.consts)
        outs, residuals = evaluate(program, *xs), trace.consts[start:]
        return own_memory(outs, [*xs, *program.consts, *residuals])
    known, later, out_unknown = transform_branches(
        partial_eval_jaxpr, branches, unknown[1:])
    n = out_unknown.count(False)
    types = tuple(tuple(program.out_avals[n:]) for program in known)
    outs = trace.compute(cond_p, others(args, unknown), {
        'branches': tuple(pad_residual_outputs(program, i, types)
                          for i, program in enumerate(known))})
    late = trace.record(cond_p, [index, *outs[n:], *picked(args, unknown)], {
        'branches': tuple(pad_residual_inputs(program, i, types)
                          for i, program in enumerate(later))})
    return interleave(out_unknown, late, outs[:n])


@remembered
def pad_residual_outputs(jaxpr, i, types):
    """Return branch `i` with the residuals of all branches as outputs.

    Residuals of the other branches are zeros.
    """
    n = len(jaxpr.outvars) - len(types[i])

    def padded(*xs):
        outs = evaluate(jaxpr, *xs)
        return outs[:n] + [
            r for j, avals in enumerate(types)
            for r in (outs[n:] if i == j else map(zeros, avals))]
    return stage_program(padded, jaxpr.in_avals, TraceTag('cond', padded))


defpartial(cond_p, cond_partial_eval)


def cond_transpose(cts, index, *xs, branches):
    if type(index) is Var:
        index.refuse()
    linear = tuple(type(x) is Var for x in xs)
    given = perturbed(cts)
    outs = cond_p.bind(
        index, *others(xs, linear), *picked(cts, given),
        branches=tuple(transpose_jaxpr(branch, linear, given)
                       for branch in branches))
    return [None, *interleave(linear, outs, repeat(None))]


transpose.rules[cond_p] = cond_transpose


def cond_for_outputs(eqn, used):
    branches, marks = zip(*[for_outputs(branch, used)
                            for branch in eqn.params['branches']])
    matter = tuple(map(any, zip(*marks)))
    return prune_equation(eqn, (True, *matter), used, branches=tuple(
        for_arguments(branch, matter) for branch in branches))


dead_rules[cond_p] = cond_for_outputs


def cond_lowering(emitter, index, *names, branches):
    functions = [emitter.nested('branch', branch) for branch in branches]
    return f'[{", ".join(functions)}][int({index})]({", ".join(names)})'


lowering.rules[cond_p] = cond_lowering


@public
def cond(pred, true_fun, false_fun, *operands):
    """Call one of two functions and return its result.

    Under `vmap`, a function that any element selects runs for the whole
    batch.  Elements that do not select it get the operands of one that does,
    so that they cause no errors.

    Args:
        pred: a scalar that chooses the function.
        true_fun: the function to call if `pred` is true, or not zero.
        false_fun: the function to call otherwise.  Both return trees of the
            same structure, shapes, and dtypes.
        operands: arrays, or trees of arrays.

    Raises:
        TypeError: `pred` is not a scalar, or the results differ in type.

    Source: `jax.lax.cond`.

    Examples:
        >>> cond(True, lambda x: x + 1, lambda x: x * 2, 5.0)
        6.0
    """
    tag = TraceTag('cond', true_fun)
    seams.check('functions', 'cond', (true_fun, false_fun))
    seams.check('scalar', tag, 'Pred', pred)
    if typeof(pred).dtype != bool:
        pred = np.not_equal(pred, 0)
    return choose(tag, convert(pred, np.dtype(int)), (false_fun, true_fun),
                  operands)


def choose(tag, index, functions, operands):
    """Stage all branches, and bind a cond that runs one of them."""
    xs = tree_leaves(operands)
    staged = [stage_tree(f, operands, {}, tag) for f in functions]
    jaxprs, trees = zip(*staged)
    out_avals = [jaxpr.out_avals for jaxpr in jaxprs]
    seams.check('branches', tag, functions, trees, out_avals)
    types = list(map(common_type, zip(*out_avals)))
    if None in types or any(tree != trees[0] for tree in trees):
        raise TypeError(f'{tag}: the branches must return equal types')
    branches, consts = close_together(
        [fit_outputs(jaxpr, types, tag) for jaxpr in jaxprs])
    outs = cond_p.bind(index, *consts, *xs, branches=branches)
    return trees[0].unflatten(outs)
