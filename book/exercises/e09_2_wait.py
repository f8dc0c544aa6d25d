"""Predict: which operations have to wait?

`linearize_at` computes the known half of a derivative, and leaves a program
for the tangent. For each of these functions of an array, write down the
primitives in the program that's left, in any order, and how many arrays are
kept in its equations. (Single numbers are kept too, but don't count them.)
"""

import numpy as np

from autodiff_mini import draft as ad

HINTS = (
    'Write down the equations of the JVP, as the chapter does. Mark the '
    'tangent, and then every equation that has a marked operand. The arrays '
    'that marked equations use, and that are not marked, are kept.',
    'The rule for the product `x * y` multiplies `x_dot` by `y` and `y_dot` '
    'by `x`, and adds. If only one of the operands has a tangent, there is '
    'no addition.',
    'The tangent of a sum is the sum of the tangent. And your own rule is '
    'run as you wrote it, from left to right. Which products in `e` contain '
    'the tangent?',
)


@ad.custom_jvp
def ruled(x):
    return np.tanh(x)


@ruled.defjvp
def ruled_jvp(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    y = ruled(x)
    return y, x_dot * (1 - y) * (1 + y)


FUNCTIONS = {
    'a': lambda x: 3 * x + 2,
    'b': lambda x: np.exp(np.exp(x)),
    'c': lambda x: x * np.sin(x),
    'd': lambda x: np.where(x > 0, x, 0.0) / np.sum(np.ones(3)),
    'e': lambda x: ruled(x),
    'f': lambda x: np.sum(x) * x,
}


def prediction():
    # e.g. {'a': (['multiply', 'add'], 0), 'b': ([], 0), 'c': ([], 0),
    #       'd': ([], 0), 'e': ([], 0), 'f': ([], 0)}
    raise NotImplementedError('exercise e09_2: write what is left here')
