"""The same cut as in the chapter, in a program that was written down before.
The variables are only names, and a name may as well be that of a constant: so
nothing has to be renamed. The equation of a custom call is kept whole, with
its rule. In the chapter it may be opened, because what is unknown there is
linear.
"""

from autodiff_mini.jaxprs import Jaxpr, Literal


def specialise(jaxpr, args):
    """Returns the program, without the part that can be computed now.

    Args:
        jaxpr: the program.
        args: for each of its arguments a value, or None if it is unknown.
    """
    given = zip(jaxpr.invars, args, strict=True)
    known = dict(zip(jaxpr.constvars, jaxpr.consts, strict=True))
    known.update((v, x) for v, x in given if x is not None)

    def read(v):
        return v.val if type(v) is Literal else known[v]

    left, used = [], []
    for eqn in jaxpr.eqns:
        if all(type(v) is Literal or v in known for v in eqn.invars):
            out = eqn.primitive.bind(*map(read, eqn.invars), **eqn.params)
            outs = out if eqn.primitive.multiple_results else [out]
            known.update(zip(eqn.outvars, outs, strict=True))
        else:
            left.append(eqn)
            used += eqn.invars
    used += jaxpr.outvars
    consts = {v: known[v] for v in used if v in known}
    invars = [v for v in jaxpr.invars if v not in known]
    return Jaxpr(list(consts), invars, left, jaxpr.outvars,
                 list(consts.values()))
