"""Transform programs: from a jaxpr to a jaxpr.

Run the program under an interpreter, and record its operations.  Each result
is computed once, and cached on the program.  Chapter 14.
"""

from dataclasses import replace
from functools import partial, wraps
from itertools import chain, repeat

import numpy as np

from autodiff_mini.core import seams
from autodiff_mini.core.errors import RuleTable
from autodiff_mini.core.jaxprs import (
    Equation, Jaxpr, Var, dead_rules, drop_dead)
from autodiff_mini.core.names import TraceTag
from autodiff_mini.core.signature import apply, argument_names
from autodiff_mini.core.trace import Tracer, current_trace
from autodiff_mini.core.trees import (
    FlatFunction, leaf_names, map_leaves, tree_flatten)
from autodiff_mini.core.types import (
    array_type, convert, tangent_type, typeof, typeof_result)
from autodiff_mini.core.zeros import (
    Zero, instantiate_zeros, leave_zeros_out, perturbed, put_zeros_back)
from autodiff_mini.interpreters import (
    abstract, jvp, partial_eval, transpose, vmap)
from autodiff_mini.interpreters.jaxpr import eval_jaxpr, stage_flat


def nothing(jaxpr):
    """Return a False for each output: none of them is wanted."""
    return (False,) * len(jaxpr.outvars)


def picked(xs, where):
    """Return the `xs` whose mark is True."""
    return [x for x, here in zip(xs, where, strict=True) if here]


def others(xs, where):
    """Return the `xs` whose mark is False."""
    return [x for x, here in zip(xs, where, strict=True) if not here]


def interleave(places, xs, others) -> list:
    """Return the `xs` at the marked places, and the others elsewhere."""
    xs, others = iter(xs), iter(others)
    return [next(xs if here else others) for here in places]


def close(jaxpr):
    """Return a program that closes over arrays only, and the tracers.

    Its first arguments are the tracers that `jaxpr` closes over.
    """
    traced = [isinstance(x, Tracer) for x in jaxpr.consts]
    invars = [*picked(jaxpr.constvars, traced), *jaxpr.invars]
    closed = Jaxpr(others(jaxpr.constvars, traced), invars, jaxpr.eqns,
                   jaxpr.outvars, others(jaxpr.consts, traced))
    return closed, picked(jaxpr.consts, traced)


def close_and_dedupe(jaxpr):
    """Close a program, and reuse an equal one from an earlier call."""
    closed, traced = close(jaxpr)
    return seams.recall(closed), traced


def close_together(jaxprs):
    """Close programs so that each takes all tracers as its first arguments.

    Return a tuple of the programs, and the tracers.
    """
    programs, traced = zip(*map(close_and_dedupe, jaxprs))
    if any(traced):
        avals = tuple(tuple(map(typeof, values)) for values in traced)
        programs = tuple(pad_residual_inputs(program, i, avals)
                         for i, program in enumerate(programs))
    return programs, [*chain(*traced)]


def stage_tree(f, args, kwargs, tag):
    """Return `f` as a jaxpr, and the structure of its output."""
    xs, in_tree = tree_flatten((args, kwargs) if kwargs else (args,))
    avals = map_leaves(typeof, lambda: argument_names(in_tree, tag), xs)
    flat_f = FlatFunction(apply(f), in_tree, tag=tag)

    def checked(*xs):
        outs = flat_f(*xs)
        map_leaves(typeof_result, lambda: leaf_names(
            flat_f.out_tree, f'{tag}: output'), outs)
        return outs
    return seams.with_warnings(f, args, tag, lambda: stage_flat(
        checked, avals, tag)), flat_f.out_tree


def stage_program(f, avals, tag):
    """Return `f` as a program that closes over arrays only."""
    jaxpr, traced = close(stage_flat(f, avals, tag))
    if traced:
        raise TypeError(
            f'{tag}: a rule closes over {traced[0].describe()}, which is not '
            'an argument of its function. Pass it as an argument.')
    return jaxpr


def stage_pair(f, avals, tag):
    """Return the program of `f`, and the second result of `f`.

    Args:
        f: returns a pair: a list of arrays, and anything.
        avals, tag: as for `stage_program`.
    """
    rest = []

    def arrays(*xs):
        outs, found = f(*xs)
        rest.append(found)
        return outs
    return stage_program(arrays, avals, tag), rest[0]


