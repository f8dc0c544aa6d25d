"""Extend: all the totals on the way.

Python has `itertools.accumulate(xs, f)`: of a, b, c … it makes a, f(a, b),
f(f(a, b), c) … With `f` an addition, this is `np.cumsum`. NumPy can do it for
two or three operations. Write it for any `f`, of trees of
arrays, along their first axis, and also from the last element to the first.

It has to be one loop for all interpreters, whatever the length, and `f` is to
be written down once. What is the carry, and what has it at the beginning?
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    'There is no neutral element to begin with, for `f` may be anything. '
    'Begin with the first element itself, and loop over the others.',
    'The loop puts out one element less than there are. The first one of the '
    'result never was in the loop: `np.concatenate` puts it in front.',
    'With `reverse=True` the last element is the beginning, and it stands at '
    'the end of the result. `ad.scan` has a `reverse` of its own, which '
    'leaves everything in its place.',
)


def accumulate(f, xs, reverse=False):
    """Returns all the partial results of `f`, as a tree like `xs`.

    Args:
        f: a function of two trees, the result so far and the next element.
        xs: a tree of arrays; its elements are along the first axis.
        reverse: whether to begin with the last element.
    """
    raise NotImplementedError('exercise e16_1: write the loop here')
