"""To return a value is to use it. The dictionary was assigned to, so of two
cotangents for one variable the last was left. With `loss + 0.0` there were
two variables, and an equation that brought them together.

Everything that gives a cotangent to a variable has to go through the one
place that adds.
"""

from autodiff_mini.interpreters.transpose import transpose_rules
from autodiff_mini.zeros import Zero


def backward_pass(jaxpr, consts, cts):
    """Returns the cotangents of the inputs of a linear program."""
    known = dict(zip(jaxpr.constvars, consts, strict=True))
    gathered = {}

    def give(variables, cts):
        for v, ct in zip(variables, cts):
            if ct is not None and not isinstance(ct, Zero):
                gathered[v] = gathered[v] + ct if v in gathered else ct

    give(jaxpr.outvars, cts)
    for eqn in reversed(jaxpr.eqns):
        if gathered.keys().isdisjoint(eqn.outvars):
            continue    # nothing depends on it
        cts = [gathered.pop(v, None) for v in eqn.outvars]
        ct = cts if eqn.primitive.multiple_results else cts[0]
        operands = [known.get(v, v) for v in eqn.invars]
        rule = transpose_rules[eqn.primitive]
        give(eqn.invars, rule(ct, *operands, **eqn.params))
    return [gathered.get(v, Zero(v.aval)) for v in jaxpr.invars]
