"""Break it: nothing is wrong with the values.

In the chapter, the root of -1 was a nan already on the way out. One might
think that one would have noticed. Here are three functions, made of two
branches each, and all three are written as somebody would who has no `cond`:
`np.where` chooses, after both branches have been computed. For each of them
find a number `x` such that

- in `a`, both branches and the result are finite, and the gradient is nan;
- in `b`, the result is finite and right to the last digit, and the gradient
  is nan (of a branch you may ask what you like);
- in `c`, both branches, the result *and* the gradient are finite and right,
  and the second derivative is nan.

The library's `vmap` of `cond` has all of them right. Which line sees to that?
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    'A nan comes of zero times infinity. The zero is the cotangent of the '
    'branch that was not chosen. So look for a point at which the *slope* of '
    'that branch is infinite.',
    'The branch on the left has its bad point at the border, and the border '
    'belongs to the other branch: `>`, not `>=`.',
    'In `b` the branch overflows. From which number on is np.exp(x) '
    'infinite?',
    'The slope of x**1.5 is 1.5 * sqrt(x). And the slope of that?',
)


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
    # e.g. {'a': -1.0, 'b': 60.0, 'c': 1.0}
    raise NotImplementedError('exercise e17_1: write your numbers here')
