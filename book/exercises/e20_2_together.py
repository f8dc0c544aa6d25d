"""Extend: clip a whole tree.

`at_most` of the chapter limits the length of one array. But the parameters of
a model are many arrays, in a tree. If each is clipped alone, the long ones
become shorter and the short ones do not, and the step turns aside. So take
all the numbers in all the arrays together, as one long vector: if that is
longer than `limit`, multiply *every* array by the same factor, so that the
whole is as long as `limit`.

Write `at_most_together(tree, limit)`, which returns its tree as it is, and on
the way back does this to the cotangents. They keep their dtypes. If all are
zero, they stay zero.
"""

from functools import partial

import numpy as np

import autodiff_mini as ad

HINTS = (
    'Take `at_most` from the chapter. In `bwd`, `ct` is a tree like the '
    'argument, and `ad.tree_leaves` gives you a list of its arrays.',
    'The squared length of the whole is the sum of the squared lengths of '
    'the arrays. `ad.tree_map` multiplies each of them by the factor.',
    'The factor may be a float64, and a float32 times that is a float64. The '
    'cotangent of a float32 must be a float32: `.astype(ct.dtype)`.',
)


def make_at_most_together():
    """Returns `at_most_together(tree, limit)`, a function with a rule."""
    raise NotImplementedError('exercise e20_2: write the function and rule')
