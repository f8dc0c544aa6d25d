"""Euler's step leads to `y + h * f`, and a step along the mean slope to
`y + h * (f + g) / 2`. So the difference is `h * (g - f) / 2`, and there is no
need to subtract two states that are almost equal.

It is the error of *Euler's* step that this estimates. Heun's is much
smaller, as h³ and not h², but we do not know it. So does `odeint`: it
estimates the error of a step of the fourth order, and goes on with one of
the fifth.
"""

import numpy as np

import autodiff_mini as ad


def heun_step(func, t, y, h):
    """Returns the state after a step of Heun's, and an estimate of the error.

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
    """Returns the state at the end, in steps that are short enough."""
    h = end - t
    while t < end:
        h = min(h, end - t)
        y1, error = heun_step(func, t, y, h)
        worst = max(np.max(np.abs(x)) for x in ad.tree_leaves(error))
        if worst <= tol:
            t, y = t + h, y1
        h = h * min(5.0, 0.9 * (tol / max(worst, 1e-30)) ** 0.5)
    return y
