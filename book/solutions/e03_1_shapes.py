"""Remove the batch axis, compute, and put the axis back in front. An array
that `f` closes over isn't mapped, so `f` sees all of it.
"""

import numpy as np

from autodiff_mini import draft as ad


def f(x, y):
    return x * y


CALLS = {
    'a': lambda f: ad.vmap(f)(np.ones((3, 5)), np.ones((3, 5))),
    'b': lambda f: ad.vmap(lambda x: f(x, np.ones(5)))(np.ones((3, 5))),
    'c': lambda f: ad.vmap(lambda x: f(x, np.ones((2, 1))))(np.ones((3, 5))),
    'd': lambda f: ad.vmap(lambda y: ad.vmap(lambda x: f(x, y))(
        np.ones(3)))(np.ones(4)),
}


def prediction():
    return {
        'a': [(5,), (5,), (3, 5)],
        'b': [(5,), (5,), (3, 5)],         # y is the same for all elements
        'c': [(5,), (2, 1), (3, 2, 5)],    # broadcast first, then the batch
        'd': [(), (), (4, 3)],             # all pairs: y down, x across
    }
