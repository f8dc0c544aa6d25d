"""Returning a value is one more use of it. The line assigned to the
dictionary, so when two outputs were the same variable, only the last
cotangent was left. With `loss + 0.0` there were two variables, and the
equation between them brought their cotangents together.

Each cotangent has to go through the one place that adds.
"""

from autodiff_mini.draft.jaxpr import Var
from autodiff_mini.draft.jvp import instantiate
from autodiff_mini.draft.transpose import transpose_rules
from autodiff_mini.draft.trees import tree_leaves


def backward_pass(linear, residuals, cts):
    """Return the cotangents of the inputs of a linear program."""
    known = dict(zip(linear.invars, residuals))
    sums = {}

    def accumulate(variables, cts):
        for v, ct in zip(variables, cts, strict=True):
            if type(v) is Var and ct is not None:
                sums[v] = sums[v] + ct if v in sums else ct

    accumulate(linear.outvars, cts)
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
