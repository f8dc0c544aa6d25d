"""From the end to the beginning, with a set of what is needed. Chapter 10
will walk through linear programs in the same way, with cotangents in the
place of the set.
"""

from autodiff_mini.jaxprs import Jaxpr


def without_unused(jaxpr):
    """Returns the program without equations and constants of no use."""
    needed, eqns = set(jaxpr.outvars), []
    for eqn in reversed(jaxpr.eqns):
        if not needed.isdisjoint(eqn.outvars):
            needed.update(eqn.invars)   # a Literal in the set does no harm
            eqns.append(eqn)
    kept = [(v, x) for v, x in zip(jaxpr.constvars, jaxpr.consts)
            if v in needed]
    return Jaxpr([v for v, _ in kept], jaxpr.invars, eqns[::-1],
                 jaxpr.outvars, [x for _, x in kept])
