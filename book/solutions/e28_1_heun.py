"""Euler's step leads to `y + h * f`, and the step along the mean slope leads
to `y + h * (f + g) / 2`. The difference is `h * (g - f) / 2`, so you don't
have to subtract two states that are almost equal.

This estimates the error of *Euler's* step. The error of Heun's step is much
smaller, like h³ instead of h², but we don't know it. `odeint` does the same.
It estimates the error of a step of the fourth order and continues with a step
of the fifth.
"""

import numpy as np

import autodiff_mini as ad


def heun_step(func, t, y, h):
    """Return the state after one Heun step, and an estimate of the error.

    Args:
        func: `func(y, t)`, the slope, a tree like the state.
        t: the time at the beginning.
        y: the state at the beginning, a tree of arrays.
        h: the length of the step.
    """
    f = func(y, t)
    g = func(ad.tree_map(lambda y, f: y + h * f, y, f), t + h)
    y1 = ad.tree_map(lambda y, f, g: y + h * (f + g) / 2, y, f, g)
    return y1, ad.tree_map(lambda f, g: h * (g - f) / 2, f, g)


def march(func, t, y, end, tol):
    """Return the state at the end, taking steps that are short enough."""
    h = end - t
    while t < end:
        h = min(h, end - t)
        y1, error = heun_step(func, t, y, h)
        worst = max(np.max(np.abs(x)) for x in ad.tree_leaves(error))
        if worst <= tol:
            t, y = t + h, y1
        h = h * min(5.0, 0.9 * (tol / max(worst, 1e-30)) ** 0.5)
    return y
