"""Transposed, a difference is a difference again, with the sign changed, and
with zeros at the ends. The matrix has a 1 and a -1 in each row, and so it has
in each column, but for the first and the last.

The rule is in terms of NumPy, so that it can be mapped, and differentiated:
transposing a transpose rule must be possible too.
"""

import numpy as np

from autodiff_mini.core import Primitive
from autodiff_mini.interpreters.abstract import defshape
from autodiff_mini.interpreters.jvp import deflinear
from autodiff_mini.interpreters.transpose import deftranspose
from autodiff_mini.interpreters.vmap import vmap_rules

difference_p = Primitive('difference', lambda x: x[..., 1:] - x[..., :-1])
deflinear(difference_p)
defshape(difference_p, lambda shape: (*shape[:-1], shape[-1] - 1))
vmap_rules[difference_p] = lambda axis, vals, dims: (
    difference_p.bind(*vals), 0)


def difference(x):
    """Returns the steps along the last axis."""
    return difference_p.bind(x)


def rule(ct, x):
    zero = np.zeros_like(ct[..., :1])
    padded = np.concatenate([zero, ct, zero], -1)
    return padded[..., :-1] - padded[..., 1:]


deftranspose(difference_p, rule)
