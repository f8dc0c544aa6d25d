"""In the batch every axis of an element is one further on. The axis is not
negative, because `running_sum` has seen to it at the edge: there one still
knew how many axes an element has.
"""

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from autodiff_mini.core import Primitive
from autodiff_mini.interpreters.jvp import deflinear
from autodiff_mini.interpreters.vmap import vmap_rules

running_p = Primitive('running_sum', lambda x, *, axis: np.cumsum(x, axis))
deflinear(running_p)


def running_sum(x, axis=0):
    return running_p.bind(x, axis=normalize_axis_index(axis, x.ndim))


def running_vmap(batch, vals, dims, axis):
    return running_p.bind(*vals, axis=axis + 1), 0


vmap_rules[running_p] = running_vmap
