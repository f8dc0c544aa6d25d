"""Two lookups. A chain of any length is taken care of, for what an equation
reads has been replaced before it is asked: of three negations one is left.
Where somebody else needs what is in between, the first negation stays, and
`drop_dead` sees to that.

To negate is safe, since IEEE 754 has it change the sign bit and look at
nothing else; a nan and both zeros come back as they were. The difference
`0.0 - x` is another operation: of 0.0 it makes 0.0, and twice it makes 0.0 of
-0.0.
"""

from autodiff_mini.jaxprs import Equation, Jaxpr, Var, drop_dead
from autodiff_mini.primitives.arithmetic import neg_p
from autodiff_mini.primitives.comparisons import invert_p
from autodiff_mini.primitives.shapes import transpose_p



def tidy(jaxpr):
    """Returns the program without what is undone."""
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
    """Returns the variable that the result of an equation is, or None.

    Args:
        eqn: the equation.
        made: for each variable that was computed, the equation it is from.
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
