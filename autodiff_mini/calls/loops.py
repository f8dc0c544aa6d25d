"""`scan` and `while_loop`: loops that carry a value.

A loop is one operation, whose body is a program.  So the body is transformed
once, however often the loop runs.  If a carry can be perturbed, mapped, or
unknown at some step, it is treated so at every step.

The number of steps of a `while_loop` is unknown until the loop ends.  So
forward mode can follow the loop, but reverse mode cannot run it backwards.
Chapters 15 and 16.
"""

import operator
from dataclasses import replace
from itertools import repeat

import numpy as np

from autodiff_mini.calls.cond import fill_from_first_match, where
from autodiff_mini.calls.jit import jit_p, run_compiled
from autodiff_mini.calls.programs import (
    close_and_dedupe, close_together, compute_forwarded, defpartial, evaluate,
    fit_outputs, for_arguments, for_outputs, interleave, jvp_jaxpr,
    known_jaxpr, others, partial_eval_jaxpr, permute, picked, prune_equation,
    remembered, stage_program, stage_tree, transpose_jaxpr, vmap_jaxpr, zeros)
from autodiff_mini.core import seams
from autodiff_mini.core.jaxprs import (
    Equation, Jaxpr, Literal, Var, dead_rules, linear_parts)
from autodiff_mini.core.memory import innermost_array
from autodiff_mini.core.names import TraceTag
from autodiff_mini.core.public import public
from autodiff_mini.core.trace import Primitive
from autodiff_mini.core.trees import leaf_names, map_leaves, tree_flatten
from autodiff_mini.core.types import array_type, common_type, convert, typeof
from autodiff_mini.core.zeros import (
    Zero, instantiate_all, instantiate_zeros, perturbed, put_zeros_back)
from autodiff_mini.interpreters import (
    abstract, jvp, lowering, transpose, vmap)

# What all loops have in common.
CONSTANT, CARRY, ROW = range(3)     # the kinds of a loop's operands


def loop_primitive(name, key):
    """Return a loop primitive whose body is the parameter `key`.

    Evaluation compiles a program that contains only the loop.
    """
    def run_loop(*operands, **params):
        program = one_equation(params.pop(key), key, primitive,
                               tuple(map(typeof, operands)), *params.items())
        return run_compiled(*operands, jaxpr=program)
    primitive = Primitive(name, run_loop, multiple_results=True)
    return primitive


@remembered
def one_equation(body, key, primitive, avals, *params):
    """Return a program of one equation, a loop; it is cached on the body.

    A cached result that refers to its program would keep both alive, so the
    parameter `key` is a copy of the body.
    """
    params = {key: replace(body, cache={}), **dict(params)}
    operands = [*map(Var, avals)]
    outs = [*map(Var, abstract.rules[primitive](*avals, **params))]
    eqn = Equation(primitive, operands, params, outs)
    return Jaxpr([], operands, [eqn], outs, [])


def kinds_of(operands, counts) -> list:
    """Return the kinds of a loop's operands: constants, carry, rows."""
    rows = len(operands) - sum(counts)
    return [CONSTANT] * counts[0] + [CARRY] * counts[1] + [ROW] * rows


def marked_kinds(operands, counts, marks) -> list:
    """Return the kinds of operands, and of tangents of the marked ones."""
    kinds = kinds_of(operands, counts)
    return kinds + picked(kinds, marks)


def counts_of(kinds) -> tuple:
    """Return the numbers of constants and carries."""
    return kinds.count(CONSTANT), kinds.count(CARRY)


def by_kind(kinds) -> tuple:
    """Return the stable order that groups values by kind."""
    return tuple(sorted(range(len(kinds)), key=kinds.__getitem__))


def grouped(operands, kinds, *bodies):
    """Return operands grouped by kind, their counts, and matching programs.

    Args:
        operands: the operands in the order of the arguments of the programs.
        kinds: for each of them, its kind.
        bodies: programs that take them.
    """
    order = by_kind(kinds)
    return [operands[i] for i in order], counts_of(kinds), *[
        permute(body, order, range(len(body.outvars))) for body in bodies]


