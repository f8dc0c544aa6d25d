"""`while_loop` and `fori_loop`: as long as it takes.

Its one idea: nobody knows the number of steps before it is over.  So a
derivative can go along with the loop, but cannot go back.  Chapter 14.
"""

import operator
from itertools import chain

import numpy as np

from autodiff_mini.arrays import convert
from autodiff_mini.core import Primitive, TraceTag, Tracer, typeof
from autodiff_mini.errors import fun_name, public
from autodiff_mini.higher_order.carries import stage_body
from autodiff_mini.higher_order.cond import lend, where
from autodiff_mini.higher_order.jit import run_compiled
from autodiff_mini.higher_order.loops import (
    at_all_steps, beside, fixpoint, split)
from autodiff_mini.higher_order.programs import (
    close_once_more, for_arguments, for_outputs, interleave, jvp_jaxpr,
    known_jaxpr, others, permute, picked, remembered, run, smaller,
    stage_program, vmap_jaxpr)
from autodiff_mini.higher_order.scan import one_equation, scan
from autodiff_mini.interpreters.abstract import abstract_rules
from autodiff_mini.interpreters.jaxpr import stage_tree
from autodiff_mini.interpreters.jvp import jvp_rules
from autodiff_mini.interpreters.lowering import lowering_rules
from autodiff_mini.interpreters.partial_eval import partial_eval_rules
from autodiff_mini.interpreters.transpose import transpose_rules
from autodiff_mini.interpreters.vmap import spread, vmap_rules
from autodiff_mini.jaxprs import Jaxpr, Var, dead_rules
from autodiff_mini.pytree import LEAF, leaf_names, tree_flatten
from autodiff_mini.signature import map_leaves
from autodiff_mini.zeros import Zero, instantiate_zeros, tangent_type, unpack


def run_while(*operands, body, **params):
    program = one_equation(body, 'body', while_p,
                           tuple(map(typeof, operands)), *params.items())
    return run_compiled(*operands, jaxpr=program, name='while')


def loop_while(test, body, *operands, counts):
    """Loops; `counts` says how many constants the test and the body have."""
    test_consts, body_consts, carry = split(operands, counts)
    while test(*test_consts, *carry)[0]:
        carry = body(*body_consts, *carry)
    return carry


while_p = Primitive('while', run_while, multiple_results=True)
abstract_rules[while_p] = lambda *avals, test, body, counts: body.out_avals


def while_lowering(emitter, *names, test, body, counts):
    """Returns a call of `loop_while`, with functions for test and body."""
    loop = emitter.constant('loop_while', loop_while)
    functions = emitter.nested('test', test), emitter.nested('body', body)
    return f'{loop}({", ".join([*functions, *names])}, counts={counts})'


lowering_rules[while_p] = while_lowering


def while_jvp(primals, tangents, test, body, counts):
    _, consts, carry = split(
        [type(t) is not Zero for t in tangents], counts)
    carry, (derivative, _) = at_all_steps(jvp_jaxpr, body, consts, carry, [])
    moving = consts, carry
    dots = split(tangents, counts)
    groups = zip(split(primals, counts)[1:], dots[1:], moving)
    outs = while_p.bind(
        *primals[:counts[0]],
        *chain(*[[*x, *map(instantiate_zeros, picked(x_dot, moves))]
                 for x, x_dot, moves in groups]),
        test=with_unused(test, tuple(x_dot.aval if type(x_dot) is Zero
                                     else tangent_type(typeof(x_dot))
                                     for x_dot in picked(dots[2], carry))),
        body=permute(derivative, beside(moving),
                     tuple(range(len(carry) + sum(carry)))),
        counts=(counts[0], len(consts) + sum(consts)))
    return unpack(outs, [not moves for moves in carry])


@remembered
def with_unused(jaxpr, avals):
    """Returns a program that takes more arguments than it looks at."""
    return Jaxpr(jaxpr.constvars, [*jaxpr.invars, *map(Var, avals)],
                 jaxpr.eqns, jaxpr.outvars, jaxpr.consts)


jvp_rules[while_p] = while_jvp


def while_vmap(axis, vals, dims, test, body, counts):
    test_mapped, consts, carry = split([dim == 0 for dim in dims], counts)
    batched = lambda jaxpr, *marks: vmap_jaxpr(jaxpr, axis.size, *marks)
    carry, _ = at_all_steps(batched, body, consts, carry, [])
    goes_on, (some_stop_early,) = batched(
        test, (*test_mapped, *carry), (False,))
    if some_stop_early:
        carry = (True,) * len(carry)
        goes_on, _ = batched(test, (*test_mapped, *carry), (True,))
    step, _ = batched(body, (*consts, *carry), carry)
    test_consts, body_consts, start = split(vals, counts)
    start = [spread(x, dim, axis.size) if has else x for x, dim, has in
             zip(start, split(dims, counts)[2], carry)]
    if some_stop_early:
        step = stop_each(step, goes_on, counts[0], (*consts, *carry))
        body_consts = [*test_consts, *body_consts]
        goes_on = any_of(goes_on)
    outs = while_p.bind(*test_consts, *body_consts, *start, test=goes_on,
                        body=step, counts=(counts[0], len(body_consts)))
    return outs, [0 if has else None for has in carry]


