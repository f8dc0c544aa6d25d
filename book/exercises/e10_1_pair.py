"""Cold case: half of a gradient.

The report: "My training step returns the loss twice, once for the optimizer
and once for the log. The pullback of (1.0, 1.0) should be twice the gradient,
but it's only the gradient. If I write `loss + 0.0` for the second one, I get
twice the gradient. All my other programs are right, even those that use a
value many times."

One line of this backward pass is wrong. Find it and fix it.
"""

from autodiff_mini.draft.jaxpr import Var
from autodiff_mini.draft.jvp import instantiate
from autodiff_mini.draft.transpose import transpose_rules
from autodiff_mini.draft.trees import tree_leaves

HINTS = (
    'Make the linear program of `lambda x: (x, x)`. How many different '
    'variables does it return?',
    'A program uses a variable as an operand or as an output. Which line '
    'adds the cotangents of operands, and which line handles the outputs?',
)


def backward_pass(linear, residuals, cts):
    """Return the cotangents of the inputs of a linear program."""
    known = dict(zip(linear.invars, residuals))
    sums = {}

    def accumulate(variables, cts):
        for v, ct in zip(variables, cts, strict=True):
            if type(v) is Var and ct is not None:
                sums[v] = sums[v] + ct if v in sums else ct

    sums.update(zip(linear.outvars, cts))
    for eqn in reversed(linear.eqns):
        outs = tree_leaves(eqn.outvars)
        if any(v in sums for v in outs):
            cts = [instantiate(v, sums.pop(v, None)) for v in outs]
            operands = [known.get(v, v) if type(v) is Var else v
                        for v in eqn.invars]
            rule = transpose_rules[eqn.primitive]
            accumulate(eqn.invars, rule(cts, *operands, **eqn.params))
    return [instantiate(v, sums.get(v))
            for v in linear.invars[len(residuals):]]

# exercise e10_1: one line above is wrong. Fix it.