def split(xs, counts):
    """Return constants, carry, and rows: three lists."""
    start, end = counts[0], counts[0] + counts[1]
    return list(xs[:start]), list(xs[start:end]), list(xs[end:])


def fixpoint(step, start):
    """Apply `step` to the marks until it adds none, and return them.

    A mark says that a carry is perturbed, mapped, or unknown.

    Args:
        step: a function from marks before the body to marks after it.
        start: a tuple of booleans.
    """
    while True:
        end = either(start, step(start))
        if end == start:
            return start
        start = end


def either(marks, more) -> tuple:
    """Return the marks that are set in either of two tuples."""
    return tuple(a or b for a, b in zip(marks, more, strict=True))


def at_all_steps(transform, jaxpr, marks, counts, *more):
    """Return the marks of a loop's operands at all steps, and its body.

    Args:
        transform: `transform(jaxpr, marks, wanted, *more)`, which returns a
            tuple that ends with the marks of the outputs.
        jaxpr: the body of a loop.
        marks: the marks of its arguments at the first step.
        counts: how many of them are constants and carries.
        more: other arguments of the transform.

    Returns:
        A tuple of booleans, and the results of `transform` for them.
    """
    n, (before, carry, rows) = counts[1], map(tuple, split(marks, counts))
    rest = (False,) * (len(jaxpr.outvars) - n)

    def body(carry):
        return transform(jaxpr, before + carry + rows, carry + rest, *more)

    carry = fixpoint(lambda carry: body(carry)[-1][:n], carry)
    return before + carry + rows, body(carry)


@remembered
def hoist(jaxpr, count):
    """Split off the equations that need only a program's first arguments.

    Args:
        jaxpr: a program that closes over arrays only.
        count: the number of these first arguments.

    Returns:
        A program from the first arguments to some values, and a program from
        the first arguments, these values, and the others to the outputs.
    """
    fixed, first, rest = {*jaxpr.constvars, *jaxpr.invars[:count]}, [], []
    for eqn in jaxpr.eqns:
        is_fixed = all(type(v) is Literal or v in fixed for v in eqn.invars)
        (first if is_fixed else rest).append(eqn)
        fixed.update(eqn.outvars if is_fixed else ())
    used = {v for eqn in rest for v in eqn.invars} | {*jaxpr.outvars}
    values = [v for eqn in first for v in eqn.outvars if v in used]
    before, behind = jaxpr.invars[:count], jaxpr.invars[count:]
    return (replace(jaxpr, invars=before, eqns=first, outvars=values,
                    cache={}),
            replace(jaxpr, invars=before + values + behind, eqns=rest,
                    cache={}))


def for_outputs_at_all_steps(body, used, counts):
    """Return a body for some outputs, and the arguments and outputs it needs.

    A carry that a step needs is also an output of the step before.
    """
    start, end = counts[0], sum(counts)
    used = fixpoint(lambda used: (
        *for_outputs(body, used)[1][start:end], *used[counts[1]:]), used)
    body, matter = for_outputs(body, used)
    return body, matter[:start] + used[:counts[1]] + matter[end:], used


# `scan`: its rules.
scan_p = loop_primitive('scan', 'jaxpr')


def scan_types(*_, jaxpr, length, reverse, counts):
    n = counts[1]
    return jaxpr.out_avals[:n] + [
        array_type((length, *aval.shape), aval.dtype)
        for aval in jaxpr.out_avals[n:]]


abstract.rules[scan_p] = scan_types


def loop_scan(body, *operands, length, reverse, counts):
    """Run a loop of at least one step, and stack its rows of outputs."""
    consts, carry, xs = split(operands, counts)
    rows = []
    for i in reversed(range(length)) if reverse else range(length):
        outs = body(*consts, *carry, *[x[i] for x in xs])
        carry = outs[:counts[1]]
        rows.append(outs[counts[1]:])
    ys = zip(*(rows[::-1] if reverse else rows))
    return [*carry, *map(np.stack, ys)]


