"""Decide later.

People who train large models shorten gradients that are too long:

    def shortened(x):
        length = np.sqrt(np.sum(x * x))
        return x / length if length > 1 else x

On Dask's arrays, this computes right away to choose a branch, and `ad.jit`
and `ad.vmap` refuse it. Write it without the `if`. Keep the values and the
derivatives, also at the origin, and compute nothing on Dask's arrays.
At length 1, where there's a corner, any derivative between the two is right.
"""

import numpy as np

HINTS = (
    '`np.where` can choose between the two. But what is its derivative at '
    'the origin, where the branch that is not taken divides by zero?',
    'Chapter 16 had this problem with a batched cond. Choose before you '
    'divide or take a root. Which number do you divide x by if it is not '
    'too long?',
)


def shortened(x):
    """Return `x`, scaled to length 1 if it is longer."""
    raise NotImplementedError('exercise e30_2: no if, and no nan')
