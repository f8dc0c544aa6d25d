"""Your row, fourth square: a type without a value.

Here is the row of Lambert's W as far as you have it. Write its abstract rule.
It gets the type of `x`, a ShapedArray, and returns the type of the result.
(`defabstract(lambertw_p)` would do it in one line. Write it by hand once.)

A shape is easy. Dtypes are not: what comes of an int8, and what of a Python
number? You need no table for that, you can ask the implementation. But do not
make it work: somebody may want the type of a table of 10⁹ × 10⁹ numbers.
"""

import numpy as np

from autodiff_mini.core import Primitive, ShapedArray, typeof
from autodiff_mini.interpreters.abstract import abstract_rules, ones
from autodiff_mini.interpreters.jvp import defjvp
from autodiff_mini.interpreters.vmap import defelementwise

HINTS = (
    'The shape of the result is that of `x`. For the dtype, give the '
    'implementation a single number of the dtype of `x`, and look at what '
    'type its answer has.',
    '`ones(aval, ndim=0)` makes such a number, and makes a Python number if '
    'the type is a weak one. `typeof` says what has come out, and whether it '
    'is weak.',
)


def implementation(x):
    w = np.log1p(x)
    for _ in range(20):
        w = w - (w - x * np.exp(-w)) / (1 + w)
    return w


lambertw_p = Primitive('lambertw', implementation)
defjvp(lambertw_p, lambda x_dot, w, x: np.exp(-w) / (1 + w) * x_dot)
defelementwise(lambertw_p)


def lambertw(x):
    return lambertw_p.bind(x)


def rule(x):
    raise NotImplementedError('exercise e07_3: write the abstract rule here')


abstract_rules[lambertw_p] = rule
