"""Programs, transformed: from a jaxpr to a jaxpr.

Its one idea: run the program under the interpreter, and write down what it
does.  Each is done once for a program, and remembered.  Chapter 12.
"""

from functools import partial, wraps

import numpy as np

from autodiff_mini import seams
from autodiff_mini.arrays import convert
from autodiff_mini.core import TraceTag, Tracer, array_type, current_trace
from autodiff_mini.errors import RuleTable
from autodiff_mini.interpreters.jaxpr import eval_jaxpr, stage_flat
from autodiff_mini.interpreters.jvp import jvp_flat
from autodiff_mini.interpreters.partial_eval import (
    PartialEvalTrace, linear_flat)
from autodiff_mini.interpreters.transpose import backward_pass
from autodiff_mini.interpreters.vmap import Axis, spread, vmap_flat
from autodiff_mini.jaxprs import Equation, Jaxpr, drop_dead
from autodiff_mini.zeros import (
    Zero, instantiate_zeros, pack, tangent_type, unpack, which_zero)


def nothing(jaxpr):
    """Says of each output that nothing is wanted of it."""
    return (False,) * len(jaxpr.outvars)


def picked(xs, where):
    """Returns those `xs` whose mark is True."""
    return [x for x, here in zip(xs, where, strict=True) if here]


def others(xs, where):
    """Returns those `xs` whose mark is False."""
    return [x for x, here in zip(xs, where, strict=True) if not here]


def interleave(places, xs, others) -> list:
    """Returns the `xs` in these places, and the others in the others."""
    xs, others = iter(xs), iter(others)
    return [next(xs if here else others) for here in places]


def close(jaxpr):
    """Returns a program that closes over arrays only, and the tracers.

    What is traced becomes its first arguments.
    """
    traced = [isinstance(x, Tracer) for x in jaxpr.consts]
    invars = [*picked(jaxpr.constvars, traced), *jaxpr.invars]
    closed = Jaxpr(others(jaxpr.constvars, traced), invars, jaxpr.eqns,
                   jaxpr.outvars, others(jaxpr.consts, traced))
    return closed, picked(jaxpr.consts, traced)


def close_once_more(jaxpr):
    """As `close`, for what a call writes down each time."""
    closed, traced = close(jaxpr)
    return seams.recall(closed), traced


def stage_program(f, avals, tag):
    """Returns `f` as a program that closes over arrays only."""
    jaxpr, traced = close(stage_flat(f, avals, tag))
    if traced:
        raise TypeError(
            f'{tag}: a rule closes over {traced[0].describe()}, which is '
            'none of the arguments of its function: pass it as an argument')
    return jaxpr


