"""`scan`: a loop that carries a value, and is one operation.

Its one idea: the body is a program, so it is transformed once, however often
the loop runs.  What a carry *may* be at any step (moving, mapped, unknown),
it is at every step.  Chapter 13.
"""

import operator
from dataclasses import replace
from itertools import chain, repeat

import numpy as np

from autodiff_mini.arrays import convert, foreign_one
from autodiff_mini.core import Primitive, TraceTag, array_type, typeof
from autodiff_mini.errors import public
from autodiff_mini.higher_order.carries import (
    carry_of_pair, common_length, element_type, stage_body)
from autodiff_mini.higher_order.jit import jit_p, run_compiled
from autodiff_mini.higher_order.loops import (
    at_all_steps, beside, fixpoint, hoist, split)
from autodiff_mini.higher_order.programs import (
    close_once_more, for_arguments, for_outputs, interleave, jvp_jaxpr,
    others, partial_eval_jaxpr, permute, picked, remembered, run, smaller,
    stage_program, transpose_jaxpr, vmap_jaxpr, zeros)
from autodiff_mini.interpreters.abstract import abstract_rules
from autodiff_mini.interpreters.jvp import jvp_rules
from autodiff_mini.interpreters.lowering import lowering_rules
from autodiff_mini.interpreters.partial_eval import partial_eval_rules
from autodiff_mini.interpreters.transpose import linear_parts, transpose_rules
from autodiff_mini.interpreters.vmap import spread, vmap_rules
from autodiff_mini.jaxprs import Equation, Jaxpr, Var, dead_rules
from autodiff_mini.pytree import leaf_names, tree_flatten
from autodiff_mini.signature import map_leaves
from autodiff_mini.zeros import (
    Zero, instantiate_all, instantiate_zeros, unpack)


def run_scan(*operands, jaxpr, **params):
    program = one_equation(jaxpr, 'jaxpr', scan_p,
                           tuple(map(typeof, operands)), *params.items())
    return run_compiled(*operands, jaxpr=program, name='scan')


@remembered
def one_equation(body, key, primitive, avals, *params):
    """Returns a program of nothing else; it is kept with its body.

    What is kept with a program must not hold it, or both would stay.  So
    there is a twin of the body in it, as the parameter `key`.
    """
    params = {key: replace(body, cache={}), **dict(params)}
    operands = [*map(Var, avals)]
    outs = [*map(Var, abstract_rules[primitive](*avals, **params))]
    eqn = Equation(primitive, operands, params, outs)
    return Jaxpr([], operands, [eqn], outs, [])


scan_p = Primitive('scan', run_scan, multiple_results=True)


def scan_types(*_, jaxpr, length, reverse, counts):
    n = counts[1]
    return jaxpr.out_avals[:n] + [
        array_type((length, *aval.shape), aval.dtype)
        for aval in jaxpr.out_avals[n:]]


abstract_rules[scan_p] = scan_types


def loop_scan(body, *operands, length, reverse, counts):
    """Loops, at least once; each row of results is one array at the end."""
    consts, carry, xs = split(operands, counts)
    rows = []
    for i in reversed(range(length)) if reverse else range(length):
        outs = body(*consts, *carry, *[x[i] for x in xs])
        carry = outs[:counts[1]]
        rows.append(outs[counts[1]:])
    ys = zip(*(rows[::-1] if reverse else rows))
    return [*carry, *map(np.stack, ys)]


def scan_lowering(emitter, *names, jaxpr, length, reverse, counts):
    """Returns a call of `loop_scan`; of no steps, the carry and no rows."""
    params = {'length': length, 'reverse': reverse, 'counts': counts}
    if length == 0:
        ys = scan_types(jaxpr=jaxpr, **params)[counts[1]:]
        outs = split(names, counts)[1]
        outs += [emitter.value(zeros(aval)) for aval in ys]
        return f'[{", ".join(outs)}]'
    loop = emitter.constant('loop_scan', loop_scan)
    keywords = [f'{key}={x}' for key, x in params.items()]
    body = emitter.nested('body', jaxpr)
    return f'{loop}({", ".join([body, *names, *keywords])})'


lowering_rules[scan_p] = scan_lowering