def scan_lowering(emitter, *names, jaxpr, **loop):
    """Return a call of `loop_scan`, or its outputs if there are no steps."""
    if loop['length'] == 0:
        outs = split(names, loop['counts'])[1]
        ys = scan_types(jaxpr=jaxpr, **loop)[len(outs):]
        outs += [emitter.value(zeros(aval)) for aval in ys]
        return f'[{", ".join(outs)}]'
    function = emitter.constant('loop_scan', loop_scan)
    keywords = [f'{key}={x}' for key, x in loop.items()]
    body = emitter.nested('body', jaxpr)
    return f'{function}({", ".join([body, *names, *keywords])})'


lowering.rules[scan_p] = scan_lowering


def scan_jvp(primals, tangents, jaxpr, counts, **loop):
    moving, (body, out_moving) = at_all_steps(
        jvp_jaxpr, jaxpr, perturbed(tangents), counts)
    out_order = by_kind(marked_kinds(out_moving, (0, counts[1]), out_moving))
    operands, counts, body = grouped(
        [*primals, *map(at_start, picked(tangents, moving))],
        marked_kinds(primals, counts, moving), body)
    body = permute(body, range(len(operands)), out_order)
    outs = scan_p.bind(*operands, jaxpr=body, counts=counts, **loop)
    outs = [outs[out_order.index(i)] for i in range(len(outs))]
    return put_zeros_back(outs, out_moving)


jvp.rules[scan_p] = scan_jvp


def at_start(t):
    """Return a tangent as an array; another library's zero as NumPy zeros."""
    if type(t) is Zero and seams.library_of([t.like]):
        zero = np.zeros((), t.aval.dtype)
        return np.broadcast_to(zero, t.aval.shape)[()]
    return instantiate_zeros(t)


def scan_vmap(axis, vals, dims, jaxpr, counts, **loop):
    """Run a loop over batches; in rows, the axis of the steps comes first."""
    mapped, (body, _, out_mapped) = at_all_steps(
        vmap_jaxpr, jaxpr, [dim == 0 for dim in dims], counts, axis.size)
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


def scan_partial_eval(trace, args, unknown, jaxpr, counts, **loop):
    """Loop twice: now over the known values, and later over the others.

    A residual is the same at all steps, a row of an operand, or a value
    saved at each step.
    """
    unknown, (known, later, out_unknown) = at_all_steps(
        partial_eval_jaxpr, jaxpr, unknown, counts)
    kinds = kinds_of(args, counts)
    now, now_kinds = others(args, unknown), others(kinds, unknown)
    n, m = now_kinds.count(CONSTANT), out_unknown.count(False)

    # Equations that need only constants run once, before the loop, unless
    # there are no steps: then they must not raise an error or warn.
    if loop['length']:
        first, known = hoist(known, n)
        now[n:n] = trace.compute(jit_p, now[:n],
                                 {'jaxpr': first, 'name': 'scan'})
        now_kinds[n:n] = [CONSTANT] * len(first.outvars)
    carried = tuple(i for i, kind in enumerate(now_kinds) if kind == CARRY)
    outs, passed = compute_forwarded(trace, scan_p, now, {
        'jaxpr': known, 'counts': counts_of(now_kinds), **loop},
        m, carried)
    res_kinds = [ROW if i is None else now_kinds[i] for i in passed[m:]]

    operands, counts, later = grouped(
        [*outs[m:], *picked(args, unknown)],
        res_kinds + picked(kinds, unknown), later)
    late = trace.record(scan_p, operands, {
        'jaxpr': later, 'counts': counts, **loop})
    return interleave(out_unknown, late, outs[:m])


defpartial(scan_p, scan_partial_eval)


def scan_transpose(cts, *operands, jaxpr, length, reverse, counts):
    """Loop in the other direction, and carry the cotangents.

    A constant is used at each step, so its cotangents are summed.
    """
    kinds, n = kinds_of(operands, counts), counts[1]
    unknown = [type(x) is Var for x in operands]
    linear = tuple(here or kind == CARRY
                   for here, kind in zip(unknown, kinds))
    if any(map(is_nonzero, others(picked(operands, linear),
                                  picked(unknown, linear)))):
        raise TypeError('the program is not linear: it depends on its inputs '
                        'through a scan whose initial carry is not zero')
    given = perturbed(cts[n:])
    arrays = [x for x in [*cts, *operands] if type(x) not in (Var, Zero)]
    sums = [Zero(x.aval) for x in operands[:counts[0]] if type(x) is Var]
    ins, counts, body = grouped(
        [*instantiate_all(sums, arrays), *others(operands, linear),
         *instantiate_all(cts[:n], arrays), *picked(cts[n:], given)],
        [*repeat(CARRY, len(sums)), *others(kinds, linear),
         *repeat(CARRY, n), *repeat(ROW, sum(given))],
        add_to_sums(jaxpr, linear, (True,) * n + given, len(sums)))
    outs = scan_p.bind(*ins, jaxpr=body, length=length, reverse=not reverse,
                       counts=counts)
    return [ct if here else None for ct, here in
            zip(interleave(linear, outs, repeat(None)), unknown)]


