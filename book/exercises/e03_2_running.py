"""Cold case: the rows that leaked.

The report: "`running_sum` adds up an array along an axis and keeps all the
partial sums. When I map it over the rows of a table, each row starts with the
sums of the rows above it. All the shapes are right." A rule for `vmap` has
one wrong line. Find it and fix it.
"""

import numpy as np

from autodiff_mini.draft.core import Primitive
from autodiff_mini.draft.jvp import defjvp
from autodiff_mini.draft.vmap import vmap_rules

HINTS = (
    'The program inside says axis 0. Which axis of the batch is that?',
    'A running sum has the shape of its operand, whichever axis it takes. '
    'That is why no error was raised.',
)

running_p = Primitive('running_sum', lambda x, axis: np.cumsum(x, axis))
defjvp(running_p, lambda x_dot, y, x, axis: running_p.bind(x_dot, axis=axis))


def running_sum(x, axis=0):
    return running_p.bind(x, axis=axis % np.ndim(x))


def running_vmap(batch, x, axis):
    return running_p.bind(x, axis=axis)


vmap_rules[running_p] = running_vmap

# exercise e03_2: one line above is wrong. Fix it.
