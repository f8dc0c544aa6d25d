"""Decide later.

Whoever trains large models shortens gradients that are too long:

    def shortened(x):
        length = np.sqrt(np.sum(x * x))
        return x / length if length > 1 else x

On Dask's arrays this computes at once, to know whether to take the branch;
`ad.jit` and `ad.vmap` refuse it. Write it without a question. The values and
derivatives are to stay the same, also those at the origin, and on Dask's
arrays nothing may be computed. (At length 1 itself, where there is a corner,
any derivative between the two is right.)
"""

import numpy as np

HINTS = (
    'np.where can choose between the two. But what does its derivative say '
    'at the origin, where the branch that is not taken divides by zero?',
    'Chapter 17 met this in a cond that was mapped. Choose before you divide '
    'or take a root, and not after: by which number is x divided, if it is '
    'not too long?',
)


def shortened(x):
    """Returns `x` if it is no longer than 1, or else scaled to length 1."""
    raise NotImplementedError('exercise e23_2: no if, and no nan')