def is_nonzero(x):
    """Return whether an array is known not to be all zeros."""
    x = innermost_array(x)
    return x is not None and np.any(x)


@remembered
def add_to_sums(jaxpr, linear, given, count):
    """Return a transposed body that adds its first outputs to sums.

    Args:
        jaxpr, linear, given: as for `transpose_jaxpr`.
        count: the number of sums, which are the first arguments.
    """
    back = transpose_jaxpr(jaxpr, linear, given)

    def body(*args):
        outs = evaluate(back, *args[count:])
        return [*map(operator.add, args[:count], outs), *outs[count:]]
    return stage_program(body, [*back.out_avals[:count], *back.in_avals],
                         TraceTag('transpose', Jaxpr))


def scan_parts(marks, jaxpr, counts, **params):
    """Yield the body, with every part of the carry marked as linear."""
    consts, carry, xs = split(marks, counts)
    yield jaxpr, [*consts, *[True] * len(carry), *xs]


transpose.rules[scan_p] = scan_transpose
linear_parts[scan_p] = scan_parts


def scan_for_outputs(eqn, used):
    jaxpr, counts = eqn.params['jaxpr'], eqn.params['counts']
    body, matter, used = for_outputs_at_all_steps(jaxpr, used, counts)
    return prune_equation(
        eqn, matter, used, jaxpr=for_arguments(body, matter),
        counts=counts_of(picked(kinds_of(matter, counts), matter)))


dead_rules[scan_p] = scan_for_outputs


# `while`: its rules.
while_p = loop_primitive('while', 'body')
abstract.rules[while_p] = lambda *avals, test, body, counts: body.out_avals


def loop_while(test, body, *operands, counts):
    """Run a loop whose functions take the constants and the carry."""
    consts, carry, _ = split(operands, counts)
    while test(*consts, *carry)[0]:
        carry = body(*consts, *carry)
    return carry


def while_lowering(emitter, *names, test, body, counts):
    """Return a call of `loop_while`, with functions for test and body."""
    loop = emitter.constant('loop_while', loop_while)
    functions = emitter.nested('test', test), emitter.nested('body', body)
    return f'{loop}({", ".join([*functions, *names])}, counts={counts})'


lowering.rules[while_p] = while_lowering


def while_jvp(primals, tangents, test, body, counts):
    moving, (body, out_moving) = at_all_steps(
        jvp_jaxpr, body, perturbed(tangents), counts)
    test = with_unused(test, tuple(body.in_avals[len(primals):]))
    operands, counts, body, test = grouped(
        [*primals, *map(instantiate_zeros, picked(tangents, moving))],
        marked_kinds(primals, counts, moving), body, test)
    outs = while_p.bind(*operands, test=test, body=body, counts=counts)
    return put_zeros_back(outs, out_moving)


@remembered
def with_unused(jaxpr, avals):
    """Return a program with additional arguments that it ignores."""
    return replace(jaxpr, invars=[*jaxpr.invars, *map(Var, avals)], cache={})


jvp.rules[while_p] = while_jvp


