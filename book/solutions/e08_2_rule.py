"""The rule is recorded when the call is differentiated, and not before. By
then the tracers in `args` are gone, so we record it for the types of `xs`.
Each derivative records the rule once, because the rule's program contains a
call whose rule isn't recorded yet. JAX does it this way, and remembers the
program for the next time.
"""

from autodiff_mini.draft.calls import custom_jvp_call_p, halves
from autodiff_mini.draft.core import trace_stack
from autodiff_mini.draft.jaxpr import Jaxpr, JaxprTrace, stage
from autodiff_mini.draft.jvp import instantiate
from autodiff_mini.draft.trees import tree_leaves, tree_like


def record_rule(rule, args):
    """Return a rule, from primals and tangents to outputs, as a program."""
    assert len(trace_stack) < 20, 'this never ends'
    program, _, _ = stage(lambda *both: tree_leaves(rule(*halves(both))),
                          [*args, *args], RuleTrace)
    return program


class RuleTrace(JaxprTrace):
    """Record a call with its function and its rule, both as programs."""

    def process_primitive(self, primitive, args, params):
        if primitive is not custom_jvp_call_p or type(params['fun']) is Jaxpr:
            return super().process_primitive(primitive, args, params)
        fun, _, out = stage(params['fun'], args, RuleTrace)

        def recorded_rule(xs, x_dots):
            rule = record_rule(params['rule'], xs)
            x_dots = map(instantiate, xs, x_dots)
            return halves(rule(*xs, *x_dots))
        outs = super().process_primitive(
            primitive, args, {'fun': fun, 'rule': recorded_rule})
        return tree_like(out, outs)
