"""A short array is divided by 1. So choose the divisor under the root,
because the root's slope at 0 is infinite. At the origin, the maximum is the
constant 1. No part of `x` passes through the root, so no infinity meets a
zero.
"""

import numpy as np


def shortened(x):
    """Return `x`, scaled to length 1 if it is longer."""
    return x / np.sqrt(np.maximum(np.sum(x * x), 1))