def while_vmap(axis, vals, dims, test, body, counts):
    """Run a loop of batches until all elements are done."""
    n, size = counts[0], axis.size
    mapped, _ = at_all_steps(vmap_jaxpr, body, [dim == 0 for dim in dims],
                             counts, size)
    goes_on, _, (some_stop_early,) = vmap_jaxpr(test, mapped, (False,), size)
    if some_stop_early:
        mapped = mapped[:n] + (True,) * counts[1]
        goes_on, *_ = vmap_jaxpr(test, mapped, (True,), size)
    step, *_ = vmap_jaxpr(body, mapped, mapped[n:], size)
    if some_stop_early:
        step, goes_on = stop_each(step, goes_on, mapped), any_of(goes_on)
    vals = [vmap.spread(x, dim, size) if has else x
            for x, dim, has in zip(vals, dims, mapped)]
    outs = while_p.bind(*vals, test=goes_on, body=step, counts=counts)
    return outs, [0 if has else None for has in mapped[n:]]


@remembered
def any_of(test):
    """Return a test that holds if `test` holds for any element."""
    return stage_program(lambda *xs: [np.any(evaluate(test, *xs)[0])],
                         test.in_avals, TraceTag('vmap', test))


@remembered
def stop_each(body, test, mapped):
    """Return a body that leaves elements unchanged once `test` fails."""
    def step(*xs):
        before = xs[len(xs) - len(body.outvars):]
        goes_on, = evaluate(test, *xs)
        after = evaluate(body, *fill_from_first_match(goes_on, xs, mapped))
        return [where(goes_on, y, x) for x, y in zip(before, after)]
    return stage_program(step, body.in_avals, TraceTag('vmap', body))


vmap.rules[while_p] = while_vmap


def while_partial_eval(trace, args, unknown, test, body, counts):
    """Loop now over the known values, and later over all values again."""
    late = trace.record(while_p, args, {
        'test': test, 'body': body, 'counts': counts})
    unknown, (step, out_unknown) = at_all_steps(known_jaxpr, body, unknown,
                                                counts)
    goes_on, (is_late,) = known_jaxpr(test, unknown, (False,))
    if is_late:
        return late
    outs = trace.compute(while_p, others(args, unknown), {
        'test': goes_on, 'body': step,
        'counts': counts_of(others(kinds_of(args, counts), unknown))})
    return interleave(out_unknown, picked(late, out_unknown), outs)


defpartial(while_p, while_partial_eval)


def while_transpose(*_, **__):
    raise TypeError(
        'Reverse-mode differentiation does not work for while_loop, or for '
        'fori_loop with traced bounds, because the number of steps is '
        'unknown. Use fori_loop with bounds that are Python integers.')


transpose.rules[while_p] = while_transpose


def while_for_outputs(eqn, used):
    test, body, counts = map(eqn.params.get, ('test', 'body', 'counts'))
    _, asked = for_outputs(test, (True,))
    body, matter, carry = for_outputs_at_all_steps(
        body, either(used, asked[counts[0]:]), counts)
    matter = either(matter, asked)
    return prune_equation(
        eqn, matter, carry, body=for_arguments(body, matter),
        test=for_arguments(test, matter),
        counts=counts_of(picked(kinds_of(matter, counts), matter)))


dead_rules[while_p] = while_for_outputs


# The public functions, which check their arguments.
@public(takes_function=True)
def scan(f, init, xs=None, length=None, reverse=False):
    """Return the last carry of a loop and the stacked outputs of its steps.

    Args:
        f: `f(carry, x) -> (carry, y)`, the body of the loop.  The carry must
            keep its structure, shapes, and dtypes.
        init: the first carry, a tree of arrays.
        xs: a tree of arrays.  Each step takes their next element, `x`, along
            the first axis.
        length: the number of steps, if there are no `xs`.
        reverse: whether to begin with the last element.

    Returns:
        `(carry, ys)`, where `ys` has the structure of `y`, with an axis in
        front.

    Raises:
        TypeError: `f` does not return a pair, or the carry changes its type.
        ValueError: the lengths disagree, or there is no length.

    Source: `jax.lax.scan`.

    Examples:
        >>> scan(lambda total, x: (total + x, total), 0.0, np.arange(4.0))
        (6.0, array([0., 0., 1., 3.]))
    """
    return bind_scan(TraceTag('scan', f), f, init, xs, length, reverse)


