"""In `a`, Python multiplies 2 by 3 before it gets to the tracer, so we aren't
asked. In `c`, NumPy computes the first exponential without us. In `d`, `sum`
starts with 0, so there's one more addition than you see.
"""

import numpy as np


def a(x):
    return 2.0 * 3.0 * x


def b(x):
    return x * 2.0 * 3.0


def c(x):
    return np.exp(0.5) * x + np.exp(x)


def d(x):
    return sum([x, x, x])


def prediction():
    return {
        'a': ['multiply'],
        'b': ['multiply', 'multiply'],
        'c': ['multiply', 'exp', 'add'],  # the left factor is a number
        'd': ['add', 'add', 'add'],       # ((0 + x) + x) + x
    }
