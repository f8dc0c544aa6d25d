"""Extend: pretend in the backward pass.

Two people want a derivative that isn't the derivative. One replaces the
weights of a network by their signs, 1 or -1. The slope of a sign is 0, so the
network would learn nothing, and in the backward pass she pretends that the
sign is the identity (a *straight-through* estimator). The other trains one
network against another. Between them he wants the identity, but flips the
sign of each cotangent, so what's good for one network is bad for the other
(*gradient reversal*).

Write the function that both need. Their weights are trees. They'll map it
over examples, and they'll differentiate twice. The second derivative has to
pretend, too.
"""

import numpy as np

from autodiff_mini import draft as ad
from autodiff_mini.draft.trees import tree_map

HINTS = (
    'What does `bwd` have to remember? It returns a tuple with one entry for '
    'each argument, so how many entries are there?',
    'The slope of `straight(x) ** 2` is `2 * straight(x)`, and the second '
    'derivative differentiates that. Does your `fwd` return a value that '
    'pretends, or only a sign?',
)


def pretend(f, backward):
    """Return `f`, with `backward` as its pullback.

    Args:
        f: a function of one array, or of one tree of arrays.
        backward: takes a cotangent of the output of `f` and returns a
            cotangent of its argument.
    """
    raise NotImplementedError('exercise e11_2: write it here')


def signs(tree):
    return tree_map(lambda x: np.where(x > 0, 1.0, -1.0), tree)


def reversed_sign(tree):
    return tree_map(np.negative, tree)


def straight(tree):
    return pretend(signs, lambda ct: ct)(tree)


def against(tree):
    return pretend(lambda tree: tree, reversed_sign)(tree)
