"""Extend: a gradient, one slope at a time.

`ad.jvp` gives the slope along one direction. Write `gradient(f)`, which
returns a function of a tree of parameters. That function returns a tree of
the same structure that says, for each number in it, how fast `f` changes when
this number grows and the others don't change.

When it works, count how often `f` has to run. Reverse mode runs it once.
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    'A direction has the structure of the parameters: zeros everywhere, and '
    'a single 1. `ad.tree_flatten` returns the leaves and the structure.',
    'For each leaf, for each of its elements (`np.ndindex(np.shape(leaf))`): '
    'a list of zeros, one for each leaf; a 1 in its place; `ad.jvp`.',
)


def gradient(f):
    def gradient_of_f(params):
        raise NotImplementedError('exercise e20_3: write the gradient here')
    return gradient_of_f
