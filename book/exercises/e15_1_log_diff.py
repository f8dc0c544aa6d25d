"""Add a row: the logarithm of a difference.

Whoever computes with small probabilities computes with their logarithms. To
add two of them there is `np.logaddexp`. To take one from another there is
nothing: `np.log(np.exp(x) - np.exp(y))` is infinite or nan for `x` of 1000,
and has no digit right where `x` and `y` are close.

Write the row of `log_diff(x, y)`, for x > y, with every `def_` method that it
needs. There are seven: with `def_lowering`, which returns the text of a line.
One of them is not for it, and one can be spared. Arrays are
broadcast, as for any NumPy function of two arrays; and of that the vmap rule
must take care. All that you write, values and slopes, has to hold for large
numbers and for close ones. Compiled, it shall be a line of NumPy, and no call
of yours.
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    'log(exp(x) - exp(y)) is x + log(1 - exp(y - x)). `np.expm1` is the '
    'exponential minus one, without losing digits near zero.',
    'The slopes are 1 / (1 - exp(y - x)), and 1 minus that. The second is '
    'also minus 1 / (exp(x - y) - 1), or exp(y - x) / (exp(y - x) - 1): '
    'three forms, of which one loses digits, one overflows, and one is what '
    'you want. And one of the tangents may be a Zero.',
    'For the abstract rule: the implementation is plain NumPy, and '
    '`ad.eval_shape` tells the type of what a function of NumPy returns.',
    'In a batch of rows `x` has two axes, and if there is one `y` for each '
    'row, `y` has one. NumPy puts the last axes together, and the axis of '
    'the batch is the first one. So who has fewer axes, without that of the '
    'batch, needs axes of length 1 behind it.',
)

log_diff_p = ad.Primitive('log_diff')


def log_diff(x, y):
    return log_diff_p.bind(x, y)


def define(p):
    """Defines the rules of the primitive `p`."""
    raise NotImplementedError('exercise e15_1: write the row here')


define(log_diff_p)
