"""Predict: be the compiler.

Here are four functions. What does `f.source` show after they have been
compiled for a 40 × 40 table? Write the lines between `def` and `return`,
without the comments, as Python would have them: `'b = np.sin(a)'`. The
argument is called `a`, and the results get the next letters. The numbers are
defined above the function, `const_1 = np.array(2.0)`, in the order in which
the lines need them, and the lines use their names.

The table is large enough for the compiler to care about memory. A result that
is written into an existing array is `'b += c'` or `'np.sin(b, b)'` and gets
no letter of its own. An array that isn't needed anymore is freed, `'del c'`.

`twice` has a rule, and the rule is a lie. Who gets to see it?
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    'Write down the jaxpr first. Then leave out the equations whose results '
    "aren't needed, and the ones that repeat an earlier one. The remaining "
    'results get new letters, so no letter is skipped.',
    'A rule is for derivatives. `b` has no derivative in it. `c` has one, '
    "and it's computed before the program is compiled.",
    'In `c`, the sine is computed for the pair of value and slope, and only '
    'the slope is returned. (The rule of the sine is `x_dot * np.cos(x)`, in '
    "this order.) In `d`, the inner program is a single equation until it's "
    'lowered. And what does batching do to a function that works element by '
    'element?',
    "The arguments belong to the caller, so they aren't overwritten. The "
    'first result is always a new array. If two operands could take the '
    'result, the first one does.',
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
    raise NotImplementedError('exercise e31_3: write your lines here')
