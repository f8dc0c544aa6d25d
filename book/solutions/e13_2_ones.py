"""One dict is enough. `same` maps a variable to the value that replaces it,
and every later operand is looked up there first, so a chain of ones collapses
by itself.

The test of the types is the important line. A one can turn an integer into a
float, or a number into an array, and then multiplying by it does something.
Most compilers have dozens of passes like this one, and most of their bugs are
in the conditions.
"""

import numpy as np

from autodiff_mini.draft.core import typeof
from autodiff_mini.draft.jaxpr import Jaxpr, Var
from autodiff_mini.draft.primitives import mul_p


def drop_ones(jaxpr):
    """Return a program without multiplications by one."""
    same, eqns = {}, []

    def read(v):
        return same.get(v, v) if type(v) is Var else v

    for eqn in jaxpr.eqns:
        eqn = eqn._replace(invars=list(map(read, eqn.invars)))
        if eqn.primitive is mul_p:
            x, y = eqn.invars
            other = y if is_one(x) else x if is_one(y) else None
            if other is not None and typeof(other) == typeof(eqn.outvars):
                same[eqn.outvars] = other
                continue
        eqns.append(eqn)
    return Jaxpr(jaxpr.invars, eqns, list(map(read, jaxpr.outvars)))


def is_one(x):
    return type(x) is not Var and np.all(x == 1)