def remembered(transform):
    """Make `transform` cache its results on the program.

    A result is computed again after a rule has been replaced.  It must not
    refer to the program (its tags, such as `jvp of Jaxpr`, do not), or both
    would stay alive until Python collects cycles.
    """
    @wraps(transform)
    def remembering(jaxpr, *args):
        key = transform, RuleTable.version, args
        result = jaxpr.cache.get(key)
        if result is None:
            result = remember(jaxpr.cache, key, transform(jaxpr, *args))
        return result
    return remembering


def remember(table, key, result):
    """Put a result into a table, and return it; drop the oldest of many.

    Each type, size, or static value of an argument adds a result.
    """
    for oldest in list(table)[:max(0, len(table) + 1 - REMEMBERED)]:
        table.pop(oldest, None)
    table[key] = result
    return result


REMEMBERED = 1000   # results in a table


def evaluate(jaxpr, *args):
    """Return the outputs of a program."""
    return eval_jaxpr(jaxpr, jaxpr.consts, *args)


@remembered
def jvp_jaxpr(jaxpr, moving, wanted):
    """Return the derivative of a program, and which outputs have a tangent.

    Args:
        jaxpr: a program that closes over arrays only.
        moving: for each argument, whether it has a tangent.
        wanted: for each output, whether its tangent must be an array even
            if it is zero.

    Returns:
        A program from the arguments, and the tangents of those that have
        one, to the outputs and the tangents of those that have one.
    """
    tag = TraceTag('jvp', Jaxpr)

    def derivative(*arrays):
        ys, y_dots = jvp.jvp_flat(
            partial(evaluate, jaxpr), *put_zeros_back(arrays, moving), tag)
        y_dots = [instantiate_zeros(t) if want else t
                  for t, want in zip(y_dots, wanted, strict=True)]
        return leave_zeros_out(ys, y_dots), perturbed(y_dots)

    tangents = map(tangent_type, picked(jaxpr.in_avals, moving))
    return stage_pair(derivative, [*jaxpr.in_avals, *tangents], tag)


@remembered
def vmap_jaxpr(jaxpr, mapped, wanted, size):
    """Return a program mapped over an axis.

    Args:
        jaxpr: a program that closes over arrays only.
        mapped: for each argument, whether it has the axis, in front.
        wanted: for each output, whether it must have the axis.
        size: the length of the axis.

    Returns:
        The program, the dims of its outputs, and for each of them whether it
        has the axis.
    """
    axis = vmap.Axis(size, TraceTag('vmap', Jaxpr))

    def batched(*vals):
        outs, dims = vmap.vmap_flat(partial(evaluate, jaxpr), axis, vals,
                                    [0 if has else None for has in mapped])
        out_dims = [0 if want else dim
                    for dim, want in zip(dims, wanted, strict=True)]
        # A mapped Python number is an array: it keeps its dtype.
        outs = [y if to is None else
                convert(vmap.spread(y, dim, size), aval.dtype)
                for y, dim, to, aval in
                zip(outs, dims, out_dims, jaxpr.out_avals)]
        return outs, out_dims

    avals = [array_type((size, *aval.shape), aval.dtype) if has else aval
             for aval, has in zip(jaxpr.in_avals, mapped, strict=True)]
    program, out_dims = stage_pair(batched, avals, axis.tag)
    return program, out_dims, [dim is not None for dim in out_dims]


@remembered
def partial_eval_jaxpr(jaxpr, unknown, wanted):
    """Cut a program in two, and return which outputs are unknown.

    Args:
        jaxpr: a program that closes over arrays only.
        unknown: for each argument, whether it is unknown.
        wanted: for each output, whether to treat it as unknown.

    Returns:
        `(known, later, out_unknown)`.  The program `known` takes the known
        arguments to the known outputs and residuals.  The program `later`
        takes the residuals and unknown arguments to the unknown outputs.
    """
    tag = TraceTag('partial evaluation', Jaxpr)

    def known(*xs):
        with partial_eval.PartialEvalTrace(current_trace(), tag) as trace:
            inputs = list(map(trace.input, picked(jaxpr.in_avals, unknown)))
            outs = evaluate(jaxpr, *interleave(unknown, inputs, xs))
            out_unknown = [want or trace.owns(y)
                           for y, want in zip(outs, wanted, strict=True)]
            later, residuals = close(drop_dead(
                trace.jaxpr(inputs, picked(outs, out_unknown))))
        return others(outs, out_unknown) + residuals, (later, out_unknown)

    program, found = stage_pair(known, others(jaxpr.in_avals, unknown), tag)
    return program, *found


