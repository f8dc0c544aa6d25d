"""The Jacobian is diagonal. A solution depends on its own load, and on
nothing else: the guess decides whether it is found, and which, and these are
not questions of degree. So every derivative through the carry is zero, and
the way back through the scan has nothing to pass on.

A loop that takes a single Newton step for each load would be faster, and
nearly right. Its Jacobian has something below the diagonal: it remembers.
"""

import numpy as np

import autodiff_mini as ad


def bridge(a, x):
    """The load `a` against what holds the bridge, and breaks at the end."""
    return np.arctan(x - a) + 0.01 * (x - a)


def path(f, loads, x_guess):
    """Returns the `x` with `f(a, x) == 0` for each `a`, in order.

    Args:
        f: a function of a load and an `x`, a tree of arrays, which returns
            a tree like `x`.
        loads: an array, along the first axis of which are the loads.
        x_guess: where to begin to look for the first `x`.

    Returns:
        A tree like `x`, with an axis in front.
    """
    def follow(x, a):
        x = ad.root(f, a, x)
        return x, x
    return ad.scan(follow, x_guess, loads)[1]
