"""Only `a` is nudged, so the tangent is the one of `cost` at a fixed `x`.
There's no linear system to solve, and the valley is no problem.

But a second derivative differentiates this rule, and the place where we take
the tangent depends on `a`. That's why the rule calls `argmin`, which has a
rule, and doesn't hold its result constant with `stop_gradient`. The linear
system of `argmin` is solved only if a second derivative asks for it.

For the value, the rule calls `smallest` and not `cost`, so that the value's
own derivative is found by the envelope theorem at every order.
"""

from functools import partial

import numpy as np

import autodiff_mini as ad


def downhill(slope, x):
    """Follow the slope down until it is level."""
    return ad.while_loop(lambda x: np.max(np.abs(slope(x))) > 1e-10,
                         lambda x: x - 0.1 * slope(x), x)


def dense(g, y):
    return np.linalg.solve(ad.jacfwd(g)(y), y)


def argmin(cost, a, x_guess):
    """Return the array `x` for which `cost(a, x)` is smallest."""
    return ad.custom_root(lambda x: ad.grad(cost, 1)(a, x), x_guess,
                          downhill, dense)


@partial(ad.custom_jvp, nondiff_argnums=(0,))
def smallest(cost, a, x_guess):
    """Return the smallest value of `cost(a, x)`."""
    return cost(a, argmin(cost, a, x_guess))


@smallest.defjvp
def smallest_jvp(cost, primals, tangents):
    (a, x_guess), (a_dot, _) = primals, tangents
    x = argmin(cost, a, x_guess)
    _, cost_dot = ad.jvp(lambda a: cost(a, x), (a,), (a_dot,))
    return smallest(cost, a, x_guess), cost_dot
