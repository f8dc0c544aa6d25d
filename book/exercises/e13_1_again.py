"""Predict: is it recorded again?

Python runs a function under `jit` only to record it. Here are six ways to
call such a function. How many times does Python run `f` in each of them?

(`f` takes a tree and returns a tree with twice the numbers.)
"""

import numpy as np

from autodiff_mini import draft as ad

HINTS = (
    'A program fits all arguments of the same types in the same structure. '
    'The values can differ.',
    'The key is `str(tree_map(typeof, args))`. Print it for the arguments '
    'in `b` and `d`.',
    'Where are the programs kept? In `e`, count the tables. In `g`, ask what '
    'the jitted function is passed. What shape does an element of a batch '
    'have?',
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
    # for example {'a': 1, 'b': 0, 'c': 0, 'd': 0, 'e': 0, 'g': 0}
    raise NotImplementedError('exercise e13_1: write the numbers here')
