"""Two lookups are enough. A chain can have any length, because the operands
of an equation are replaced before `undone` sees it, so one of three
negations is left. If another equation needs the result in between, the first
negation stays, and `drop_dead` decides that.

A negation is safe, because IEEE 754 says that it changes the sign bit and
looks at nothing else. A nan and both zeros come back unchanged. The
difference `0.0 - x` is another operation. It turns 0.0 into 0.0, so if you
apply it twice, -0.0 becomes 0.0.
"""

from autodiff_mini.core.jaxprs import Equation, Jaxpr, Var, drop_dead
from autodiff_mini.primitives.elementwise import invert_p, neg_p
from autodiff_mini.primitives.shapes import transpose_p



def tidy(jaxpr):
    """Return a program without the operations that are undone."""
    made, replaced, eqns = {}, {}, []
    for eqn in jaxpr.eqns:
        invars = [replaced.get(v, v) for v in eqn.invars]
        eqn = Equation(eqn.primitive, invars, eqn.params, eqn.outvars,
                       eqn.line)
        same = undone(eqn, made)
        if same is None:
            eqns.append(eqn)
            made.update((v, eqn) for v in eqn.outvars)
        else:
            replaced[eqn.outvars[0]] = same
    outvars = [replaced.get(v, v) for v in jaxpr.outvars]
    return drop_dead(Jaxpr(jaxpr.constvars, jaxpr.invars, eqns, outvars,
                           jaxpr.consts))


def undone(eqn, made):
    """Return the variable that the result of an equation equals, or None.

    Args:
        eqn: the equation.
        made: for each computed variable, the equation that made it.
    """
    before = made.get(eqn.invars[0])
    if before is None or before.primitive is not eqn.primitive:
        return None
    if eqn.primitive is transpose_p:
        first, second = before.params['axes'], eqn.params['axes']
        if [first[i] for i in second] != [*range(len(first))]:
            return None
    elif eqn.primitive not in (neg_p, invert_p):
        return None
    [x], [out] = before.invars, eqn.outvars
    return x if type(x) is Var and x.aval == out.aval else None
