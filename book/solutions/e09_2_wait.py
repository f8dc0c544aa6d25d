"""Adding 2 doesn't change the tangent. The comparison has no tangent either,
but its outcome is kept, as an array of booleans. In `e`, both products have
to wait, because the first one contains the tangent. With `x_dot * ((1 - y) *
(1 + y))`, one of them could be computed now.
"""

import numpy as np

from autodiff_mini import draft as ad


@ad.custom_jvp
def ruled(x):
    return np.tanh(x)


@ruled.defjvp
def ruled_jvp(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    y = ruled(x)
    return y, x_dot * (1 - y) * (1 + y)


FUNCTIONS = {
    'a': lambda x: 3 * x + 2,
    'b': lambda x: np.exp(np.exp(x)),
    'c': lambda x: x * np.sin(x),
    'd': lambda x: np.where(x > 0, x, 0.0) / np.sum(np.ones(3)),
    'e': lambda x: ruled(x),
    'f': lambda x: np.sum(x) * x,
}


def prediction():
    return {
        'a': (['multiply'], 0),
        'b': (['multiply', 'multiply'], 2),     # the two exponentials
        'c': (['multiply', 'multiply', 'multiply', 'add'], 3),  # cos, sin, x
        'd': (['where', 'divide'], 1),          # the comparison
        'e': (['multiply', 'multiply'], 2),     # 1 - y and 1 + y
        'f': (['sum', 'multiply', 'multiply', 'add'], 1),       # x
    }
