"""The recorder writes down every operation that reaches `bind`, in that
order. Python and NumPy take care of the loop, the branch, and `np.sqrt(4.0)`,
because those work on plain numbers. The sine of a tracer is recorded,
although nothing uses it. And `vmap` leaves behind only the operations its
rules asked for.
"""

import numpy as np

from autodiff_mini import draft as ad


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
    return {
        'a': ['c = multiply(a, b)', 'd = divide(c, 3)', 'e = subtract(2, d)'],
        'b': ['b = multiply(a, a)', 'c = add(b, 1)', 'd = multiply(c, a)',
              'e = add(d, 3)'],
        'c': ['b = exp(a)', 'c = sin(a)', 'd = multiply(c, 2.0)'],
        'd': ['b = multiply(a, a)', 'c = sum(b, axis=(1,))'],
    }
