"""Break it: the values are fine, and the slopes are nan.

In the chapter, the slope of a root at 0 was infinite, and that was enough to
spoil a batch. Here are three functions, each made of two branches by someone
who has no `cond`. They compute both branches and choose with `np.where`. For
each of them, find a number `x` where the second branch is chosen, and where

- in `a`, both branches are finite, and the first derivative is nan;
- in `b`, the chosen branch is finite (the other one needn't be), and the
  first derivative is nan;
- in `c`, both branches *and* the first derivative are finite and right, and
  the second derivative is nan.

The draft's `cond` gets all three right, in a batch too. Which line of
`cond_vmap` makes the difference?
"""

import numpy as np

from autodiff_mini import draft as ad

HINTS = (
    'A nan is zero times infinity. The zero is the cotangent of the branch '
    'that was not chosen, so look for a point where the *slope* of that '
    'branch is infinite.',
    'In `a`, the bad point of the first branch is at the border, and the '
    'border belongs to the second branch, because the test is `>` and not '
    '`>=`.',
    'In `b`, the first branch overflows. For which x is np.exp(x) infinite?',
    'The slope of x ** 1.5 is 1.5 * x ** 0.5. What is the slope of that?',
)


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
    # for example {'a': -1.0, 'b': 60.0, 'c': 1.0}
    raise NotImplementedError('exercise e16_1: write your numbers here')
