"""Go from the last equation to the first, with a set of the variables that
are needed. Chapter 10 goes through linear programs in the same direction,
with cotangents instead of a set. Chapter 13 needs your function before it
compiles a program, and calls it `drop_dead`.
"""

from autodiff_mini.draft.jaxpr import Jaxpr, Var
from autodiff_mini.draft.trees import tree_leaves


def without_unused(jaxpr):
    """Return the program without the equations that no output depends on."""
    needed, eqns = {v for v in jaxpr.outvars if type(v) is Var}, []
    for eqn in reversed(jaxpr.eqns):
        if not needed.isdisjoint(tree_leaves(eqn.outvars)):
            needed.update(v for v in eqn.invars if type(v) is Var)
            eqns.append(eqn)
    return Jaxpr(jaxpr.invars, eqns[::-1], jaxpr.outvars)
