"""Extend: pretend, on the way back.

Two people want a derivative that is not the derivative. One rounds the
weights of a network to whole numbers. The slope of rounding is 0 wherever
there is one, so nothing would be learned; on the way back she pretends that
nothing has happened. (She calls it a *straight-through* estimator.) The other
trains one network against another. Between the two he wants the identity, but
each cotangent comes back with its sign changed, so that what is good for the
one is bad for the other: *gradient reversal*.

Write what both need. Their weights are trees. They will map it over examples.
And they will differentiate twice: the second derivative has to pretend, too.
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    'What does `bwd` have to remember? And it returns a tuple with one entry '
    'for each argument: how many arguments are there?',
    'The slope of `straight(x) ** 2` is `2 * straight(x)`. Somebody '
    'differentiates that again. Has your `fwd` returned a value that '
    'pretends, or one that is only rounded?',
)


def pretend(f, back):
    """Returns `f`, with `back` for its pullback.

    Args:
        f: a function of one array, or tree of arrays.
        back: takes a cotangent of what `f` returns, and returns a cotangent
            of its argument.
    """
    raise NotImplementedError('exercise e11_2: write it here')


def rounded(tree):
    return ad.tree_map(np.round, tree)


def reversed_sign(tree):
    return ad.tree_map(np.negative, tree)


def straight(tree):
    return pretend(rounded, lambda ct: ct)(tree)


def against(tree):
    return pretend(lambda tree: tree, reversed_sign)(tree)
