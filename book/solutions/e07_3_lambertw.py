"""The shape is known, and one number is enough to find out the dtype. A rule
like this for every primitive would make recording cheap. It would also be one
more column to fill in.
"""

import numpy as np

from autodiff_mini.draft.core import Primitive, ShapedArray
from autodiff_mini.draft.jaxpr import abstract_rules
from autodiff_mini.draft.jvp import defjvp
from autodiff_mini.draft.vmap import vmap_rules


def implementation(x):
    w = np.log1p(x)
    for _ in range(20):
        w = w - (w - x * np.exp(-w)) / (1 + w)
    return w


lambertw_p = Primitive('lambertw', implementation)
defjvp(lambertw_p, lambda x_dot, w, x: np.exp(-w) / (1 + w) * x_dot)
vmap_rules[lambertw_p] = lambda axis, x: lambertw_p.bind(x)


def lambertw(x):
    return lambertw_p.bind(x)


def rule(x):
    answer = implementation(np.ones((), x.dtype))
    return ShapedArray(x.shape, np.result_type(answer))


abstract_rules[lambertw_p] = rule
