"""In `a`, the sine and its product are gone, because nothing needs them. In
`b`, the sum is computed once, although there were two calls, because the
second one repeats the first. The rule of `twice` has left no trace.

In `c` it has. The rule was asked while the program was recorded, and its
answer, `7.0 * x_dot`, is a line like any other. (Here the arguments are `a`
and `b`, so the first result is `c`.) The sine itself isn't needed. The
product could have been written into either factor, and the other factor is
then freed. `vmap` and `jit` have left no trace at all.
"""

import numpy as np

import autodiff_mini as ad


@ad.custom_jvp
def twice(x):
    return x + x


@twice.defjvp
def twice_jvp(primals, tangents):
    return twice(*primals), 7.0 * tangents[0]


def a(x):
    y = np.exp(x)
    z = np.sin(x) * np.sqrt(4.0)
    return y * 2


def b(x):
    return twice(x) * twice(x)


def c(x, x_dot):
    return ad.jvp(lambda x: np.sin(twice(x)), (x,), (x_dot,))[1]


def d(table):
    return ad.vmap(ad.jit(lambda row: np.exp(row) * 2.0))(table) + 1


def prediction():
    return {
        'a': ['b = np.exp(a)', 'b *= const_1'],
        'b': ['b = a + a', 'b *= b'],
        'c': ['c = a + a', 'd = const_1 * b', 'np.cos(c, c)', 'd *= c',
              'del c'],
        'd': ['b = np.exp(a)', 'b *= const_1', 'b += const_2'],
    }