@remembered
def drop_forwarded(jaxpr, count, changing):
    """Drop the outputs that merely return an argument.

    Args:
        jaxpr: a program that closes over arrays only.
        count: how many of the first outputs to keep in any case.
        changing: the positions of arguments to keep as outputs.

    Returns:
        The program, and a list with an entry for each output: the position
        of the argument if it was dropped, and None if it was kept.
    """
    place = {v: i for i, v in enumerate(jaxpr.invars) if i not in changing}
    passed = [place.get(v) if i >= count else None
              for i, v in enumerate(jaxpr.outvars)]
    kept = [v for v, i in zip(jaxpr.outvars, passed) if i is None]
    return replace(jaxpr, outvars=kept, cache={}), passed


@remembered
def known_jaxpr(jaxpr, unknown, wanted):
    """Return the known part of a program, and which outputs are unknown.

    Args:
        jaxpr, unknown, wanted: as for `partial_eval_jaxpr`.
    """
    known, _, out_unknown = partial_eval_jaxpr(jaxpr, unknown, wanted)
    outvars = known.outvars[:out_unknown.count(False)]
    return drop_dead(replace(known, outvars=outvars, cache={})), out_unknown


@remembered
def transpose_jaxpr(jaxpr, linear, given):
    """Transpose a linear program.

    Args:
        jaxpr: a program that closes over arrays only.
        linear: for each argument, whether the program is linear in it.
        given: for each output, whether it has a cotangent.

    Returns:
        A program from the other arguments, and the cotangents, to a
        cotangent for each linear argument.
    """
    tag = TraceTag('transpose', Jaxpr)

    def transposed(*arrays):
        n = linear.count(False)
        program = partial_eval.linear_flat(
            lambda *ts: evaluate(jaxpr, *interleave(linear, ts, arrays[:n])),
            picked(jaxpr.in_avals, linear), tag)
        zeros = map(Zero, others(jaxpr.out_avals, given))
        cts = interleave(given, arrays[n:], zeros)
        return list(map(instantiate_zeros, transpose.backward_pass(
            program, program.consts, cts)))

    cts = map(tangent_type, picked(jaxpr.out_avals, given))
    return stage_program(
        transposed, [*others(jaxpr.in_avals, linear), *cts], tag)


@remembered
def only_backwards(jaxpr):
    """Return a linear program that will be transposed and not run.

    A promise is then differentiated by its rule for reverse mode.
    """
    return replace(jaxpr, cache={}, eqns=[
        replace(eqn, params=only_backwards_rules.get(eqn.primitive, dict)(
            {key: every_program(x) for key, x in eqn.params.items()}))
        for eqn in jaxpr.eqns])


def every_program(x):
    """Apply `only_backwards` to the programs in a parameter."""
    if type(x) is tuple:
        return tuple(map(every_program, x))
    return only_backwards(x) if type(x) is Jaxpr else x


only_backwards_rules = {}   # by primitive: from its parameters to others


@remembered
def permute(jaxpr, ins, outs):
    """Return a program with arguments and outputs in another order.

    Args:
        jaxpr: a program that closes over arrays only.
        ins: the positions of its arguments, in the new order.
        outs: the positions of the outputs; some can be left out.
    """
    return replace(jaxpr, invars=[jaxpr.invars[i] for i in ins],
                   outvars=[jaxpr.outvars[i] for i in outs], cache={})


@remembered
def pad_residual_inputs(jaxpr, i, types):
    """Return branch `i` with the residuals of all branches as arguments.

    The residuals of branch `i` are the first arguments of `jaxpr`.
    """
    n, own = len(types[i]), iter(jaxpr.invars)
    residuals = [next(own) if i == j else Var(aval)
                 for j, avals in enumerate(types) for aval in avals]
    return replace(jaxpr, invars=residuals + jaxpr.invars[n:], cache={})


def for_outputs(jaxpr, used):
    """Return a program for some outputs, and which arguments they need.

    The program takes all arguments.
    """
    program, matter = smaller_for_outputs(jaxpr, used)
    return program or jaxpr, matter


@remembered
def smaller_for_outputs(jaxpr, used):
    """Return what `for_outputs` does, or None for an unchanged program."""
    program = drop_dead(jaxpr if all(used) else replace(
        jaxpr, outvars=picked(jaxpr.outvars, used), cache={}))
    read = {v for eqn in program.eqns for v in eqn.invars}
    read.update(program.outvars)
    return (program if program is not jaxpr else None,
            tuple(v in read for v in program.invars))


def for_arguments(jaxpr, used):
    """Return a program that takes only the marked arguments."""
    return jaxpr if all(used) else permute(
        jaxpr, tuple(picked(range(len(used)), used)),
        range(len(jaxpr.outvars)))


