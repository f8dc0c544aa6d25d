"""`while_loop` and `fori_loop`: repeat a body while a condition holds.

The number of steps is unknown until the loop ends.  So forward mode can
follow the loop, but reverse mode cannot run it backwards.  Chapter 14.
"""

import numpy as np

from autodiff_mini.core import TraceTag, Tracer, fun_name, public, typeof
from autodiff_mini.higher_order.cond import fill_from_first_match, where
from autodiff_mini.higher_order.programs import (
    batching, close_together, defpartial, for_arguments, for_outputs,
    interleave, jvp_jaxpr, known_jaxpr, others, perturbed, picked,
    prune_equation, remembered, run, stage_program, unpack_marked)
from autodiff_mini.higher_order.scan import (
    at_all_steps, counts_of, either, fixpoint, grouped, kinds_of,
    loop_primitive, marked_kinds, scan, split, stage_body)
from autodiff_mini.interpreters import (
    abstract, jvp, lowering, transpose, vmap)
from autodiff_mini.interpreters.jaxpr import stage_tree
from autodiff_mini.jaxprs import Jaxpr, Var, dead_rules
from autodiff_mini.pytree import LEAF
from autodiff_mini.zeros import instantiate_zeros

while_p = loop_primitive('while', 'body')
abstract.rules[while_p] = lambda *avals, test, body, counts: body.out_avals


def loop_while(test, body, *operands, counts):
    """Run a loop of functions, which all take the constants and the carry."""
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
    return unpack_marked(outs, out_moving)


@remembered
def with_unused(jaxpr, avals):
    """Return a program that takes more arguments, and ignores them."""
    return Jaxpr(jaxpr.constvars, [*jaxpr.invars, *map(Var, avals)],
                 jaxpr.eqns, jaxpr.outvars, jaxpr.consts)


jvp.rules[while_p] = while_jvp


def while_vmap(axis, vals, dims, test, body, counts):
    """Run a loop of batches until all elements are done."""
    n, batched = counts[0], batching(axis.size)
    mapped, _ = at_all_steps(batched, body, [dim == 0 for dim in dims],
                             counts)
    goes_on, (some_stop_early,) = batched(test, mapped, (False,))
    if some_stop_early:
        mapped = mapped[:n] + (True,) * counts[1]
        goes_on, _ = batched(test, mapped, (True,))
    step, _ = batched(body, mapped, mapped[n:])
    if some_stop_early:
        step, goes_on = stop_each(step, goes_on, mapped), any_of(goes_on)
    vals = [vmap.spread(x, dim, axis.size) if has else x
            for x, dim, has in zip(vals, dims, mapped)]
    outs = while_p.bind(*vals, test=goes_on, body=step, counts=counts)
    return outs, [0 if has else None for has in mapped[n:]]


@remembered
def any_of(test):
    """Return a test that holds if `test` holds for any element."""
    return stage_program(lambda *xs: [np.any(run(test, *xs)[0])],
                         test.in_avals, TraceTag('vmap', test))


@remembered
def stop_each(body, test, mapped):
    """Return a body that leaves elements alone whose `test` has failed."""
    def step(*xs):
        before = xs[len(xs) - len(body.outvars):]
        goes_on, = run(test, *xs)
        after = run(body, *fill_from_first_match(goes_on, xs, mapped))
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
    test, body, (n, _) = map(eqn.params.get, ('test', 'body', 'counts'))
    _, asked = for_outputs(test, (True,))
    carry = fixpoint(lambda carry: for_outputs(body, carry)[1][n:],
                     either(used, asked[n:]))
    body, needed = for_outputs(body, carry)
    consts = either(asked[:n], needed[:n])
    matter = consts + carry
    return prune_equation(
        eqn, matter, carry, body=for_arguments(body, matter),
        test=for_arguments(test, matter), counts=(sum(consts), sum(carry)))


dead_rules[while_p] = while_for_outputs


@public
def while_loop(cond_fun, body_fun, init_val):
    """Return the first carry for which the condition does not hold.

    Args:
        cond_fun: `cond_fun(carry) -> bool`, a scalar.
        body_fun: `body_fun(carry) -> carry`.  The structure, shapes and
            dtypes must be the same.
        init_val: the first carry, a tree of arrays.

    Raises:
        TypeError: the condition is no boolean scalar, or the carry changes
            its type; or the loop is differentiated in reverse mode.

    Source: `jax.lax.while_loop`.

    Examples:
        >>> while_loop(lambda x: x < 100, lambda x: x * 2, 3)
        192
    """
    tag = TraceTag(getattr(body_fun, 'loop', 'while_loop'), body_fun)
    body, carry, tree = stage_body(
        tag, body_fun, 'init_val', init_val, (), lambda tag, tree: tree)
    test, test_tree = stage_tree(cond_fun, (tree.unflatten(carry),), {}, tag)
    types = ', '.join(map(str, test.out_avals))
    if test_tree is not LEAF or types != 'bool[]':
        raise TypeError(f'{fun_name(cond_fun)}, the condition of a '
                        f'while_loop, must return a boolean scalar, but '
                        f'returns {types or test_tree}')
    (test, body), consts = close_together([test, body])
    outs = while_p.bind(*consts, *carry, test=test, body=body,
                        counts=(len(consts), len(carry)))
    return tree.unflatten(outs)


@public
def fori_loop(lower, upper, body_fun, init_val):
    """Return the last carry of a loop over integers.

    Args:
        lower: the first integer.
        upper: the integer behind the last.
        body_fun: `body_fun(i, carry) -> carry`.
        init_val: the first carry, a tree of arrays.

    Raises:
        TypeError: as scan, if the bounds are integers; as while_loop, if
            they are traced.

    Source: `jax.lax.fori_loop`.

    Examples:
        >>> fori_loop(1, 5, lambda i, product: i * product, 1)
        24
    """
    if callable(lower):
        raise TypeError('fori_loop takes its bounds first. Write '
                        f'ad.fori_loop(lower, upper, {fun_name(lower)}, '
                        'init_val).')
    for bound in lower, upper:
        if typeof(bound).shape or typeof(bound).dtype.kind not in 'iu':
            raise TypeError(f'fori_loop of {fun_name(body_fun)}: the bounds '
                            f'must be integers, but got {typeof(bound)}')
    if isinstance(lower, Tracer) or isinstance(upper, Tracer):
        def step(state):
            return state[0] + 1, body_fun(*state)
        step.__qualname__, step.loop = fun_name(body_fun), 'fori_loop'
        return while_loop(lambda state: state[0] < upper, step,
                          (lower, init_val))[1]

    def body(carry, i):
        return body_fun(i, carry), None
    body.__qualname__, body.loop = fun_name(body_fun), 'fori_loop'
    return scan(body, init_val, np.arange(lower, upper))[0]
