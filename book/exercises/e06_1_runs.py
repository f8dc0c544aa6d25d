"""Predict: how many times does the rule run?

Here's a function with a rule that calls the function. Both keep a record of
their runs. For each of the five programs, write down how many times the
function and the rule run.
"""

import numpy as np

from autodiff_mini import draft as ad

HINTS = (
    'The rule runs once for each derivative that is taken. It calls the '
    'function, so which trace is asked about that call?',
    'In `d`, how many elements does one run compute? In `e`, forward mode is '
    'asked about two calls. What does it do with a call whose tangents are '
    'all zero?',
)

runs = []


@ad.custom_jvp
def f(x):
    runs.append('f')
    return x * x


@f.defjvp
def f_jvp(primals, tangents):
    runs.append('rule')
    (x,), (x_dot,) = primals, tangents
    return f(x), 2 * x * x_dot


def deriv(f):
    return lambda x: ad.jvp(f, (x,), (1.0,))[1]


PROGRAMS = {
    'a': lambda: f(3.0),
    'b': lambda: deriv(f)(3.0),
    'c': lambda: deriv(deriv(deriv(f)))(3.0),
    'd': lambda: ad.vmap(deriv(f))(np.ones(5)),
    'e': lambda: deriv(lambda x: f(2.0) * f(x))(3.0),
}


def prediction():
    # the function, and the rule: e.g. {'a': (1, 0)}
    raise NotImplementedError('exercise e06_1: write five pairs here')
