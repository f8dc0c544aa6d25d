"""W7: the position of a pendulum after some seconds, and its gradient."""

import math
from functools import partial

import numpy as np
from scipy.integrate import solve_ivp

from autodiff_mini.applications.ode import odeint
from tests.benchmarks.measure import Row
from tests.benchmarks.peers import gradients, jax, jnp

if jax:
    from jax.experimental.ode import odeint as jax_odeint

SOLVERS = {np: odeint, jnp: jax and jax_odeint}
GRAVITY = 9.81
TOLERANCE = 1.4e-8      # the defaults of the library and of JAX


def pendulum(np, seconds, start, length):
    """The angle of a pendulum after some seconds."""
    def slope(state, t, length):
        angle, speed = state
        return speed, -GRAVITY / length * np.sin(angle)

    times = np.linspace(0.0, seconds, 11)
    angles, _ = SOLVERS[np](slope, start, times, length)
    return angles[-1]


def hand_pendulum(seconds, start, length):
    """The value and the gradient: SciPy's solver, and the adjoint by hand."""
    stiffness = GRAVITY / length

    def slope(t, state):
        angle, speed = state
        return speed, -stiffness * math.sin(angle)

    def adjoint(t, state):
        angle, speed, angle_bar, speed_bar, _ = state
        sine = math.sin(angle)
        return (speed, -stiffness * sine,
                stiffness * math.cos(angle) * speed_bar, -angle_bar,
                -stiffness / length * sine * speed_bar)

    def end(slope, span, start):
        return solve_ivp(slope, span, start, rtol=TOLERANCE,
                         atol=TOLERANCE).y[:, -1]

    angle, speed = end(slope, (0.0, seconds), start)
    _, _, *start_bar, length_bar = end(
        adjoint, (seconds, 0.0), (angle, speed, 1.0, 0.0, 0.0))
    return angle, (tuple(start_bar), length_bar)


def w7():
    for seconds in 10.0, 1.0:
        yield Row('odeint, pendulum, {} s', f'{seconds:.0f}',
                  gradients(lambda np, *args, end=seconds: pendulum(
                                np, end, *args),
                            ((1.0, 0.5), 1.0),
                            partial(hand_pendulum, seconds), (0, 1),
                            value=True, peers=['jax']), 1e-5)
