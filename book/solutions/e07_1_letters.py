"""What is written down is what reaches `bind`, in the order in which it does.
The loop, the branch and `np.sqrt(4.0)` are done by Python and NumPy, on plain
numbers; the sine of a tracer is not, though it will be of no use to anybody.
And of `vmap` nothing is left but what its rules asked for.
"""

import numpy as np

import autodiff_mini as ad


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
    return {
        'a': ['c = mul a b', 'd = div c 3', 'e = sub 2 d'],
        'b': ['b = mul a a', 'c = add b 1', 'd = mul c a', 'e = add d 3'],
        'c': ['b = exp a', 'c = sin a', 'd = mul c 2.0'],
        'd': ['b = reduce_sum a', 'c = mul b 2'],
    }
