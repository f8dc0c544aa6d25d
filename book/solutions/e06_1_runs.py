"""Only evaluation, at the bottom of the stack, runs the function. Each
derivative replaces one call by its rule, and the call in the rule is passed
one level further down.
"""

import numpy as np

from autodiff_mini import draft as ad

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
    return {
        'a': (1, 0),
        'b': (1, 1),
        'c': (1, 3),
        'd': (1, 1),    # one run computes all five elements
        'e': (2, 1),    # f(2.0) has no tangent, so it needs no rule
    }