def scan_jvp(primals, tangents, jaxpr, length, reverse, counts):
    consts, carry, xs = split([type(t) is not Zero for t in tangents], counts)
    carry, (body, out_moving) = at_all_steps(jvp_jaxpr, jaxpr, consts, carry,
                                             xs)
    moving = consts, carry, xs
    out_moving = split(out_moving, (0, counts[1]))[1:]
    x_dots = split(tangents, counts)
    outs = scan_p.bind(
        *chain(*[[*x, *map(at_start, picked(x_dot, moves))]
                 for x, x_dot, moves in
                 zip(split(primals, counts), x_dots, moving)]),
        jaxpr=permute(body, beside(moving), beside(out_moving)),
        length=length, reverse=reverse,
        counts=(len(consts) + sum(consts), len(carry) + sum(carry)))
    order = beside(out_moving)
    outs = [outs[order.index(i)] for i in range(len(outs))]
    return unpack(outs, [not moves for moves in chain(*out_moving)])


jvp_rules[scan_p] = scan_jvp


def at_start(t):
    """Returns a tangent as an array; a zero can be looked at, as NumPy's."""
    if type(t) is Zero and foreign_one([t.like]) is not None:
        zero = np.zeros((), t.aval.dtype)
        return np.broadcast_to(zero, t.aval.shape)[()]
    return instantiate_zeros(t)


def scan_vmap(axis, vals, dims, jaxpr, length, reverse, counts):
    consts, carry, xs = split([dim == 0 for dim in dims], counts)
    carry, (body, out_mapped) = at_all_steps(
        lambda body, *marks: vmap_jaxpr(body, axis.size, *marks),
        jaxpr, consts, carry, xs)
    const_vals, carry_vals, x_vals = split(vals, counts)
    carry_vals = [spread(x, dim, axis.size) if has else x for x, dim, has
                  in zip(carry_vals, split(dims, counts)[1], carry)]
    outs = scan_p.bind(
        *const_vals, *carry_vals,
        *[np.swapaxes(x, 0, 1) if has else x for x, has in zip(x_vals, xs)],
        jaxpr=body, length=length, reverse=reverse, counts=counts)
    n = len(carry)
    ys = [np.swapaxes(y, 0, 1) if has else y
          for y, has in zip(outs[n:], out_mapped[n:])]
    return [*outs[:n], *ys], [0 if has else None for has in out_mapped]


vmap_rules[scan_p] = scan_vmap


def scan_partial_eval(trace, args, jaxpr, length, reverse, counts):
    """Loops twice: now over what is known, and later over the rest.

    What the second loop needs of the first is of three kinds: what is the
    same at all steps, what was scanned over, and what has to be kept at each.
    """
    unknown = list(map(trace.is_unknown, args))
    loop = {'length': length, 'reverse': reverse}
    if not any(unknown):
        return trace.compute(scan_p, args,
                             {'jaxpr': jaxpr, 'counts': counts, **loop})
    consts, carry, xs = split(unknown, counts)
    carry, (known, later, out_unknown) = at_all_steps(
        partial_eval_jaxpr, jaxpr, consts, carry, xs)
    arg_consts, arg_carry, arg_xs = split(args, counts)
    now = others(arg_consts, consts)
    now_carry, now_xs = others(arg_carry, carry), others(arg_xs, xs)

    first, body = hoist(known, len(now))
    now += trace.compute(jit_p, now, {'jaxpr': first, 'name': 'scan'})
    place = {v: i for i, v in enumerate(body.invars)}
    n, start = out_unknown.count(False), len(now) + len(now_carry)
    origin = [place.get(v) for v in body.outvars[n:]]
    is_kept = [p is None or len(now) <= p < start for p in origin]
    kept = picked(range(len(origin)), is_kept)
    outs = trace.compute(scan_p, [*now, *now_carry, *now_xs], {
        'jaxpr': permute(body, tuple(range(len(place))),
                         (*range(n), *[n + i for i in kept])),
        'counts': (len(now), len(now_carry)), **loop})

    rows = iter(outs[n:])
    residuals = [next(rows) if keep else
                 now[p] if p < len(now) else now_xs[p - start]
                 for p, keep in zip(origin, is_kept)]
    is_row = [keep or p >= len(now) for p, keep in zip(origin, is_kept)]
    n_consts, n_carry = sum(consts), sum(carry)
    late_args = range(len(residuals), len(later.invars))
    ins = (*others(range(len(residuals)), is_row),
           *late_args[:n_consts + n_carry],
           *picked(range(len(residuals)), is_row),
           *late_args[n_consts + n_carry:])
    late = trace.record(scan_p, [
        *others(residuals, is_row), *picked(arg_consts, consts),
        *picked(arg_carry, carry),
        *picked(residuals, is_row), *picked(arg_xs, xs)], {
        'jaxpr': permute(later, ins, tuple(range(len(later.outvars)))),
        'counts': (is_row.count(False) + n_consts, n_carry), **loop})
    return interleave(out_unknown, late, outs[:n])


