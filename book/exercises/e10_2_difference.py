"""Add a row: transpose a difference.

`difference(x)` is the list of steps from each element to the next, so n
numbers become n - 1. It's linear, so the rules for a batch and for a tangent
were easy. For reverse mode the row needs a transpose rule. It gets `ct`, the
cotangent of the result, and returns the cotangent of `x`, an array with one
more element. `x` itself is a variable here, and its shape is `x.aval.shape`.

How to find it: for all x and y, the inner product of `difference(x)` and `y`
has to be the inner product of `x` and `rule(y)`. Your rule will be batched
and differentiated, too, so `ct` can be a tracer.
"""

import numpy as np

from autodiff_mini.draft.core import Primitive
from autodiff_mini.draft.jvp import defjvp
from autodiff_mini.draft.primitives import scatter_p
from autodiff_mini.draft.transpose import deftranspose
from autodiff_mini.draft.vmap import vmap_rules

HINTS = (
    'Take three numbers and write down the two steps. Which steps contain '
    'x[1], and with which signs? So what does x[1] get from `ct[0]` and '
    '`ct[1]`? What do the first and the last number get?',
    'Each step gives its cotangent to the element at its end and subtracts '
    'it from the element at its start.',
    "Don't make an array of zeros and add to it, because `ct` can be a "
    'tracer. `scatter_p` writes an array at an index of zeros. What are the '
    'two indices in `difference`?',
)

difference_p = Primitive('difference', lambda x: x[..., 1:] - x[..., :-1])
defjvp(difference_p, lambda x_dot, y, x: difference(x_dot))
vmap_rules[difference_p] = lambda axis, x: difference(x)


def difference(x):
    """Return the steps along the last axis."""
    return difference_p.bind(x)


def rule(ct, x):
    raise NotImplementedError('exercise e10_2: transpose it here')


deftranspose(difference_p, rule)
