"""Predict: what does the function see?

Inside `vmap` a function sees arrays without the axis that is mapped. For
each of these four calls, write down three shapes: that of `x` as `f` sees
it, that of `y`, and that of what the call returns.
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    'Take from each argument the axis that `in_axes` names. What is left is '
    'what `f` sees. Then `f` multiplies two small arrays, and the axis is '
    'put into the result where `out_axes` says.',
    'In the last call the outer `vmap` maps `y` alone, and what it maps is '
    'the inner `vmap`, which maps `x` alone. The outer axis is in front.',
)


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
    # e.g. {'a': [(3, 5), (3, 5), (3, 5)]}
    raise NotImplementedError('exercise e04_1: write the shapes here')
