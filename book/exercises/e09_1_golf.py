"""Residual golf: remember as little as possible.

`linearize_at` keeps the arrays that the linear program needs. Here are two
functions without rules. For each number of a float64 array, it keeps 24 bytes
for `swish` and 6 for `hat`. Par is 8 and 1. (Single numbers are free.)

Give `swish` and `hat` rules that stay within par. Values and derivatives have
to stay right, including second derivatives. Where `hat` has a corner, at -1,
0, and 1, any slope will do.
"""

import numpy as np

from autodiff_mini import draft as ad
from autodiff_mini.draft.partial_eval import linearize_at

HINTS = (
    'An elementwise function needs one array, if you multiply all known '
    'factors before the tangent: `x_dot * (...)`, with parentheses.',
    'With `s = 1 / (1 + np.exp(-x))`, swish is `x * s`, and its slope is '
    '`s * (1 + x * (1 - s))`.',
    'Which values can the slope of `hat` have? A float64 can tell more than '
    '1e19 numbers apart. Which dtype can tell three apart? `np.where` of two '
    'such numbers has their dtype.',
)


def swish(x):
    return x / (1 + np.exp(-x))


def hat(x):
    return np.maximum(1 - np.maximum(x, -x), 0.0)


def bytes_kept(f, x):
    """Return how many bytes linearize_at keeps for each number of `x`."""
    _, linear, residuals = linearize_at(f, (x,))
    operands = [v for eqn in linear.eqns for v in eqn.invars]
    return sum(v.nbytes for v in [*residuals, *operands]
               if isinstance(v, np.ndarray) and v.ndim) / np.size(x)


def with_rules():
    """Return swish and hat, with rules of their own."""
    raise NotImplementedError('exercise e09_1: give the functions rules')
    return ruled_swish, ruled_hat