def prune_equation(eqn, operands, results, **params):
    """Return an equation with only some of its operands and results."""
    if all(operands) and all(results) and all(
            eqn.params[name] == value for name, value in params.items()):
        return eqn
    return Equation(eqn.primitive, picked(eqn.invars, operands),
                    eqn.params | params, picked(eqn.outvars, results),
                    eqn.line)


def zeros(aval):
    """Return zeros of this type, as an array or a NumPy scalar."""
    return np.zeros(aval.shape, aval.dtype)[()]


def defpartial(primitive, cut):
    """Define partial evaluation: compute if all operands are known, or cut.

    Args:
        cut: `cut(trace, args, unknown, **params)`, which returns the outputs
            if some operands are unknown.
    """
    def rule(trace, args, params):
        unknown = tuple(map(trace.owns, args))
        if any(unknown):
            return cut(trace, args, unknown, **params)
        return trace.compute(primitive, args, params)
    partial_eval.rules[primitive] = rule


# The rules of a primitive whose parameter `jaxpr` is a program.
def program_jvp(primitive, primals, tangents, jaxpr, **params):
    jaxpr, out_moving = jvp_jaxpr(jaxpr, perturbed(tangents), nothing(jaxpr))
    arrays = leave_zeros_out(primals, tangents)
    outs = primitive.bind(*arrays, jaxpr=jaxpr, **params)
    return put_zeros_back(outs, out_moving)


def program_vmap(primitive, axis, vals, dims, jaxpr, **params):
    mapped = tuple(dim == 0 for dim in dims)
    jaxpr, out_dims, _ = vmap_jaxpr(jaxpr, mapped, nothing(jaxpr), axis.size)
    return primitive.bind(*vals, jaxpr=jaxpr, **params), out_dims


def program_partial_eval(primitive, trace, args, unknown, jaxpr,
                         late_params=None, **params):
    """Cut a program in two; pass residuals that are arguments directly.

    Args:
        late_params: the parameters that differ in the later part.
    """
    known, later, out_unknown = partial_eval_jaxpr(jaxpr, unknown,
                                                   nothing(jaxpr))
    n = out_unknown.count(False)
    outs, _ = compute_forwarded(trace, primitive, others(args, unknown),
                                {'jaxpr': known, **params}, n)
    late = trace.record(primitive, [*outs[n:], *picked(args, unknown)],
                        {'jaxpr': later, **params, **(late_params or {})})
    return interleave(out_unknown, late, outs[:n])


def compute_forwarded(trace, primitive, xs, params, count, changing=()):
    """Compute a known part, but not the residuals that are its operands.

    Args:
        count, changing: as for `drop_forwarded`.

    Returns:
        All outputs, and the position of each among the operands, or None.
    """
    program, passed = drop_forwarded(params['jaxpr'], count, changing)
    outs = iter(trace.compute(primitive, xs, params | {'jaxpr': program}))
    return [next(outs) if i is None else xs[i] for i in passed], passed


def program_transpose(primitive, cts, *operands, jaxpr, **params):
    linear = tuple([type(x) is Var for x in operands])
    given = perturbed(cts)
    outs = primitive.bind(
        *others(operands, linear), *picked(cts, given),
        jaxpr=transpose_jaxpr(jaxpr, linear, given), **params)
    return interleave(linear, outs, repeat(None))


def program_for_outputs(eqn, used):
    program, matter = for_outputs(eqn.params['jaxpr'], used)
    return prune_equation(eqn, matter, used,
                          jaxpr=for_arguments(program, matter))


def defprogram(primitive):
    """Define the rules of a primitive whose parameter is a program."""
    jvp.rules[primitive] = partial(program_jvp, primitive)
    vmap.rules[primitive] = partial(program_vmap, primitive)
    abstract.rules[primitive] = lambda *_, jaxpr, **params: jaxpr.out_avals
    defpartial(primitive, partial(program_partial_eval, primitive))
    transpose.rules[primitive] = partial(program_transpose, primitive)
    dead_rules[primitive] = program_for_outputs


def fit_outputs(jaxpr, types, tag):
    """Return a program whose outputs have these types."""
    if jaxpr.out_avals == types:
        return jaxpr

    def fitted(*xs):
        return [convert(y, aval.dtype, aval.weak_type)
                for y, aval in zip(evaluate(jaxpr, *xs), types)]
    return stage_flat(fitted, jaxpr.in_avals, tag)
