"""`scan`: a loop that carries a value, as one operation.

The body is a program, so it is transformed once, however often the loop runs.
If a carry can be perturbed, mapped, or unknown at some step, it is treated so
at every step.  Chapter 13.
"""

import operator
from itertools import repeat

import numpy as np

from autodiff_mini.arrays import convert, foreign_one
from autodiff_mini.core import TraceTag, array_type, typeof
from autodiff_mini.errors import public
from autodiff_mini.higher_order.jit import jit_p
from autodiff_mini.higher_order.loops import (
    CARRY, CONSTANT, ROW, at_all_steps, by_kind, carry_of_pair, common_length,
    counts_of,
    element_type, fixpoint, grouped, hoist, kinds_of, loop_primitive, split,
    stage_body)
from autodiff_mini.higher_order.programs import (
    batching, close_and_dedupe, for_arguments, for_outputs, forward, interleave, jvp_jaxpr,
    others, partial_eval_jaxpr, perturbed, picked, prune_equation, remembered,
    run, stage_program, transpose_jaxpr, unpack_marked, zeros)
from autodiff_mini.interpreters import (
    abstract, jvp, lowering, partial_eval, transpose, vmap)
from autodiff_mini.jaxprs import Jaxpr, Var, dead_rules
from autodiff_mini.pytree import leaf_names, tree_flatten
from autodiff_mini.signature import map_leaves
from autodiff_mini.zeros import Zero, instantiate_all, instantiate_zeros

scan_p = loop_primitive('scan', 'jaxpr')


def scan_types(*_, jaxpr, length, reverse, counts):
    n = counts[1]
    return jaxpr.out_avals[:n] + [
        array_type((length, *aval.shape), aval.dtype)
        for aval in jaxpr.out_avals[n:]]


abstract.rules[scan_p] = scan_types


def loop_scan(body, *operands, length, reverse, counts):
    """Run a loop of at least one step; stack each row of outputs at the end.
    """
    consts, carry, xs = split(operands, counts)
    rows = []
    for i in reversed(range(length)) if reverse else range(length):
        outs = body(*consts, *carry, *[x[i] for x in xs])
        carry = outs[:counts[1]]
        rows.append(outs[counts[1]:])
    ys = zip(*(rows[::-1] if reverse else rows))
    return [*carry, *map(np.stack, ys)]


def scan_lowering(emitter, *names, jaxpr, **loop):
    """Return a call of `loop_scan`; of no steps, the carry and no rows."""
    if loop['length'] == 0:
        outs = split(names, loop['counts'])[1]
        ys = scan_types(jaxpr=jaxpr, **loop)[len(outs):]
        outs += [emitter.value(zeros(aval)) for aval in ys]
        return f'[{", ".join(outs)}]'
    body = emitter.nested('body', jaxpr)
    keywords = [f'{key}={x}' for key, x in loop.items()]
    arguments = ', '.join([body, *names, *keywords])
    return f'{emitter.constant("loop_scan", loop_scan)}({arguments})'


lowering.rules[scan_p] = scan_lowering


def scan_jvp(primals, tangents, jaxpr, counts, **loop):
    moving, (body, out_moving) = at_all_steps(
        jvp_jaxpr, jaxpr, perturbed(tangents), counts)
    kinds = kinds_of(primals, counts)
    out_kinds = kinds_of(jaxpr.outvars, (0, counts[1]))
    out_order = by_kind(out_kinds + picked(out_kinds, out_moving))
    operands, params = grouped(
        [*primals, *map(at_start, picked(tangents, moving))],
        kinds + picked(kinds, moving), body, out_order)
    outs = scan_p.bind(*operands, **params, **loop)
    outs = [outs[out_order.index(i)] for i in range(len(outs))]
    return unpack_marked(outs, out_moving)


jvp.rules[scan_p] = scan_jvp


def at_start(t):
    """Return a tangent as an array; a zero can be read, as NumPy's zeros."""
    if type(t) is Zero and foreign_one([t.like]) is not None:
        zero = np.zeros((), t.aval.dtype)
        return np.broadcast_to(zero, t.aval.shape)[()]
    return instantiate_zeros(t)


