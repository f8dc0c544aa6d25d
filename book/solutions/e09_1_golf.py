"""What is known is multiplied first, in brackets: one array for swish. It is
not enough to remember the value, as `expit` does, since two different `x` can
have the same swish. The slope of hat is -1, 0 or 1, and one byte is enough
for that. NumPy's product of a float64 and an int8 is a float64.
"""

import numpy as np

import autodiff_mini as ad


def swish(x):
    return x / (1 + np.exp(-x))


def hat(x):
    return np.maximum(1 - np.abs(x), 0)


def bytes_kept(f, x):
    """Returns how many bytes linearize keeps for each number of `x`."""
    _, f_jvp = ad.linearize(f, x)
    return sum(a.nbytes for a in ad.tree_leaves(f_jvp)
               if np.ndim(a)) / np.size(x)


def with_rules():
    """Returns swish and hat, with rules of their own."""
    ruled_swish, ruled_hat = ad.custom_jvp(swish), ad.custom_jvp(hat)

    @ruled_swish.defjvp
    def swish_jvp(primals, tangents):
        (x,), (x_dot,) = primals, tangents
        s = 1 / (1 + np.exp(-x))
        return x * s, x_dot * (s * (1 + x * (1 - s)))

    @ruled_hat.defjvp
    def hat_jvp(primals, tangents):
        (x,), (x_dot,) = primals, tangents
        slope = np.where(np.abs(x) < 1, -np.sign(x), 0)
        return ruled_hat(x), x_dot * slope.astype(np.int8)

    return ruled_swish, ruled_hat
