"""Your row: Lambert's W.

NumPy has no function that solves `w * exp(w) = x` for `w`. The solution is
called Lambert's W, and it will be your own row of the grid. You'll fill one
square in this chapter and one in each of chapters 2 and 3. In chapter 5 you
can do the same without a primitive.

Write the first square, the implementation. It gets numbers or arrays that
are at least -0.3, and returns `w` as accurately as the dtype allows, in that
dtype.
"""

import numpy as np

from autodiff_mini.draft.core import Primitive

HINTS = (
    'Newton\'s method: to find where `g = w * exp(w) - x` is zero, step from '
    '`w` to `w - g / slope_of_g`, again and again. A fixed number of steps '
    'is fine, and 20 are more than enough if you start well.',
    'Start at `log(1 + x)`, which is never too small. And divide both `g` '
    'and its slope by `exp(w)` before you write down the step, so that '
    'nothing overflows at 1e300.',
    'The step leads to `w - (w - x * exp(-w)) / (1 + w)`.',
)


def implementation(x):
    raise NotImplementedError('exercise e01_4: write the iteration here')


lambertw_p = Primitive('lambertw', implementation)


def lambertw(x):
    return lambertw_p.bind(x)