def scan_vmap(axis, vals, dims, jaxpr, counts, **loop):
    """Run a loop of batches: of rows, the axis of the steps comes first."""
    mapped, (body, out_mapped) = at_all_steps(
        batching(axis.size), jaxpr, [dim == 0 for dim in dims], counts)
    vals = [vmap.spread(x, dim, axis.size) if has else x
            for x, dim, has in zip(vals, dims, mapped)]
    n, m = sum(counts), counts[1]
    outs = scan_p.bind(*vals[:n], *map(swap_axes, vals[n:], mapped[n:]),
                       jaxpr=body, counts=counts, **loop)
    ys = map(swap_axes, outs[m:], out_mapped[m:])
    return [*outs[:m], *ys], [0 if has else None for has in out_mapped]


def swap_axes(x, has_both):
    return np.swapaxes(x, 0, 1) if has_both else x


vmap.rules[scan_p] = scan_vmap


def scan_partial_eval(trace, args, jaxpr, counts, **loop):
    """Loop twice: now over the known values, and later over the others.

    A residual is the same at all steps, or a row of an operand, or it is
    kept at each step.
    """
    unknown = list(map(trace.is_unknown, args))
    if not any(unknown):
        return trace.compute(scan_p, args,
                             {'jaxpr': jaxpr, 'counts': counts, **loop})
    unknown, (known, later, out_unknown) = at_all_steps(
        partial_eval_jaxpr, jaxpr, unknown, counts)
    kinds = kinds_of(args, counts)
    now, now_kinds = others(args, unknown), others(kinds, unknown)
    n, m = now_kinds.count(CONSTANT), out_unknown.count(False)

    hoisted, body = hoist(known, n)
    now[n:n] = trace.compute(jit_p, now[:n],
                             {'jaxpr': hoisted, 'name': 'scan'})
    now_kinds[n:n] = [CONSTANT] * len(hoisted.outvars)
    body, passed = forward(body, m, tuple(
        i for i, kind in enumerate(now_kinds) if kind == CARRY))
    outs = iter(trace.compute(scan_p, now, {
        'jaxpr': body, 'counts': counts_of(now_kinds), **loop}))
    outs = [next(outs) if i is None else now[i] for i in passed]
    res_kinds = [ROW if i is None else now_kinds[i] for i in passed[m:]]

    operands, params = grouped(
        [*outs[m:], *picked(args, unknown)],
        res_kinds + picked(kinds, unknown), later)
    late = trace.record(scan_p, operands, params | loop)
    return interleave(out_unknown, late, outs[:m])


partial_eval.rules[scan_p] = scan_partial_eval


def scan_transpose(cts, *operands, jaxpr, length, reverse, counts):
    """Loop in the other direction, and carry the cotangents.

    A constant is used at each step, so all its cotangents are added.
    """
    kinds, n = kinds_of(operands, counts), counts[1]
    unknown = [type(x) is Var for x in operands]
    linear = tuple(here or kind == CARRY
                   for here, kind in zip(unknown, kinds))
    if any(map(np.any, others(picked(operands, linear),
                              picked(unknown, linear)))):
        raise TypeError('the program is not linear: a scan starts with a '
                        'carry that is not zero, and depends on its inputs')
    given = tuple(ct is not None for ct in cts[n:])
    like = foreign_one(x for x in [*cts, *operands] if type(x) is not Var)
    sums = [Zero(x.aval) for x in operands[:counts[0]] if type(x) is Var]
    ends = [Zero(aval) if ct is None else ct
            for ct, aval in zip(cts[:n], jaxpr.out_avals)]
    ins, params = grouped(
        [*instantiate_all(sums, like), *others(operands, linear),
         *instantiate_all(ends, like), *picked(cts[n:], given)],
        [*repeat(CARRY, len(sums)), *others(kinds, linear),
         *repeat(CARRY, n), *repeat(ROW, sum(given))],
        add_to_sums(jaxpr, linear, (True,) * n + given, len(sums)))
    outs = scan_p.bind(*ins, length=length, reverse=not reverse, **params)
    return [ct if here else None for ct, here in
            zip(interleave(linear, outs, repeat(None)), unknown)]


