"""In `a`, Python multiplies 2 by 3 before it meets the tracer, and nobody
asks us. In `c` the first exponential is NumPy's own affair. In `d`, `sum`
begins with 0, so there is an addition more than you see.
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
        'a': ['mul'],
        'b': ['mul', 'mul'],
        'c': ['mul', 'exp', 'add'],   # the left factor is a number already
        'd': ['add', 'add', 'add'],   # ((0 + x) + x) + x
    }
