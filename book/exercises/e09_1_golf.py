"""Residual golf: remember as little as possible.

`linearize` keeps what the derivative needs, and a large array has to be kept
until it is used. Here are two functions of arrays, and how many bytes are
kept for each number of a float64 array if one does nothing: 24 and 10. Par is
8 and 1. (Single numbers are free.)

Give `swish` and `hat` rules, so that you are not over par. Values and
derivatives have to stay right, also the second one. Where `hat` has a corner,
at -1, 0 and 1, any slope will do.
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    'The linear program of a function that works number by number needs one '
    'array, if everything but the tangent has been multiplied before: '
    '`x_dot * (…)`, with brackets.',
    'With `s = 1 / (1 + np.exp(-x))`, swish is `x * s`, and its slope is '
    '`s * (1 + x * (1 - s))`.',
    'Which values can the slope of `hat` have? A float64 can tell more than '
    '1e19 numbers apart. Which dtype can tell these three?',
)


def swish(x):
    return x / (1 + np.exp(-x))


def hat(x):
    return np.maximum(1 - np.abs(x), 0)


def bytes_kept(f, x):
    """Returns how many bytes linearize keeps for each number of `x`."""
    _, f_jvp = ad.linearize(f, x)
    return sum(a.nbytes for a in ad.tree_leaves(f_jvp)
               if np.ndim(a)) / np.size(x)


def with_rules():
    """Returns swish and hat, with rules of their own."""
    raise NotImplementedError('exercise e09_1: give the two functions rules')
    return swish, hat
