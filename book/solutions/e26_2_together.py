"""One factor for all arrays, from the length of all arrays.

We never divide by the length itself, which can be zero, but by the length or
the limit, whichever is larger. Under `vmap` over examples, `bwd` gets the
cotangents of one example, so each example is clipped alone. To clip the sum
of them, clip outside of `vmap`.
"""

from functools import partial

import numpy as np

import autodiff_mini as ad


def make_at_most_together():
    """Return `at_most_together(tree, limit)`, a function with a rule."""
    @partial(ad.custom_vjp, nondiff_argnums=(1,))
    def at_most_together(tree, limit):
        return tree

    def fwd(tree, limit):
        return at_most_together(tree, limit), None

    def bwd(limit, _, cts):
        squares = sum(np.sum(ct * ct) for ct in ad.tree_leaves(cts))
        factor = limit / np.maximum(np.sqrt(squares), limit)
        return (ad.tree_map(
            lambda ct: (ct * factor).astype(ct.dtype), cts),)

    at_most_together.defvjp(fwd, bwd)
    return at_most_together
