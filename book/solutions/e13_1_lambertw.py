"""The rule writes a call, and lets the emitter find the name for what is
called. `newton({x})` without that would be a name that nobody knows, or
worse, one that means something else.

What is differentiated or mapped is still the primitive, so one line serves
the gradient, the batch and the loop; and only those who compile get it. With
this square your row is complete.
"""

import numpy as np

from autodiff_mini.core import Primitive
from autodiff_mini.interpreters.abstract import defabstract
from autodiff_mini.interpreters.jvp import defjvp
from autodiff_mini.interpreters.lowering import lowering_rules
from autodiff_mini.interpreters.vmap import defelementwise


def implementation(x):
    w = np.log1p(x)
    for _ in range(20):
        w = w - (w - x * np.exp(-w)) / (1 + w)
    return w


def newton(x):
    """Returns the same, for plain numbers, when it is good enough."""
    w, step = np.log1p(x), 1.0
    while np.any(np.abs(step) > 1e-12 * (1 + w)):
        step = (w - x * np.exp(-w)) / (1 + w)
        w = w - step
    return w


lambertw_p = Primitive('lambertw', implementation)
defjvp(lambertw_p, lambda x_dot, w, x: np.exp(-w) / (1 + w) * x_dot)
defelementwise(lambertw_p)
defabstract(lambertw_p)


def lambertw(x):
    return lambertw_p.bind(x)


def lowering(emitter, x):
    return f'{emitter.constant("newton", newton)}({x})'


lowering_rules[lambertw_p] = lowering
