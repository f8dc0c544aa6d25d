"""In the batch, each axis of an element is one further back. The axis can't
be negative here, because `running_sum` has made it positive, while it could
still ask how many axes an element has.
"""

import numpy as np

from autodiff_mini.draft.core import Primitive
from autodiff_mini.draft.jvp import defjvp
from autodiff_mini.draft.vmap import vmap_rules

running_p = Primitive('running_sum', lambda x, axis: np.cumsum(x, axis))
defjvp(running_p, lambda x_dot, y, x, axis: running_p.bind(x_dot, axis=axis))


def running_sum(x, axis=0):
    return running_p.bind(x, axis=axis % np.ndim(x))


def running_vmap(batch, x, axis):
    return running_p.bind(x, axis=axis + 1)


vmap_rules[running_p] = running_vmap
