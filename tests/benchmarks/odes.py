"""W7: the position of a pendulum after ten seconds, and its gradient."""

import math

import numpy as np
from scipy.integrate import solve_ivp

from autodiff_mini.applications.ode import odeint
from tests.benchmarks.measure import Row
from tests.benchmarks.peers import gradients, jax, jnp

if jax:
    from jax.experimental.ode import odeint as jax_odeint

SOLVERS = {np: odeint, jnp: jax and jax_odeint}
TIMES = np.linspace(0.0, 10.0, 11)
GRAVITY = 9.81
TOLERANCE = 1.4e-8      # the defaults of the library and of JAX


def pendulum(np, start, length):
    """The angle of a pendulum at the last of the times."""
    def slope(state, t, length):
        angle, speed = state
        return speed, -GRAVITY / length * np.sin(angle)

    angles, _ = SOLVERS[np](slope, start, np.asarray(TIMES), length)
    return angles[-1]


def hand_pendulum(start, length):
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

    first, last = TIMES[0], TIMES[-1]
    angle, speed = end(slope, (first, last), start)
    _, _, *start_bar, length_bar = end(
        adjoint, (last, first), (angle, speed, 1.0, 0.0, 0.0))
    return angle, (tuple(start_bar), length_bar)


def w7():
    yield Row('odeint, pendulum, 10 seconds',
              gradients(pendulum, ((1.0, 0.5), 1.0), hand_pendulum, (0, 1),
                        value=True, peers=['jax']),
              {'jit/hand': 0.2, 'jit/jax': 10, 'eager/hand': 3},
              tolerance=1e-5)
