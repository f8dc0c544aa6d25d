"""The user's state and the total flow together, as a pair. The state starts
at `y0`, and the total starts at 0.

Divide by the *end*, sign included, because the integral changes sign too. The
tolerances hold for the pair, so the total is as exact as the state. A loss
that's summed up along the flow is no harder than one at the end.
"""

import numpy as np

import autodiff_mini as ad


def average(func, value, y0, end):
    """Return the mean of `value(y)` over the times from 0 to the end.

    Args:
        func: `func(y, t)`, the slope, a tree like the state.
        value: a function from a state to a number.
        y0: the state at time 0, a tree of arrays.
        end: a float, which can be negative or traced.
    """
    def slope(pair, t):
        y, _ = pair
        return func(y, t), value(y)

    _, totals = ad.odeint(slope, (y0, 0.0), ad.asarray([0.0, end]))
    return totals[1] / end


def height(state):
    """Return how high a pendulum of length 1 is."""
    return 1 - np.cos(state['angle'])


def pendulum(state, t):
    return {'angle': state['speed'], 'speed': -9.81 * np.sin(state['angle'])}


def mean_height(angle, seconds):
    return average(pendulum, height, {'angle': angle, 'speed': 0.0}, seconds)
