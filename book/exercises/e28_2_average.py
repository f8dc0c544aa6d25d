"""On average.

How high is a pendulum on average, over ten seconds? The mean of a function of
the state, from time 0 to an end, is an integral. An integral is a flow whose
slope doesn't look at its own state.

Write `average(func, value, y0, end)`, the mean of `value(y)` along the flow.
Call `odeint` once and rely on its tolerances, instead of averaging a thousand
samples. `func(y, t)` and `value` can capture values that are being
differentiated.
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    'The state can be any tree. Yours has one more number than the '
    "user's.",
    'The state is (y, total). What is its slope, and where does it start?',
)


def average(func, value, y0, end):
    """Return the mean of `value(y)` over the times from 0 to the end.

    Args:
        func: `func(y, t)`, the slope, a tree like the state.
        value: a function from a state to a number.
        y0: the state at time 0, a tree of arrays.
        end: a float, which can be negative or traced.
    """
    raise NotImplementedError('exercise e28_2: ask odeint once, here')


def height(state):
    """Return how high a pendulum of length 1 is."""
    return 1 - np.cos(state['angle'])


def pendulum(state, t):
    return {'angle': state['speed'], 'speed': -9.81 * np.sin(state['angle'])}


def mean_height(angle, seconds):
    return average(pendulum, height, {'angle': angle, 'speed': 0.0}, seconds)
