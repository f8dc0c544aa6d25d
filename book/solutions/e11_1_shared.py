"""Each example contributes a cotangent of the weight, and the contributions
are added. The mean would be the gradient of a different function. The sum is
over the axis of the examples only, because a weight can be an array.

A value that's used many times gets the sum. If you write only the
rule for one example, `vmap` and `unbroadcast` do this for you.
"""

import numpy as np

from autodiff_mini import draft as ad


def batched(f, fwd, bwd):
    """Return `f` of many examples and one weight, with its rules.

    Args:
        f: a function of an example and a weight.
        fwd: its forward pass, `fwd(x, w) -> (y, residuals)`.
        bwd: its backward pass, `bwd(residuals, ct) -> (x_bar, w_bar)`.
    """
    def for_all(g):
        return lambda xs, w: ad.vmap(lambda x: g(x, w))(xs)

    f_for_all = ad.custom_vjp(for_all(f))

    def fwd_for_all(xs, w):
        _, residuals = for_all(fwd)(xs, w)
        return f_for_all(xs, w), residuals

    def bwd_for_all(residuals, cts):
        x_bars, w_bars = ad.vmap(bwd)(residuals, cts)
        return x_bars, np.sum(w_bars, 0)

    f_for_all.defvjp(fwd_for_all, bwd_for_all)
    return f_for_all
