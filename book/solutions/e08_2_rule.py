"""The rule is written down when somebody differentiates, and no sooner. Each
derivative then asks for it once: the jaxpr of the rule has a call in it, with
a rule that has not been written down yet. This is how JAX does it, but that
it remembers the jaxpr for the next time.
"""

from autodiff_mini.core import TraceTag, typeof
from autodiff_mini.errors import closed_over
from autodiff_mini.higher_order.custom_jvp import custom_jvp_call_p
from autodiff_mini.higher_order.staged_calls import stage_function
from autodiff_mini.interpreters.jaxpr import (
    eval_jaxpr, stage_flat, staging_rules)
from autodiff_mini.zeros import instantiate_zeros, which_zero

begun = []


def write_rule(jvp, types):
    """Returns a rule, of primals and tangents, as a jaxpr."""
    def rule(*arrays):
        xs, x_dots = arrays[:len(types)], arrays[len(types):]
        ys, y_dots = jvp(xs, x_dots)
        return [*ys, *map(instantiate_zeros, y_dots)]

    begun.append(rule)
    assert len(begun) < 20, 'this does not come to an end'
    try:
        return stage_flat(rule, [*types, *types], TraceTag('rule', rule))
    finally:
        begun.remove(rule)


def staging(trace, args, fun, jvp):
    types = list(map(typeof, args))
    fun, consts = stage_function(fun, args)
    n = len(consts)

    def staged_jvp(xs, x_dots):
        if not all(which_zero(x_dots[:n])):
            raise closed_over(fun)
        rule = write_rule(jvp, types)
        moves = map(instantiate_zeros, x_dots[n:])
        outs = eval_jaxpr(rule, rule.consts, *xs[n:], *moves)
        return outs[:len(outs) // 2], outs[len(outs) // 2:]

    return trace.record(custom_jvp_call_p, [*consts, *args],
                        {'fun': fun, 'jvp': staged_jvp})


staging_rules[custom_jvp_call_p] = staging
