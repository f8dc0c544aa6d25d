"""At 0 the root is 0, and its slope is infinite. The border belongs to the
second branch, so the root isn't chosen, its cotangent is 0, and the reverse
pass computes zero times infinity. In `c` the same thing happens one
derivative later, because the slope of x ** 1.5 at 0 is 0, and the slope of
that slope is infinite. In `b`, from 710 on, the exponential and its slope are
infinite, and the logarithm's slope is 0.

You don't find such points by looking at values, or by testing the first
derivative. In `cond_vmap`, the line that makes the difference is
`return cond_p.bind(*row, **programs)`. Each element runs one branch, so the
other branch, its slope, and the slope of its slope are never computed.
"""

import numpy as np

from autodiff_mini import draft as ad


BRANCHES = {     # a test, the first branch, and the second
    'a': (lambda x: x > 0, lambda x: x ** 0.5, lambda x: 2.0 * x),
    'b': (lambda x: x < 50, lambda x: np.log(1 + np.exp(x)), lambda x: x),
    'c': (lambda x: x > 0, lambda x: x ** 1.5, lambda x: -x),
}


def chosen(name):
    """Return the function that computes both branches and chooses."""
    test, first, second = BRANCHES[name]
    return lambda x: np.where(test(x), first(x), second(x))


def branching(name):
    """Return the function with `cond`."""
    test, first, second = BRANCHES[name]
    return lambda x: ad.cond(test(x), first, second, x)


def breaks_it():
    return {'a': 0.0, 'b': 710.0, 'c': 0.0}