def remembered(transform):
    """Returns `transform`, which keeps its results with the program.

    They are made again when a rule has taken the place of another.  They
    must not hold the program; its tags, such as `jvp of Jaxpr`, do not.
    Else both would stay until Python looks for circles.
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
    """Puts a result into a table, and returns it; of many the oldest goes.

    There is one for each type, size, or static value that came along, and
    there may be ever new ones.
    """
    for oldest in list(table)[:max(0, len(table) + 1 - REMEMBERED)]:
        table.pop(oldest, None)
    table[key] = result
    return result


REMEMBERED = 1000   # results in a table


def run(jaxpr, *args):
    """Returns what a program returns."""
    return eval_jaxpr(jaxpr, jaxpr.consts, *args)


@remembered
def jvp_jaxpr(jaxpr, moving, wanted):
    """Returns the derivative of a program, and which of its outputs move.

    Args:
        jaxpr: a program that closes over arrays only.
        moving: for each argument, whether it has a tangent.
        wanted: for each output, whether its tangent is to be an array even
            if it is zero.

    Returns:
        A program from the arguments, and the tangents of those that move, to
        the outputs and the tangents of those that move.
    """
    tag, out_moving = TraceTag('jvp', Jaxpr), []

    def jvp(*arrays):
        ys, y_dots = jvp_flat(
            partial(run, jaxpr),
            *unpack(arrays, [not moves for moves in moving]), tag)
        y_dots = [instantiate_zeros(t) if want else t
                  for t, want in zip(y_dots, wanted, strict=True)]
        out_moving[:] = [not zero for zero in which_zero(y_dots)]
        return pack(ys, y_dots)

    tangents = map(tangent_type, picked(jaxpr.in_avals, moving))
    program = stage_program(jvp, [*jaxpr.in_avals, *tangents], tag)
    return program, out_moving


@remembered
def vmap_jaxpr(jaxpr, size, mapped, wanted):
    """Returns a program mapped over an axis, and which outputs are.

    Args:
        jaxpr: a program that closes over arrays only.
        size: the length of the axis.
        mapped: for each argument, whether it has the axis, in front.
        wanted: for each output, whether it is to have the axis.
    """
    program, out_dims = batch_jaxpr(jaxpr, size, mapped, wanted)
    return program, [dim is not None for dim in out_dims]


@remembered
def batch_jaxpr(jaxpr, size, mapped, wanted):
    """Return the program of `vmap_jaxpr`, and the dims of its outputs."""
    axis, out_dims = Axis(size, TraceTag('vmap', Jaxpr)), []

    def batched(*vals):
        outs, dims = vmap_flat(partial(run, jaxpr), axis, vals,
                               [0 if has else None for has in mapped])
        out_dims[:] = [0 if want else dim
                       for dim, want in zip(dims, wanted, strict=True)]
        # What is mapped is no Python number any more, and keeps its dtype.
        return [y if to is None else
                convert(spread(y, dim, size), aval.dtype)
                for y, dim, to, aval in
                zip(outs, dims, out_dims, jaxpr.out_avals)]

    avals = [array_type((size, *aval.shape), aval.dtype) if has else aval
             for aval, has in zip(jaxpr.in_avals, mapped, strict=True)]
    return stage_program(batched, avals, axis.tag), out_dims


@remembered
def partial_eval_jaxpr(jaxpr, unknown, wanted):
    """Returns a program cut in two, and how to put them together.

    Args:
        jaxpr: a program that closes over arrays only.
        unknown: for each argument, whether it is known later.
        wanted: for each output, whether it is to be an unknown one.

    Returns:
        `(known, later, out_unknown)`.  The program `known` is from the known
        arguments to the known outputs, and residuals.  The program `later`
        is from residuals and unknown arguments to the unknown outputs.
    """
    tag, found = TraceTag('partial evaluation', Jaxpr), []

    def known(*xs):
        with PartialEvalTrace(current_trace(), tag) as trace:
            inputs = list(map(trace.input, picked(jaxpr.in_avals, unknown)))
            outs = run(jaxpr, *interleave(unknown, inputs, xs))
            out_unknown = [want or trace.is_unknown(y)
                           for y, want in zip(outs, wanted, strict=True)]
            later, residuals = close(drop_dead(
                trace.jaxpr(inputs, picked(outs, out_unknown))))
        found[:] = later, out_unknown
        return others(outs, out_unknown) + residuals

    return stage_program(known, others(jaxpr.in_avals, unknown), tag), *found


@remembered
def forward(jaxpr, count=0):
    """Returns a program without the outputs that are its arguments.

    But with the first `count` outputs.  And a list, with the position of the
    argument for each output that is left out, and None for each other.
    """
    place = {v: i for i, v in enumerate(jaxpr.invars)}
    passed = [place.get(v) if i >= count else None
              for i, v in enumerate(jaxpr.outvars)]
    kept = tuple(i for i, p in enumerate(passed) if p is None)
    return permute(jaxpr, tuple(range(len(place))), kept), passed


@remembered
def known_jaxpr(jaxpr, unknown, wanted):
    """Returns what of a program is known now, and which outputs are not.

    Args:
        jaxpr, unknown, wanted: as for `partial_eval_jaxpr`.

    Returns:
        A program from the known arguments to the known outputs, and a list.
    """
    known, _, out_unknown = partial_eval_jaxpr(jaxpr, unknown, wanted)
    count = out_unknown.count(False)
    known, _ = for_outputs(known, tuple(
        i < count for i in range(len(known.outvars))))
    return known, out_unknown


@remembered
def transpose_jaxpr(jaxpr, linear, given):
    """Returns a linear program, run backwards.

    Args:
        jaxpr: a program that closes over arrays only.
        linear: for each argument, whether the program is linear in it.
        given: for each output, whether there is a cotangent of it.

    Returns:
        A program from the other arguments, and the cotangents, to a
        cotangent for each linear argument.
    """
    tag = TraceTag('transpose', Jaxpr)

    def transposed(*arrays):
        n = linear.count(False)
        program = linear_flat(
            lambda *ts: run(jaxpr, *interleave(linear, ts, arrays[:n])),
            picked(jaxpr.in_avals, linear), tag)
        zeros = map(Zero, others(jaxpr.out_avals, given))
        cts = interleave(given, arrays[n:], zeros)
        return list(map(instantiate_zeros,
                        backward_pass(program, program.consts, cts)))

    cts = map(tangent_type, picked(jaxpr.out_avals, given))
    return stage_program(
        transposed, [*others(jaxpr.in_avals, linear), *cts], tag)


@remembered
def permute(jaxpr, ins, outs):
    """Returns a program with arguments and outputs in another order.

    Args:
        jaxpr: a program that closes over arrays only.
        ins: the positions of its arguments, in the new order.
        outs: the positions of the outputs; some may be left out.
    """
    return Jaxpr(jaxpr.constvars, [jaxpr.invars[i] for i in ins], jaxpr.eqns,
                 [jaxpr.outvars[i] for i in outs], jaxpr.consts)


@remembered
def for_outputs(jaxpr, used):
    """Returns a program with some outputs only, and which arguments matter.

    It takes all of them.
    """
    program = drop_dead(Jaxpr(jaxpr.constvars, jaxpr.invars, jaxpr.eqns,
                              picked(jaxpr.outvars, used), jaxpr.consts))
    read = {v for eqn in program.eqns for v in eqn.invars}
    read.update(program.outvars)
    return program, tuple(v in read for v in program.invars)


def for_arguments(jaxpr, used):
    """Returns a program that takes only those arguments that matter."""
    return permute(jaxpr, tuple(picked(range(len(used)), used)),
                   tuple(range(len(jaxpr.outvars))))


def smaller(eqn, operands, results, **params):
    """Returns an equation with only some operands, and some results."""
    return Equation(eqn.primitive, picked(eqn.invars, operands),
                    eqn.params | params, picked(eqn.outvars, results),
                    eqn.line)


def zeros(aval):
    """Returns zeros of this type, as an array or a NumPy scalar."""
    return np.zeros(aval.shape, aval.dtype)[()]
