"""Extend: one element at a time.

Some functions can't be batched. They ask an `if` or a `while` about their
argument, and each element would get another answer. `ad.sequential_vmap`
doesn't help, since it records the function for a `scan`.

Write a decorator that gives such a function a rule for batches, a loop in
Python that calls the function once for each element:

    @one_by_one
    def root(a):
        x = a
        while abs(x * x - a) > 1e-12:
            x = (x + a / x) / 2
        return x

    ad.vmap(root)(np.array([2.0, 3.0, 9.0]))

Arguments and outputs can be trees, and any array in an argument can be shared
by the whole batch. The slopes have to be right where forward mode is applied
first, too.
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    '`in_batched` is a list with an entry for each argument. An entry has '
    'the same structure as its argument, with True or False for each array. '
    '`ad.tree_map` can take two trees.',
    'A batched array has its batch axis in front, so element i of it is '
    '`x[i]`. What is element i of an array that is shared?',
    "The rule returns two trees with the same structure, the output and "
    'marks that say which of its arrays are batched.',
)


def one_by_one(fun):
    """Return `fun` with a rule that calls it for one element at a time.

    Args:
        fun: a function of arrays, or trees of arrays.
    """
    raise NotImplementedError('exercise e23_1: write the decorator here')
