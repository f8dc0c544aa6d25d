"""The state of the user and the total flow together, as a pair. Both begin
where they must: the one at `y0`, the other at 0.

Divide by the *end*, which may be negative: then the total is, too. And since
the tolerances hold for the pair, the total is as exact as the state. A loss
that is summed up along the way is no harder than one that looks at the end.
"""

import numpy as np

import autodiff_mini as ad


def average(func, value, y0, end):
    """Returns the mean of `value(y)` over the times from 0 to the end.

    Args:
        func: `func(y, t)`, the slope, a tree like the state.
        value: takes a state, and returns a number.
        y0: the state at time 0, a tree of arrays.
        end: a float, which may be negative, and may be differentiated.
    """
    def slope(pair, t):
        y, _ = pair
        return func(y, t), value(y)

    _, totals = ad.odeint(slope, (y0, 0.0), ad.asarray([0.0, end]))
    return totals[1] / end


def height(state):
    """How high a pendulum of length 1 is."""
    return 1 - np.cos(state['angle'])


def pendulum(state, t):
    return {'angle': state['speed'], 'speed': -9.81 * np.sin(state['angle'])}


def mean_height(angle, seconds):
    return average(pendulum, height, {'angle': angle, 'speed': 0.0}, seconds)
