"""Predict: is it written down again?

A function under `jit` is run as Python only to be written down. Here are six
ways to call one. How often is `f` run, in each of them?

(`f` takes a tree, and returns another with twice the numbers.)
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    'A program is good for all arguments of the same structure and types. '
    'The values may differ.',
    "A Python number has a type of its own: of its sum with a float32, "
    "NumPy makes a float32. And a dictionary has no order, as far as trees "
    'are concerned.',
    'Where are the programs kept? In `e` ask how many jitted functions there '
    'are. In `g` ask what the jitted function is given: of which shape is an '
    'element of a batch?',
)


def a(f):
    f = ad.jit(f)
    return f(1.0), f(2.0), f(-3.0)


def b(f):
    f = ad.jit(f)
    return f(2.0), f(2), f(np.float64(2)), f(np.float32(2)), f(np.array(2.0))


def c(f):
    f = ad.jit(f)
    return f(np.ones(2)), f(np.zeros(2)), f(np.ones(3)), f(np.ones((2, 1)))


def d(f):
    f = ad.jit(f)
    return (f({'x': 1.0, 'y': 2.0}), f({'y': 1.0, 'x': 2.0}),
            f({'x': 1.0}), f((1.0, 2.0)), f([1.0, 2.0]))


def e(f):
    return [ad.jit(f)(x) for x in (1.0, 2.0, 3.0)]


def g(f):
    f, x = ad.jit(f), np.ones(3)
    return (f(x), ad.vmap(f)(np.ones((4, 3))), ad.vjp(f, x),
            ad.jvp(f, (x,), (x,)), ad.jit(f)(x))


def prediction():
    # e.g. {'a': 1, 'b': 0, 'c': 0, 'd': 0, 'e': 0, 'g': 0}
    raise NotImplementedError('exercise e14_1: write the numbers here')
