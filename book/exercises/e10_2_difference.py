"""Add a row: the way back of a difference.

`difference(x)` is the list of steps from each element to the next: of n
numbers n - 1 are left. It is linear, so a batch and a tangent were easy. For
reverse mode the row needs one more square, the transpose rule. It gets `ct`,
a cotangent of the result, and has to return a cotangent of `x`: an array with
one element more.

How to find it: for all x and y, the inner product of `difference(x)` and `y`
has to be that of `x` and `rule(y)`. And the second derivative, or a batch of
cotangents, will come through your rule as well.
"""

import numpy as np

from autodiff_mini.core import Primitive
from autodiff_mini.interpreters.abstract import defshape
from autodiff_mini.interpreters.jvp import deflinear
from autodiff_mini.interpreters.transpose import deftranspose
from autodiff_mini.interpreters.vmap import vmap_rules

HINTS = (
    'Take three numbers, and write down the two steps. In which of them is '
    'x[1], and with which signs? So what comes back to it from `ct[0]` and '
    '`ct[1]`? And to the first and the last number, which are in one step '
    'only?',
    'Each step gives its cotangent to the element at its end, and takes it '
    'from the element at its beginning. If there were a step of cotangent 0 '
    'before the first and after the last, all elements would be alike.',
    'Do not make an array of zeros and add into it: `ct` may be a tracer. '
    '`np.concatenate` is a function of NumPy that asks tracers.',
)

difference_p = Primitive('difference', lambda x: x[..., 1:] - x[..., :-1])
deflinear(difference_p)
defshape(difference_p, lambda shape: (*shape[:-1], shape[-1] - 1))
vmap_rules[difference_p] = lambda axis, vals, dims: (
    difference_p.bind(*vals), 0)


def difference(x):
    """Returns the steps along the last axis."""
    return difference_p.bind(x)


def rule(ct, x):
    raise NotImplementedError('exercise e10_2: write the way back here')


deftranspose(difference_p, rule)
