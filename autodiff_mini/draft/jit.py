"""Compile a program: drop dead code, print the rest, and execute the text."""

from functools import cache

import numpy as np

from .calls import call_jvp, defcall
from .core import typeof
from .jaxpr import Jaxpr, Var, stage
from .jvp import jvp_rules
from .source import lines_of
from .trees import tree_leaves, tree_like, tree_map


# 13a. Dead code.
def drop_dead(jaxpr):
    """Return a program without the equations that no output depends on."""
    def variables(xs):
        return {v for v in xs if type(v) is Var}

    needed, eqns = variables(jaxpr.outvars), []
    for eqn in reversed(jaxpr.eqns):
        if needed & variables(tree_leaves(eqn.outvars)):
            needed |= variables(eqn.invars)
            eqns.append(eqn)
    return Jaxpr(jaxpr.invars, eqns[::-1], jaxpr.outvars)


# 13b. What is printed as Python is Python.
@cache
def compiled(jaxpr):
    """Return the Python function that the text of a program defines."""
    scope = {'np': np, 'inf': np.inf, 'nan': np.nan}
    with np.printoptions(legacy=False):     # np.float32(0.1), and not 0.1
        exec('\n'.join(lines_of(drop_dead(jaxpr), 'program', scope)), scope)
    return scope['program']


def run(fun, *xs):
    """Call a function; compile it first, if it is a program."""
    return compiled(fun)(*xs) if type(fun) is Jaxpr else fun(*xs)


# 13c. A call of a program.  Only evaluation compiles it.
jit_p = defcall('jit', lambda *xs, fun: run(fun, *xs))
jvp_rules[jit_p] = call_jvp


# 13d. For users.
def jit(f):
    """Return `f` as a compiled program for each type of its arguments."""
    programs = {}

    def jitted(*args):
        key = str(tree_map(typeof, args))
        jaxpr, captured, out = programs.get(key) or stage(f, args)
        if not captured:    # a captured tracer is of no use next time
            programs[key] = jaxpr, captured, out
        ys = jit_p.bind(*captured, *tree_leaves(args), fun=jaxpr)
        return tree_like(out, ys)
    return jitted
