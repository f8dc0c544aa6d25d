"""Predict: who comes to the door?

A trace sees only what its tracers touch. Here are four programs. Write down,
for each, the names of the primitives that are bound when `x` is a tracer, in
their order: `'add'`, `'mul'`, `'exp'`. Do it with a pencil first. If you
were wrong somewhere, find out who did that operation in our place.
"""

import numpy as np

HINTS = (
    'Python works from left to right, and asks the left operand first. Which '
    'operands are tracers at that moment?',
    '`np.exp(0.5)` is a call of NumPy, but NumPy asks only where an argument '
    'is a tracer. And `sum` begins with a number of its own.',
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
