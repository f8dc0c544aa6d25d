"""Predict: which shapes does the function see?

Inside `vmap`, a function sees arrays without their batch axis. For each of
these four calls, write down three shapes: the shape of `x` as `f` sees it,
the shape of `y`, and the shape of the result of the call.
"""

import numpy as np

from autodiff_mini import draft as ad

HINTS = (
    'Remove the first axis of each array that `vmap` maps. Whatever is left '
    'is what `f` sees, and NumPy tells you the shape of the product. Then '
    'put the size of the batch in front.',
    'In `c`, `f` multiplies the shapes (5,) and (2, 1). In `d`, the outer '
    '`vmap` maps `y`, so the axis of `y` is in front.',
)


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
    # e.g. {'a': [(3, 5), (3, 5), (3, 5)]}
    raise NotImplementedError('exercise e03_1: write the shapes here')
