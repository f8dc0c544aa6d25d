"""A sum remembers nothing. A sine remembers a cosine, of each carry. In `c`
each product needs both its factors: `w`, once, and the carry that it met,
five times; `x` was only added. In `d` the sine and the cosine of `w` do not
depend on the step, so they are computed before the loop, and each is kept
once.

`e` is a recurrent network. It keeps its matrix once, and not five times; the
state before each step, for the slope in the matrix; and the slope of tanh at
each step. So the memory of a network grows with its state, and not with its
weights.
"""

import numpy as np

import autodiff_mini as ad


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
    return {'a': [], 'b': [(5, 3)], 'c': [(3,), (5, 3)],
            'd': [(3,), (3,), (5, 3)], 'e': [(3, 3), (5, 3), (5, 3)]}
