"""At 0 the root is 0, and its slope is infinite. The border belongs to the
other branch, so the root is not chosen, gets the cotangent 0, and returns 0
times infinity. In `c` the same happens one derivative later: the slope at 0
is 0, and the slope of the slope is not. And from 710 on, the exponential is
infinite. (`log1p` of it is infinite, its slope is 0, and 0 times infinity is
a nan even before anybody asks who was chosen.)

Looking at values does not find such things, and nor does a test of the first
derivative. In `vmap` of `cond`, the line in front of the branch is
`xs = lend(mask, xs, mapped)`. In a batch of 0 and 4, the root is asked of 4
and 4. There is no bad point in the branch, and so there is none in any of
its derivatives.
"""

import numpy as np

import autodiff_mini as ad


BRANCHES = {     # where it holds, the first function; elsewhere the other
    'a': (lambda x: x > 0, np.sqrt, lambda x: 2.0 * x),
    'b': (lambda x: x < 50, lambda x: np.log1p(np.exp(x)), lambda x: x),
    'c': (lambda x: x > 0, lambda x: x ** 1.5, lambda x: -x),
}


def chosen(name):
    """Returns the function with both branches, and a choice afterwards."""
    holds, first, other = BRANCHES[name]
    return lambda x: np.where(holds(x), first(x), other(x))


def branching(name):
    """Returns the function with `cond`."""
    holds, first, other = BRANCHES[name]
    return lambda x: ad.cond(holds(x), first, other, x)


def breaks_it():
    return {'a': 0.0, 'b': 710.0, 'c': 0.0}
