"""Predict: which operations does a trace see?

A trace sees only the operations on its tracers. For each of these four
programs, list the primitives that are bound when `x` is a tracer, in order.
Their names are `'add'`, `'multiply'`, and `'exp'`. Do it with a pencil first.
If one of your lists is wrong, find out what did the operation instead.
"""

import numpy as np

HINTS = (
    'Python works from left to right and asks the left operand first. Which '
    'operands are tracers at that moment?',
    '`np.exp(0.5)` calls NumPy, but NumPy asks us only if an argument is a '
    'tracer. And `sum` starts with a number of its own.',
)


def a(x):
    return 2.0 * 3.0 * x


def b(x):
    return x * 2.0 * 3.0


def c(x):
    return np.exp(0.5) * x + np.exp(x)


def d(x):
    return sum([x, x, x])


def prediction():
    # e.g. {'a': ['add', 'exp'], 'b': [], 'c': [], 'd': []}
    raise NotImplementedError('exercise e01_1: write your four lists here')
