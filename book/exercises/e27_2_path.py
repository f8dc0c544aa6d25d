"""Extend: one solution is the next guess.

A bridge is loaded, a little more each time, and we want to know how far it
bends. For each load `a`, that's the `x` with `f(a, x) = 0`. Newton's method
needs a good guess. For the first load you have one, and for each of the
others the best guess is the solution for the load before.

Write `path(f, loads, x_guess)`, which returns all the solutions. It has to be
differentiable with respect to the loads and whatever `f` captures. Before you
run the tests, predict what the Jacobian of the path looks like. Each solution
was found from the one before. Does the third one depend on the second load?
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    'A loop that carries a value from step to step, reads a row of an array '
    'in each step, and returns a row of another is a `scan` (chapter 15).',
    'The body gets a solution and a load. It returns the next solution '
    'twice, to carry it and to collect it.',
    'The guess of `root` has the derivative zero, so no derivative is '
    'carried from step to step.',
)


def bridge(a, x):
    """Return the force that holds the bridge, minus the load `a`."""
    return np.arctan(x - a) + 0.01 * (x - a)


def path(f, loads, x_guess):
    """Return the `x` with `f(a, x) == 0` for each `a`, in order.

    Args:
        f: a function of a load and a tree of arrays `x`; it returns a tree
            like `x`.
        loads: an array with one load per row.
        x_guess: where to start looking for the first `x`.

    Returns:
        A tree like `x`, with an additional first axis.
    """
    raise NotImplementedError('exercise e27_2: find one after the other')
