"""Predict: be `make_jaxpr`.

Here are four functions. Write the equations of each as `make_jaxpr` prints
them, such as `'c = multiply(a, b)'`, without running it. The arguments get
the first letters, in order, and the results get the next ones. Parameters
look like keywords, as in `'b = reshape(a, shape=(3,))'`.
"""

import numpy as np

from autodiff_mini import draft as ad

HINTS = (
    'Go through the function as Python does, and ask about each operation '
    'whether one of its operands is a tracer. If so, it becomes an equation. '
    'If not, Python or NumPy has computed it, and only a number is left.',
    'In `c`, the function does not return `z`. Does the recorder know that '
    'when it is asked about the sine?',
    'In `d`, the recorder is the parent of the trace that batches, so it is '
    'asked about the operations that the batching rules ask for. Which axis '
    'does the rule for `sum` pass on?',
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
    return ad.vmap(lambda row: np.sum(row * row))(table)


def prediction():
    # e.g. {'a': ['c = multiply(a, b)'], 'b': [], 'c': [], 'd': []}
    raise NotImplementedError('exercise e07_1: write your equations here')
