"""Your row, second square: the tangent of Lambert's W.

Here's your row so far. Write the rule for forward mode: take the tangents of
both sides of `w * exp(w) = x`, and solve for `w_dot`. The slope at 0 is 1,
and your rule should say so. `ad.check_jvp(lambertw, (x,))` tests it.
"""

import numpy as np

from autodiff_mini.draft.core import Primitive
from autodiff_mini.draft.jvp import defjvp

HINTS = (
    'The left side is a product, so its tangent has two terms, '
    '`w_dot * exp(w) + w * exp(w) * w_dot`. The right side has `x_dot`.',
    'Textbooks give the slope as `w / (x * (1 + w))`. That\'s the same '
    'function, except at 0. What is equal to `w / x` without a quotient?',
)


def implementation(x):
    w = np.log1p(x)
    for _ in range(20):
        w = w - (w - x * np.exp(-w)) / (1 + w)
    return w


lambertw_p = Primitive('lambertw', implementation)


def lambertw(x):
    return lambertw_p.bind(x)


def rule(x_dot, w, x):
    raise NotImplementedError('exercise e02_2: write the tangent here')


defjvp(lambertw_p, rule)
