"""Transposing turns an index into a scatter and keeps a sum a sum, so the
rule looks like the function. `difference` reads the last elements minus the
first, and the rule writes to the last minus the first.

A transpose rule made of the draft's operations can be batched and
differentiated, and its transpose is the difference again.
"""

import numpy as np

from autodiff_mini.draft.core import Primitive
from autodiff_mini.draft.jvp import defjvp
from autodiff_mini.draft.primitives import scatter_p
from autodiff_mini.draft.transpose import deftranspose
from autodiff_mini.draft.vmap import vmap_rules

difference_p = Primitive('difference', lambda x: x[..., 1:] - x[..., :-1])
defjvp(difference_p, lambda x_dot, y, x: difference(x_dot))
vmap_rules[difference_p] = lambda axis, x: difference(x)


def difference(x):
    """Return the steps along the last axis."""
    return difference_p.bind(x)


def rule(ct, x):
    def at(index):
        return scatter_p.bind(ct, index=(..., index), shape=x.aval.shape)
    return at(slice(1, None)) - at(slice(None, -1))


deftranspose(difference_p, rule)
