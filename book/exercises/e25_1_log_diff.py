"""Add a row: the logarithm of a difference.

If you compute with small probabilities, you compute with their logarithms. To
add two of them there's `np.logaddexp`. NumPy has no function that subtracts
them: `np.log(np.exp(x) - np.exp(y))` is infinite or nan for an `x` of 1000,
and if `x` and `y` are close, none of its digits is right.

Write the row of `log_diff(x, y)`, for x > y, with every `def_` method that it
needs. There are seven methods, including `def_lowering`, whose rule returns
the text of an expression. One of the seven isn't meant for this function, and
one isn't needed. Arrays are broadcast, as in any NumPy function of two
arrays, and the vmap rule has to take care of that. Values and slopes have to
be right for large numbers and for close ones. The compiled program should
contain a line of NumPy and no call to your function.
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    'log(exp(x) - exp(y)) is x + log(1 - exp(y - x)). `np.expm1` is the '
    'exponential minus one, without losing digits near zero.',
    'The slopes are 1 / (1 - exp(y - x)), and 1 minus that. The second is '
    'also minus 1 / (exp(x - y) - 1), or exp(y - x) / (exp(y - x) - 1). Of '
    'these three forms, one loses digits, one overflows, and one is what '
    'you want. And one of the tangents can be a Zero.',
    'For the abstract rule: the implementation is plain NumPy, and '
    '`ad.eval_shape` returns the type of what a NumPy function returns.',
    'In a batch of rows `x` has two axes, and if there is one `y` for each '
    'row, `y` has one. NumPy aligns the last axes, but the batch axis is '
    'the first one. So the operand that has fewer axes, not counting the '
    'batch axis, needs axes of length 1 behind it.',
)

log_diff_p = ad.Primitive('log_diff')


def log_diff(x, y):
    return log_diff_p.bind(x, y)


def define(p):
    """Define the rules of the primitive `p`."""
    raise NotImplementedError('exercise e25_1: write the row here')


define(log_diff_p)
