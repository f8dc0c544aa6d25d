"""Whoever differentiates sees a box, two functions, and one number that goes
from the one to the other. On the way back there is one exponential.

For the second derivative, the `w` in `bwd` is differentiated: it came out of
`lambertw`, so the rule is asked once more, and not the loop. `newton(x)` in
`fwd` would give the right numbers, too, by differentiating all steps.

What is left to wish for: `vmap` maps what is in the box, and there it finds
the loop, and `while` does not know what to do with a batch. That is for
chapter 18. A Jacobian maps only the way back, so it is no trouble.
"""

import numpy as np

import autodiff_mini as ad


def newton(x):
    """Returns the solution `w` of `w * exp(w) = x`, for numbers x >= 0."""
    w, step = np.log1p(x), 1.0
    while np.any(np.abs(step) > 1e-12 * (1 + w)):
        step = (w - x * np.exp(-w)) / (1 + w)
        w = w - step
    return w


def with_rule():
    """Returns `newton`, with a rule for the way back."""
    lambertw = ad.custom_vjp(newton)

    def fwd(x):
        w = lambertw(x)     # not newton(x): the second derivative comes here
        return w, w

    def bwd(w, ct):
        return (ct * np.exp(-w) / (1 + w),)

    lambertw.defvjp(fwd, bwd)
    return lambertw
