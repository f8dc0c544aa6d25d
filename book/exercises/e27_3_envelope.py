"""Extend: the price of the best.

Sometimes a minimum's *value* matters and not its place. If a price changes,
what will the cheapest diet cost? If the penalty changes, how well will the
model fit? The cost changes because `a` does, and because the best `x` does.
But where the cost is smallest, it's level in `x`, so the second part is zero.
This is the envelope theorem. The gradient of the smallest value doesn't need
the derivative of `x`, and it exists even if `x` has no derivative, as in a
valley whose deepest points form a line.

Write the rule of `smallest`. Its first derivative has to be right in such a
valley, too. Its second derivative has to be right wherever `x` has one. It's
easy to write a rule with perfect gradients and a Hessian that's wrong without
an error.
"""

from functools import partial

import numpy as np

import autodiff_mini as ad

HINTS = (
    'Two things change with `a`, the cost and the best `x`. By how much does '
    'the cost change if only `x` does, where it is level?',
    'The tangent is a derivative of `cost` with `x` held constant.',
    'Hold `x` constant in the derivative that you take, and not in those '
    'that others take of your rule. What does the rule call to find `x`?',
)



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
    raise NotImplementedError('exercise e27_3: write the rule here')
