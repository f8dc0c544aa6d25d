"""Cold case: the rows that leaked.

The report: "`running_sum` adds up an array along an axis, and keeps all the
sums on the way. I map it over the rows of a table, and each row begins with
the sum of the rows above it. All the shapes are right." A rule for `vmap`
has one wrong line. Find and mend it.
"""

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from autodiff_mini.core import Primitive
from autodiff_mini.interpreters.jvp import deflinear
from autodiff_mini.interpreters.vmap import vmap_rules

HINTS = (
    'The program inside says axis 0. Which axis of the batch is that?',
    'A running sum has the shape of what it sums, along whichever axis. So '
    'nobody could complain.',
)

running_p = Primitive('running_sum', lambda x, *, axis: np.cumsum(x, axis))
deflinear(running_p)


def running_sum(x, axis=0):
    return running_p.bind(x, axis=normalize_axis_index(axis, x.ndim))


def running_vmap(batch, vals, dims, axis):
    return running_p.bind(*vals, axis=axis), 0


vmap_rules[running_p] = running_vmap

# exercise e04_2: one line above is wrong. Mend it.
