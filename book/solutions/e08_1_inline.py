"""`spill` is an interpreter like `Jaxpr.__call__`, but its values are names.
You lose the rules. A `custom_jvp_call` is a call, too, and the equations
inside know nothing of its rule. So inline a program only when you won't
differentiate it anymore. JAX does that at the very end, when it hands the
program to its compiler.
"""

from autodiff_mini.draft.jaxpr import Equation, Jaxpr, Var
from autodiff_mini.draft.trees import tree_leaves, tree_map


def spill(jaxpr, env, eqns):
    """Append the equations of a program; return what its outputs become."""
    def renamed(variables):
        return [env.get(v, v) if type(v) is Var else v for v in variables]

    for eqn in jaxpr.eqns:
        operands = renamed(eqn.invars)
        if eqn.primitive.is_call:
            inner = eqn.params['fun']
            outs = spill(inner, dict(zip(inner.invars, operands)), eqns)
        else:
            outs = tree_map(lambda v: Var(v.aval), eqn.outvars)
            eqns.append(Equation(eqn.primitive, operands, eqn.params, outs))
        env.update(zip(tree_leaves(eqn.outvars), tree_leaves(outs)))
    return renamed(jaxpr.outvars)


def inline(jaxpr):
    """Return the program without calls."""
    eqns = []
    outvars = spill(jaxpr, {}, eqns)    # the arguments keep their names
    return Jaxpr(jaxpr.invars, eqns, outvars)
