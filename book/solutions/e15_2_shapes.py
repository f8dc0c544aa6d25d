"""A sum keeps nothing. A sine keeps a cosine. In `c` each product needs both
of its factors. In `d` the step computes the sine of `w` again, so it keeps
its cosine, its value, and the carry.

`e` is a recurrent network. Multiplying by a matrix multiplies each entry
by a number and sums, so the step keeps the matrix, the carry, and the slope
of tanh. The matrix is the same at every step, but the loop keeps a
copy for each step, which is wasteful. JAX moves such residuals out of the
loop. That was the search in which JAX 0.10.2 lost the rule.
"""

import numpy as np

from autodiff_mini import draft as ad


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
    return {'a': [], 'b': [(3,)], 'c': [(3,), (3,)],
            'd': [(3,), (3,), (3,)], 'e': [(3, 3), (3,), (3,)]}