partial_eval_rules[scan_p] = scan_partial_eval


def scan_transpose(cts, *operands, jaxpr, length, reverse, counts):
    """Loops in the other direction, and carries the cotangents.

    A constant is used at each step, so all its cotangents are added.
    """
    linear = split([type(x) is Var for x in operands], counts)
    consts, carry, xs = split(operands, counts)
    if any(type(x) is not Var and np.any(x) for x in carry):
        raise TypeError('the program is not linear: a scan starts with a '
                        'carry that is not zero, and depends on its inputs')
    marks = (tuple(linear[0]), (True,) * len(carry), tuple(linear[2]))
    given = tuple(ct is not None for ct in cts[len(carry):])
    body = add_to_sums(jaxpr, *marks, given)
    like = foreign_one(x for x in [*cts, *operands] if type(x) is not Var)
    sums = instantiate_all(
        [Zero(x.aval) for x in picked(consts, linear[0])], like)
    ends = instantiate_all(
        [Zero(aval) if ct is None else ct
         for ct, aval in zip(cts, jaxpr.out_avals[:len(carry)])], like)
    res_consts = others(consts, linear[0])
    outs = scan_p.bind(
        *res_consts, *sums, *ends, *others(xs, linear[2]),
        *picked(cts[len(carry):], given), jaxpr=body, length=length,
        reverse=not reverse,
        counts=(len(res_consts), len(sums) + len(carry)))
    starts = outs[len(sums):len(sums) + len(carry)]
    return [*interleave(linear[0], outs[:len(sums)], repeat(None)),
            *[ct if here else None for ct, here in zip(starts, linear[1])],
            *interleave(linear[2], outs[len(sums) + len(carry):],
                        repeat(None))]


def scan_parts(marks, jaxpr, counts, **params):
    """Yield the body, in whose carry every part may be linear."""
    consts, carry, xs = split(marks, counts)
    yield jaxpr, [*consts, *[True] * len(carry), *xs]


linear_parts[scan_p] = scan_parts


@remembered
def add_to_sums(jaxpr, consts, carry, xs, given):
    """Returns the body of a transposed loop.

    Args:
        jaxpr: the body of the loop.
        consts, carry, xs: which of its arguments it is linear in.
        given: of which of its rows there are cotangents.
    """
    back = transpose_jaxpr(jaxpr, (*consts, *carry, *xs), (*carry, *given))
    n, n_sums = consts.count(False), sum(consts)
    n_carry, n_rows = len(carry), xs.count(False)
    sums_end = n + n_sums
    rows = sums_end + n_carry

    def body(*args):
        outs = run(back, *args[:n], *args[rows:rows + n_rows],
                   *args[sums_end:rows], *args[rows + n_rows:])
        return [*map(operator.add, args[n:sums_end], outs[:n_sums]),
                *outs[n_sums:]]

    avals = back.in_avals
    carried = avals[n + n_rows:n + n_rows + n_carry]
    return stage_program(
        body, [*avals[:n], *back.out_avals[:n_sums], *carried,
               *avals[n:n + n_rows], *avals[n + n_rows + n_carry:]],
        TraceTag('transpose', Jaxpr))


transpose_rules[scan_p] = scan_transpose


def scan_for_outputs(eqn, used):
    jaxpr, counts = eqn.params['jaxpr'], eqn.params['counts']
    carry, ys = used[:counts[1]], used[counts[1]:]
    carry = fixpoint(lambda carry: tuple(split(for_outputs(
        jaxpr, (*carry, *ys))[1], counts)[1]), carry)
    body, marks = for_outputs(jaxpr, (*carry, *ys))
    consts, _, xs = split(marks, counts)
    matter = *consts, *carry, *xs
    return smaller(eqn, matter, (*carry, *ys),
                   jaxpr=for_arguments(body, matter),
                   counts=(sum(consts), sum(carry)))


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
    jaxpr, traced = close_once_more(jaxpr)
    carry = [convert(x, aval.dtype, aval.weak_type)
             for x, aval in zip(carry, carry_avals)]
    outs = scan_p.bind(*traced, *carry, *rows, jaxpr=jaxpr, length=length,
                       reverse=bool(reverse),
                       counts=(len(traced), len(carry)))
    return out_tree.unflatten(outs)
