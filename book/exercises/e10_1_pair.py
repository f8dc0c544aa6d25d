"""Cold case: the gradient that was halved.

The report: "My training step returns the loss twice, once for the optimizer
and once for the log. The pullback of (1.0, 1.0) should be twice the gradient,
and it is the gradient. If I write `loss + 0.0` for the second one, I get
both. All other programs are right, also those in which a value is used many
times."

One line of this backward pass is wrong. Find and mend it.
"""

from autodiff_mini.interpreters.transpose import transpose_rules
from autodiff_mini.zeros import Zero

HINTS = (
    'Write down the linear program of `lambda x: (x, x)`. How many variables '
    'does it return?',
    'A value that is returned is used, as one that is an operand. Where are '
    'the cotangents of what is returned handed out, and by whom those of the '
    'operands?',
)


def backward_pass(jaxpr, consts, cts):
    """Returns the cotangents of the inputs of a linear program."""
    known = dict(zip(jaxpr.constvars, consts, strict=True))
    gathered = {}

    def give(variables, cts):
        for v, ct in zip(variables, cts):
            if ct is not None and not isinstance(ct, Zero):
                gathered[v] = gathered[v] + ct if v in gathered else ct

    gathered.update(zip(jaxpr.outvars, cts))
    for eqn in reversed(jaxpr.eqns):
        if gathered.keys().isdisjoint(eqn.outvars):
            continue    # nothing depends on it
        cts = [gathered.pop(v, None) for v in eqn.outvars]
        ct = cts if eqn.primitive.multiple_results else cts[0]
        operands = [known.get(v, v) for v in eqn.invars]
        rule = transpose_rules[eqn.primitive]
        give(eqn.invars, rule(ct, *operands, **eqn.params))
    return [gathered.get(v, Zero(v.aval)) for v in jaxpr.invars]

# exercise e10_1: one line above is wrong. Mend it.
