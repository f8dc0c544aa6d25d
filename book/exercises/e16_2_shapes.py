"""Predict: what does a loop remember?

Reverse mode through a `scan` has two loops, and between them lie the
residuals. Here are five loops of five steps. `h`, `w` and `k` are arrays of
three numbers, `m` is a matrix of 3 × 3, and `xs` has five rows of three.
Which arrays does the pullback keep? Write their shapes, in any order.

(Single numbers are free, and are not listed.)
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    'Ask of each operation in the body what its derivative needs to know: '
    'a sum nothing, a product the other factor.',
    'What changes from step to step is kept for each of them, with an axis '
    'of five in front. What is the same at all steps is kept once.',
    'In `d`, how often has the cosine of `w` to be computed? In `e` there '
    'are three operations: a product, a sum, and a tanh, whose slope is '
    'different at each step.',
)


STEPS = 5


def a(h, xs):
    return ad.scan(lambda c, x: (c + 2 * x, None), h, xs)[0]


def b(h):
    return ad.scan(lambda c, _: (np.sin(c), None), h, None, STEPS)[0]


def c(w, h, xs):
    return ad.scan(lambda c, x: (w * c + x, None), h, xs)[0]


def d(w, h):
    return ad.scan(lambda c, _: (np.sin(w) * c, None), h, None, STEPS)[0]


def e(m, h, xs):
    return ad.scan(lambda c, x: (np.tanh(m @ c + x), None), h, xs)[0]


def prediction():
    # e.g. {'a': [(3,)], 'b': [], 'c': [], 'd': [], 'e': []}
    raise NotImplementedError('exercise e16_2: write the shapes here')
