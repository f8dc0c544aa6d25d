"""W7 and W12: the derivatives of a pendulum's position by `odeint`."""

import math
from functools import partial

import numpy as np
from scipy.integrate import solve_ivp

from autodiff_mini.wings.applications.ode import odeint
from tests.benchmarks.measure import Row
from tests.benchmarks.peers import everywhere, gradients, jax, jnp

if jax:
    from jax.experimental.ode import odeint as jax_odeint

SOLVERS = {np: odeint, jnp: jax and jax_odeint}
GRAVITY = 9.81
TOLERANCE = 1.4e-8      # the defaults of the library and of JAX


# W7: the gradient

def pendulum(np, start, length, seconds):
    """The last angle of a pendulum whose state is two numbers."""
    def slope(state, t, length):
        angle, speed = state
        return speed, -GRAVITY / length * np.sin(angle)

    times = np.linspace(0.0, seconds, 11)
    angles, _ = SOLVERS[np](slope, start, times, length)
    return angles[-1]


def pendulum_of_a_vector(np, start, length, seconds):
    """The same angle, where the state is one array."""
    def slope(state, t, length):
        return np.stack([state[1], -GRAVITY / length * np.sin(state[0])])

    times = np.linspace(0.0, seconds, 11)
    return SOLVERS[np](slope, np.stack(start), times, length)[-1, 0]


def end(slope, span, start):
    """Return the last state of a solution by SciPy."""
    return solve_ivp(slope, span, start, rtol=TOLERANCE,
                     atol=TOLERANCE).y[:, -1]


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

    angle, speed = end(slope, (0.0, seconds), start)
    _, _, *start_bar, length_bar = end(
        adjoint, (seconds, 0.0), (angle, speed, 1.0, 0.0, 0.0))
    return angle, (tuple(start_bar), length_bar)


FORMS = {'': pendulum, ' as a vector': pendulum_of_a_vector}
START, LENGTH = (1.0, 0.5), 1.0


def w7():
    for form, program in FORMS.items():
        for seconds in 10.0, 1.0:
            yield Row(f'odeint, pendulum{form}, {{}} s', f'{seconds:.0f}',
                      gradients(partial(program, seconds=seconds),
                                (START, LENGTH),
                                partial(hand_pendulum, seconds), (0, 1),
                                value=True, peers=['jax']), 1e-5)


# W12: the second derivative by the length

def hand_curvature(seconds, start, length):
    """Two more equations for each derivative, solved with the others."""
    stiffness = GRAVITY / length

    def slope(t, state):
        angle, speed, angle_1, speed_1, angle_2, speed_2 = state
        sine, cosine = math.sin(angle), math.cos(angle)
        pull, swing = stiffness * sine, stiffness * cosine
        return (speed, -pull, speed_1, pull / length - swing * angle_1,
                speed_2, 2 / length * (swing * angle_1 - pull / length)
                + pull * angle_1 ** 2 - swing * angle_2)

    return end(slope, (0.0, seconds), (*start, 0.0, 0.0, 0.0, 0.0))[4]


def w12():
    for form, program in FORMS.items():
        for seconds in 10.0, 1.0:
            calls = everywhere(
                lambda ad, np: ad.grad(ad.grad(partial(
                    program, np, START, seconds=seconds))),
                (LENGTH,), partial(hand_curvature, seconds, START), ['jax'])
            yield Row(f'second derivative of odeint, pendulum{form}, {{}} s',
                      f'{seconds:.0f}', calls, 1e-5)