@remembered
def add_to_sums(jaxpr, linear, given, count):
    """Return a transposed body, whose first outputs are added to sums.

    Args:
        jaxpr, linear, given: as for `transpose_jaxpr`.
        count: the number of sums, which are the first arguments.
    """
    back = transpose_jaxpr(jaxpr, linear, given)

    def body(*args):
        outs = run(back, *args[count:])
        return [*map(operator.add, args[:count], outs), *outs[count:]]
    return stage_program(body, [*back.out_avals[:count], *back.in_avals],
                         TraceTag('transpose', Jaxpr))


def scan_parts(marks, jaxpr, counts, **params):
    """Yield the body, in whose carry every part may be linear."""
    consts, carry, xs = split(marks, counts)
    yield jaxpr, [*consts, *[True] * len(carry), *xs]


transpose.rules[scan_p] = scan_transpose
transpose.linear_parts[scan_p] = scan_parts


def scan_for_outputs(eqn, used):
    jaxpr, (start, n) = eqn.params['jaxpr'], eqn.params['counts']
    used = fixpoint(lambda used: (
        *for_outputs(jaxpr, used)[1][start:start + n], *used[n:]), used)
    body, matter = for_outputs(jaxpr, used)
    matter = matter[:start] + used[:n] + matter[start + n:]
    return prune_equation(eqn, matter, used,
                          jaxpr=for_arguments(body, matter),
                          counts=(sum(matter[:start]), sum(used[:n])))


dead_rules[scan_p] = scan_for_outputs


@public
def scan(f, init, xs=None, length=None, reverse=False):
    """Returns the last carry of a loop, and what its steps have put out.

    Args:
        f: `f(carry, x) -> (carry, y)`, the body of the loop.  Of a carry, the
            structure, shapes and dtypes must be the same at its beginning and
            at its end.
        init: the first carry, a tree of arrays.
        xs: a tree of arrays; at each step `x` is an element of them, along
            their first axis.
        length: how many steps there are, if there are no `xs`.
        reverse: whether to begin with the last element.

    Returns:
        `(carry, ys)`, where `ys` has the structure of `y`, with an axis in
        front.

    Raises:
        TypeError: `f` returns no pair, or the carry changes its type.
        ValueError: the lengths disagree, or there is none.

    Source: `jax.lax.scan`.

    Examples:
        >>> scan(lambda total, x: (total + x, total), 0.0, np.arange(4.0))
        (6.0, array([0., 0., 1., 3.]))
    """
    tag = TraceTag(getattr(f, 'loop', 'scan'), f)
    carry, carry_tree = tree_flatten(init)
    rows, xs_tree = tree_flatten(xs)
    names = lambda: leaf_names(carry_tree, f'{tag}: init')
    carry_avals = map_leaves(typeof, names, carry)
    if rows and isinstance(xs, list) and all(np.ndim(x) == 0 for x in rows):
        raise ValueError(f'{tag}: xs is a list of numbers, and not an array '
                         'to go along. Write np.array(xs).')
    names = lambda: leaf_names(xs_tree, f'{tag}: xs')
    row_avals = map_leaves(element_type, names, rows)
    length = common_length(tag, rows, names, length)
    x_avals = xs_tree.unflatten(row_avals)

    jaxpr, carry_avals, out_tree = stage_body(
        tag, f, carry_tree, carry_avals, (x_avals,), carry_of_pair)
    jaxpr, traced = close_and_dedupe(jaxpr)
    carry = [convert(x, aval.dtype, aval.weak_type)
             for x, aval in zip(carry, carry_avals)]
    outs = scan_p.bind(*traced, *carry, *rows, jaxpr=jaxpr, length=length,
                       reverse=bool(reverse),
                       counts=(len(traced), len(carry)))
    return out_tree.unflatten(outs)
