"""Open the call and leave its rule behind, for the reason given in e05_2. The
rule is a promise about `f`, and this isn't `f`.

Two things are different. This version can't transform a function that
branches on a value, but the trace could. And if a call of `np.tanh` has a
plain number for its operand, NumPy computes the tanh without asking the
trace. In a recorded program it's an equation, and becomes a cosine.
"""

from autodiff_mini.draft.jaxpr import Var, stage
from autodiff_mini.draft.primitives import cos_p, exp_p, log_p, sin_p, tanh_p
from autodiff_mini.draft.trees import tree_leaves

UNARY = (sin_p, cos_p, tanh_p, exp_p, log_p)


def eval_cosine(jaxpr, *args):
    """Return the outputs of a program, as a list, with cosines in it."""
    env = dict(zip(jaxpr.invars, args, strict=True))

    def read(v):
        return env[v] if type(v) is Var else v
    for eqn in jaxpr.eqns:
        xs = list(map(read, eqn.invars))
        if eqn.primitive.is_call:
            out = eval_cosine(eqn.params['fun'], *xs)
        elif eqn.primitive in UNARY:
            out = cos_p.bind(*xs)
        else:
            out = eqn.primitive.bind(*xs, **eqn.params)
        env.update(zip(tree_leaves(eqn.outvars), tree_leaves(out)))
    return list(map(read, jaxpr.outvars))


def cosine(f):
    """Return `f`, a function that returns one array, with cosines in it."""
    def cosine_of_f(*xs):
        jaxpr, captured, _ = stage(f, xs)
        [out] = eval_cosine(jaxpr, *captured, *xs)
        return out
    return cosine_of_f
