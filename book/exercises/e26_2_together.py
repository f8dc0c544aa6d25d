"""Extend: clip a whole tree.

Chapter 11's `calm` is a rule that isn't a derivative. It clips each
number of a cotangent to between -1 and 1, which shrinks the large entries and
leaves the small ones alone, so the next step of training has a different
direction. To keep the direction, take all the numbers in all the arrays of a
tree as one long vector. If it's longer than `limit`, multiply *every* array
by the same factor, so that the vector is as long as `limit`.

Write `at_most_together(tree, limit)`, which returns its tree unchanged and
does this to the cotangents in the reverse pass. They keep their dtypes. If
all of them are zero, they stay zero.
"""

from functools import partial

import numpy as np

import autodiff_mini as ad

HINTS = (
    'It is a `custom_vjp` with `nondiff_argnums=(1,)`. In `bwd`, the '
    'cotangent is a tree like the argument, and `ad.tree_leaves` returns a '
    'list of its arrays.',
    'The squared length of the vector is the sum of the squared lengths of '
    'the arrays. `ad.tree_map` multiplies each of them by the factor.',
    'The factor can be a float64, and a float32 times that is a float64. The '
    'cotangent of a float32 has to be a float32: `.astype(ct.dtype)`.',
)


def make_at_most_together():
    """Return `at_most_together(tree, limit)`, a function with a rule."""
    raise NotImplementedError('exercise e26_2: write the function and rule')