def bind_scan(tag, f, init, xs, length=None, reverse=False):
    """Stage the body of a scan, bind the loop, and return its results.

    Args:
        tag: which application of which transformation this is.
        f, init, xs, length, reverse: as for `scan`.
    """
    seams.check('rows', tag, xs)
    seams.check('length', tag, xs, length)
    rows, xs_tree = tree_flatten(xs)
    avals = list(map(typeof, rows))
    lengths = {aval.shape[0] for aval in avals}
    [length] = lengths if length is None else lengths | {int(length)}
    element = xs_tree.unflatten(
        array_type(aval.shape[1:], aval.dtype) for aval in avals)
    jaxpr, carry, out_tree = stage_body(
        tag, f, 'init', init, (element,))
    jaxpr, consts = close_and_dedupe(jaxpr)
    outs = scan_p.bind(*consts, *carry, *rows, jaxpr=jaxpr, length=length,
                       reverse=bool(reverse),
                       counts=(len(consts), len(carry)))
    return out_tree.unflatten(outs)


def stage_body(tag, f, what, init, args=()):
    """Return the body of a loop as a program, and its first carry.

    Args:
        tag: which application of which transformation this is.
        f: the body, a function of a carry and the `args`, which returns a
            carry and an output.
        what: what errors call the first carry.
        init: the first carry, a tree.  A Python number becomes an array if
            the body makes it one.
        args: the types of other arguments, a tuple of trees.

    Returns:
        The program, the leaves of the carry, and the structure of the output.
    """
    carry, tree = tree_flatten(init)
    names = lambda: leaf_names(tree, f'{tag}: {what}')
    better, avals = map_leaves(typeof, names, carry), None
    while better != avals:
        avals = better
        jaxpr, out_tree = stage_tree(f, (tree.unflatten(avals), *args), {},
                                     tag)
        seams.check('carry', tag, tree, out_tree)
        if out_tree.children[:1] != (tree,):
            raise TypeError(f'{tag}: {ALIKE} the same structure')
        better = list(map(promote_carry, avals, jaxpr.out_avals))
    seams.check('carry_types', tag, tree, avals, jaxpr.out_avals)
    if any(x[:2] != y[:2] for x, y in zip(avals, jaxpr.out_avals)):
        raise TypeError(f'{tag}: {ALIKE} equal types')
    types = avals + jaxpr.out_avals[len(avals):]
    carry = [convert(x, aval.dtype, aval.weak_type)
             for x, aval in zip(carry, avals)]
    return fit_outputs(jaxpr, types, tag), carry, out_tree


ALIKE = 'body function carry input and carry output must have'


def promote_carry(aval, out_aval):
    """Return the type of a carry, which can start as a Python number."""
    return aval.weak_type and common_type([aval, out_aval]) or aval


@public(takes_function=True)
def while_loop(cond_fun, body_fun, init_val):
    """Return the first carry for which the condition does not hold.

    Args:
        cond_fun: `cond_fun(carry) -> bool`, a scalar.
        body_fun: `body_fun(carry) -> carry`.  It must keep the structure,
            shapes, and dtypes.
        init_val: the first carry, a tree of arrays.

    Raises:
        TypeError: the condition is not a boolean scalar, the carry changes
            its type, or the loop is differentiated in reverse mode.

    Source: `jax.lax.while_loop`.

    Examples:
        >>> while_loop(lambda x: x < 100, lambda x: x * 2, 3)
        192
    """
    seams.check('functions', 'while_loop', (cond_fun, body_fun))
    return bind_while(TraceTag('while_loop', body_fun), cond_fun, body_fun,
                      init_val)


def bind_while(tag, cond_fun, body_fun, init_val):
    """Stage condition and body, bind the loop, and return its results.

    Args:
        tag: which application of which transformation this is.
        cond_fun, body_fun, init_val: as for `while_loop`.
    """
    def pair(carry):
        return body_fun(carry), None
    pair.__wrapped__ = body_fun     # which is searched for random numbers
    body, carry, tree = stage_body(tag, pair, 'init_val', init_val)
    tree = tree.children[0]
    test, test_tree = stage_tree(cond_fun, (tree.unflatten(carry),), {}, tag)
    seams.check('condition', tag, cond_fun, test, test_tree)
    (test, body), consts = close_together([test, body])
    outs = while_p.bind(*consts, *carry, test=test, body=body,
                        counts=(len(consts), len(carry)))
    return tree.unflatten(outs)