@remembered
def any_of(test):
    """Returns a test that holds if `test` does for any element."""
    return stage_program(lambda *xs: [np.any(run(test, *xs)[0])],
                         test.in_avals, TraceTag('vmap', test))


@remembered
def stop_each(body, test, n, mapped):
    """Returns a body that leaves elements alone for which `test` is over.

    It takes the `n` constants of the test before its own arguments.
    """
    def step(*xs):
        before = xs[len(xs) - len(body.outvars):]
        goes_on, = run(test, *xs[:n], *before)
        after = run(body, *lend(goes_on, xs[n:], mapped))
        return [where(goes_on, y, x) for x, y in zip(before, after)]
    return stage_program(step, [*test.in_avals[:n], *body.in_avals],
                         TraceTag('vmap', body))


vmap_rules[while_p] = while_vmap


def while_partial_eval(trace, args, test, body, counts):
    """Loops now over what is known, and later over everything again."""
    params = {'test': test, 'body': body, 'counts': counts}
    test_unknown, consts, carry = split(list(map(trace.is_unknown, args)),
                                        counts)
    if not any([*test_unknown, *consts, *carry]):
        return trace.compute(while_p, args, params)
    carry, (step, _) = at_all_steps(known_jaxpr, body, consts, carry, [])
    late = trace.record(while_p, args, params)
    goes_on, (later,) = known_jaxpr(test, (*test_unknown, *carry), (False,))
    if later:
        return late
    known = [not later for later in (*consts, *carry)]
    outs = trace.compute(while_p, [
        *others(args[:counts[0]], test_unknown),
        *picked(args[counts[0]:], known)], {
        'test': goes_on, 'body': step,
        'counts': (test_unknown.count(False), consts.count(False))})
    return interleave(carry, picked(late, carry), outs)


partial_eval_rules[while_p] = while_partial_eval


def while_transpose(*_, **__):
    raise TypeError(
        'Reverse-mode differentiation does not work for while_loop, or for '
        'fori_loop with traced bounds: nobody knows how many steps to go '
        'back. Use fori_loop with bounds that are Python integers.')


transpose_rules[while_p] = while_transpose


def while_for_outputs(eqn, used):
    body, test, counts = map(eqn.params.get, ('body', 'test', 'counts'))
    marks = for_outputs(test, (True,))[1]
    start = tuple(map(operator.or_, used, marks[counts[0]:]))
    carry = fixpoint(
        lambda carry: for_outputs(body, carry)[1][counts[1]:], start)
    body, needed = for_outputs(body, carry)
    test_consts, consts = marks[:counts[0]], needed[:counts[1]]
    return smaller(
        eqn, (*test_consts, *consts, *carry), carry,
        test=for_arguments(test, (*test_consts, *carry)),
        body=for_arguments(body, (*consts, *carry)),
        counts=(sum(test_consts), sum(consts)))


dead_rules[while_p] = while_for_outputs


@public
def while_loop(cond_fun, body_fun, init_val):
    """Returns the first carry for which the condition does not hold.

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
    carry, tree = tree_flatten(init_val)
    names = lambda: leaf_names(tree, f'{tag}: init_val')
    body, avals, _ = stage_body(tag, body_fun, tree,
                                map_leaves(typeof, names, carry), (),
                                lambda tag, out_tree: out_tree)
    test, test_tree = stage_tree(cond_fun, (tree.unflatten(avals),), {}, tag)
    types = ', '.join(map(str, test.out_avals))
    if test_tree is not LEAF or types != 'bool[]':
        raise TypeError(f'{fun_name(cond_fun)}, the condition of a '
                        f'while_loop, must return a boolean scalar, but '
                        f'returns {types or test_tree}')
    test, test_consts = close_once_more(test)
    body, body_consts = close_once_more(body)
    carry = [convert(x, aval.dtype, aval.weak_type)
             for x, aval in zip(carry, avals)]
    outs = while_p.bind(*test_consts, *body_consts, *carry, test=test,
                        body=body,
                        counts=(len(test_consts), len(body_consts)))
    return tree.unflatten(outs)


@public
def fori_loop(lower, upper, body_fun, init_val):
    """Returns the last carry of a loop over integers.

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
