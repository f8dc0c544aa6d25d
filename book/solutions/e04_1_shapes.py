"""Take the mapped axis away, compute, and put it back. An argument that is
not mapped is seen whole.
"""

import numpy as np

import autodiff_mini as ad


def f(x, y):
    return x * y


CALLS = {
    'a': lambda f: ad.vmap(f)(np.ones((3, 5)), np.ones((3, 5))),
    'b': lambda f: ad.vmap(f, in_axes=(1, None))(
        np.ones((3, 5)), np.ones(3)),
    'c': lambda f: ad.vmap(f, in_axes=(0, None), out_axes=1)(
        np.ones((3, 5)), 2.0),
    'd': lambda f: ad.vmap(ad.vmap(f, in_axes=(0, None)), in_axes=(None, 0))(
        np.ones(3), np.ones(4)),
}


def prediction():
    return {
        'a': [(5,), (5,), (3, 5)],
        'b': [(3,), (3,), (5, 3)],   # five columns of three, and in front
        'c': [(5,), (), (5, 3)],     # three rows, and then put behind
        'd': [(), (), (4, 3)],       # all pairs: a table, y down, x across
    }
