"""HIPS autograd, which has no `vmap`, no compiler, and no loops."""

from importlib.metadata import version as version_of

import autograd as ag
import autograd.numpy as np
from autograd.differential_operators import checkpoint
from autograd.extend import defjvp, defvjp, primitive

version = f'HIPS autograd {version_of("autograd")}'
number = 0.0


def plain(x):
    return np.exp(2 * x)


ruled = primitive(lambda x: np.exp(2 * x))
defvjp(ruled, lambda ans, x: lambda g: 3 * ruled(x) * g)
defjvp(ruled, lambda g, ans, x: 3 * ruled(x) * g)
rules = {'primitive': ruled}

wrappers = {'checkpoint': checkpoint}
derivatives = {
    'grad': ag.grad,
    'elementwise_grad': ag.elementwise_grad,
    'jacobian': ag.jacobian,
    'deriv': ag.deriv,
    'make_jvp': lambda f: lambda x: ag.make_jvp(f)(x)(1.0)[1]}
