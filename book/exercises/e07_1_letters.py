"""Predict: write it down yourself.

Here are four functions. Write each of them as a list of equations, without
the types: `'c = mul a b'`. The arguments have the first letters, in their
order, and the results the next ones. Parameters, which a jaxpr shows in
brackets, are left out. Do not run `make_jaxpr`, *be* `make_jaxpr`.
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    'Go through the function as Python does, and say for each operation: is '
    'one of its operands a tracer? If so, it is an equation. If not, Python '
    'or NumPy has computed it, and at most a number is left.',
    'In `c` the result is not `z`. Does the trace know, when it is asked '
    'about the sine?',
    'In `d` the trace that writes is the parent of the one that batches. It '
    'is asked about what the batching rules ask for. Does a sum of rows need '
    'more than one equation?',
)


def a(x, y):
    return 2 - x * y / 3


def b(x):
    y = x
    for k in range(4):
        if k % 2:
            y = y * x + k
    return y


def c(x):
    y = np.exp(x)
    z = np.sin(x) * np.sqrt(4.0)
    return y


def d(table):
    return ad.vmap(lambda row: np.sum(row) * 2)(table)


def prediction():
    # e.g. {'a': ['c = mul a b'], 'b': [], 'c': [], 'd': []}
    raise NotImplementedError('exercise e07_1: write your equations here')
