"""The tangents say that `w_dot * exp(w) * (1 + w) = x_dot`. The rule uses the
output `w`, which has been computed already, and not `x`. It's plain NumPy, so
second derivatives work: there, `w` is a tracer of an outer trace.
"""

import numpy as np

from autodiff_mini.draft.core import Primitive
from autodiff_mini.draft.jvp import defjvp


def implementation(x):
    w = np.log1p(x)
    for _ in range(20):
        w = w - (w - x * np.exp(-w)) / (1 + w)
    return w


lambertw_p = Primitive('lambertw', implementation)


def lambertw(x):
    return lambertw_p.bind(x)


def rule(x_dot, w, x):
    return np.exp(-w) / (1 + w) * x_dot   # w/x would be 0/0 at x = 0


defjvp(lambertw_p, rule)
