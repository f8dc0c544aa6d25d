"""Predict: what does a step keep?

Reverse mode through a `scan` keeps the residuals of every step. Here are five
loops. `h` and `w` are arrays of three numbers, `m` is a matrix of 3 x 3, and
`xs` has rows of three numbers. Which arrays does *one* step keep? Write their
shapes, in any order.

(Numbers that are written in the function stay in the program.)
"""

import numpy as np

from autodiff_mini import draft as ad

HINTS = (
    'A captured array is a carry that never changes. Its derivative is part '
    'of the step like any other.',
    'For each operation in the step, which number does its rule multiply the '
    'tangent by?',
    'In `e`, look at `matmul` in chapter 1: `m @ c` is '
    '`np.sum(m * c, -1)`. The sum keeps nothing.',
)


def a(h, xs):
    return ad.scan(lambda c, x: (c + 2 * x, None), h, xs)[0]


def b(h, xs):
    return ad.scan(lambda c, x: (np.sin(c) + x, None), h, xs)[0]


def c(h, xs, w):
    return ad.scan(lambda c, x: (w * c + x, None), h, xs)[0]


def d(h, xs, w):
    return ad.scan(lambda c, x: (np.sin(w) * c + x, None), h, xs)[0]


def e(h, xs, m):
    return ad.scan(lambda c, x: (np.tanh(m @ c + x), None), h, xs)[0]


def prediction():
    # for example {'a': [(3,)], 'b': [], 'c': [], 'd': [], 'e': []}
    raise NotImplementedError('exercise e15_2: write the shapes here')
