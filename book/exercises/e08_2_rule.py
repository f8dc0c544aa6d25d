"""Cold case: the recording that never ended.

The report: "When I print a program, I see the function of a custom call, but
only the name of its rule. So I wrote a `RuleTrace` that records the rule too,
as a program that runs when the call is differentiated. If the rule repeats
the formula of the function, it works, but the second derivative of expit at
-800 is nan again. If the rule calls the function, as chapter 5 told me to,
the recording never ends."

One line is in the wrong place. Find it, and move it. (In this file,
`record_rule` gives up when there are 20 traces on the stack.)
"""

from autodiff_mini.draft.calls import custom_jvp_call_p, halves
from autodiff_mini.draft.core import trace_stack
from autodiff_mini.draft.jaxpr import Jaxpr, JaxprTrace, stage
from autodiff_mini.draft.jvp import instantiate
from autodiff_mini.draft.trees import tree_leaves, tree_like

HINTS = (
    'While the rule is recorded, it calls its own function. Which trace is '
    'asked about that call, and what does the trace do first?',
    'Two lines in `process_primitive` record something. Both run as soon as '
    'the trace meets a call. Which of them could wait until the call is '
    'differentiated?',
)


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
        rule = record_rule(params['rule'], args)

        def recorded_rule(xs, x_dots):
            x_dots = map(instantiate, xs, x_dots)
            return halves(rule(*xs, *x_dots))
        outs = super().process_primitive(
            primitive, args, {'fun': fun, 'rule': recorded_rule})
        return tree_like(out, outs)

# exercise e08_2: one line above is in the wrong place. Move it.
