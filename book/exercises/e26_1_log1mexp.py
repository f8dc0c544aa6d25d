"""Add a row: the logarithm of what's left.

A lamp with a mean lifetime of 1 is dead by time `x` with probability
1 - exp(-x). We want the logarithm of that:

    log(1 - exp(-x))

The formula fails at both ends of the line. Where `x` is small, the difference
of the two numbers has no digits left. Where `x` is large, the difference is 1
and the logarithm 0, but it should be -exp(-x).

Write `make_log1mexp()`, which returns the function, for arrays of numbers
from 0 to infinity. The value, the slope, and the second derivative have to be
right to fourteen digits wherever they are floats. (At 0 they're infinite.)
Warnings don't matter.
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    '`np.expm1(x)` is exp(x) - 1 without the subtraction, and `np.log1p(x)` '
    'is log(1 + x) without the addition. Each of them is right at one end. '
    'Where do they meet?',
    'The two formulas for the value are `np.log(-np.expm1(-x))` and '
    '`np.log1p(-np.exp(-x))`. At log 2, they are equally good. Now for the '
    'rule: is there a formula for the slope that needs no choice?',
    'The slope is exp(-x) / (1 - exp(-x)), and `expm1` knows the '
    'denominator. If you write it as 1 / (exp(x) - 1), look at the second '
    'derivative at 800.',
)


def make_log1mexp():
    """Return `log(1 - exp(-x))`, a function with a rule."""
    raise NotImplementedError('exercise e26_1: write the function and rule')
