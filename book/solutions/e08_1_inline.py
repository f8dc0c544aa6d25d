"""It is an interpreter like `eval_jaxpr`, whose values are names. The rules
are lost: `custom_jvp_call` is a call too, and the equations inside do not
know of the rule. So one does this when nobody will differentiate any more,
and not a moment before. JAX does it at the very end, when it writes down what
its compiler shall compile.
"""

from dataclasses import replace

from autodiff_mini.jaxprs import Jaxpr, Var


def spill(jaxpr, names, eqns):
    """Appends the equations of a program; returns its results' names."""
    for eqn in jaxpr.eqns:
        operands = [names.get(v, v) for v in eqn.invars]
        if eqn.primitive.is_call:
            inner = eqn.params['fun'].jaxpr
            outs = spill(inner, dict(zip(inner.invars, operands)), eqns)
        else:
            outs = [Var(v.aval) for v in eqn.outvars]
            eqns.append(replace(eqn, invars=operands, outvars=outs))
        names.update(zip(eqn.outvars, outs, strict=True))
    return [names.get(v, v) for v in jaxpr.outvars]


def inline(jaxpr):
    """Returns the program without calls."""
    eqns = []
    outvars = spill(jaxpr, {}, eqns)    # the inputs keep their names
    return Jaxpr(jaxpr.constvars, jaxpr.invars, eqns, outvars, jaxpr.consts)
