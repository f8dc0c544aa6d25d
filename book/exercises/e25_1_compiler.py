"""Predict: be the compiler.

Here are four functions. What does `f.source` show when they have been
compiled for a table of 40 × 40? Write the lines between `def` and `return`,
without the comments, as Python would have them: `'b = np.sin(a)'`. The
argument is called `a`, and the results have the next letters. The numbers are
defined above, `const_1 = np.array(2.0)`, in the order in which the lines come
to them; in the lines are their names.

The table is large enough to think of memory. What is written into an array
that is there already is `'b += c'` or `'np.sin(b, b)'`, and has no letter of
its own; and an array that is not needed any more is let go, `'del c'`.

`twice` has a rule, and the rule is a lie. Who gets to see it?
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    'Write down the jaxpr first. Then leave out the equations whose results '
    'are not needed, and those that have been there before. What is left '
    'gets its letters anew, so none is skipped.',
    'A rule is for derivatives. In `b` there is none. In `c` there is one, '
    'and it is taken before the program is compiled.',
    'In `c` the value of the sine is computed for the pair of value and '
    'slope, and only the slope is returned. (The rule of the sine is '
    '`x_dot * np.cos(x)`, in this order.) In `d` the inner program is a '
    'single equation, until it is lowered. And what does batching make of '
    'a function that works element by element?',
    'The arguments are the caller\'s, and are not written into. The first '
    'result is always a new array. If two operands could take the result, it '
    'is the first.',
)


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
    # e.g. {'a': ['b = np.exp(a)'], 'b': [], 'c': [], 'd': []}
    raise NotImplementedError('exercise e25_1: write your lines here')
