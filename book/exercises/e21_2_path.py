"""Extend: one solution is the next guess.

A bridge is loaded, a little more each time, and we want to know how far it
bends: for each load `a`, the `x` with `f(a, x) = 0`. Newton's method needs a
good guess. For the first load somebody has one. For each of the others the
best guess is the solution for the load before.

Write `path(f, loads, x_guess)`, which returns all the solutions. It is to be
differentiable: by the loads, and by what `f` closes over. Before you run the
tests, predict what the Jacobian of the path looks like. Each solution was
made from the one before. Does the third one depend on the second load?
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    'A loop that carries a value from step to step, has something to look at '
    'in each step, and puts something out: that is a `scan`, of chapter 16.',
    'The body gets a solution and a load. It returns the next solution '
    'twice: to be carried on, and to be put out.',
    'The guess of `root` has no derivative. So what is carried carries none.',
)


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
    raise NotImplementedError('exercise e21_2: find one after the other')
