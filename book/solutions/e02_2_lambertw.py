"""The tangents are `w_dot * exp(w) * (1 + w) = x_dot`. The rule uses the
output `w`, which is there already, and no `x`. It is plain NumPy, so second
derivatives work: then `w` is a tracer of the trace that is one further out.
"""

import numpy as np

from autodiff_mini.core import Primitive
from autodiff_mini.interpreters.jvp import defjvp


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
