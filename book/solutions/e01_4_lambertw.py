"""This is Newton's method from above. Since `1 + w * exp(w)` is never less
than `exp(w)`, the start `log(1 + x)` is never below the solution. From
there each step descends, and it can't jump over the solution, because `w *
exp(w)` bends upwards.
"""

import numpy as np

from autodiff_mini.draft.core import Primitive


def implementation(x):
    w = np.log1p(x)
    for _ in range(20):
        # w - g/g', with g = w*exp(w) - x, and both divided by exp(w)
        w = w - (w - x * np.exp(-w)) / (1 + w)
    return w


lambertw_p = Primitive('lambertw', implementation)


def lambertw(x):
    return lambertw_p.bind(x)
