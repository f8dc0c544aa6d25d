"""Predict: what is kept?

`linearize_jaxpr` cuts a program in two. The first half returns residuals and
then the outputs of the program. How many residuals are there for each of
these functions of numbers?

(Numbers that are written in the function stay in the program as they are.)
"""

import numpy as np

from autodiff_mini import draft as ad

expit = ad.custom_jvp(lambda x: 1 / (1 + np.exp(-x)))


def expit_jvp(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    y = expit(x)
    return y, y * (1 - y) * x_dot


expit.defjvp(expit_jvp)

HINTS = (
    'Look up the rules in chapter 2. Which number does each of them multiply '
    'the tangent by?',
    'A residual is a value, so a value that is used twice is one residual.',
    'Python multiplies from left to right. What has `y * (1 - y) * x_dot` '
    'computed before it meets the tangent?',
)


def a(x, y):
    return x + 2 * y


def b(x):
    return np.sin(x)


def c(x, y):
    return x * y


def d(x):
    return x * x


def e(x):
    return np.exp(np.sin(x))


def f(x):
    return expit(x)


def g(x, y):
    return x / y


def h(x):
    return np.sin(x) + 3 * np.sin(x)


def prediction():
    # for example {'a': 1, 'b': 0, 'c': 0, 'd': 0, 'e': 0, 'f': 0, ...}
    raise NotImplementedError('exercise e14_2: write the numbers here')
