"""W6: loops of a thousand steps and more."""

import math
from functools import partial

import numpy as np

import autodiff_mini as ad
from tests.benchmarks.measure import Row
from tests.benchmarks.peers import (
    EVERYBODY, anp, fused, gradients, jax, jnp, torch)


def unrolled(f, carry, xs=None, length=None):
    """Return the last carry, as scan does, for a peer without a scan."""
    for x in xs if length is None else [None] * length:
        carry, _ = f(carry, x)
    return carry, None


SCANS = {np: ad.scan, anp: unrolled, torch: unrolled,
         jnp: jax and jax.lax.scan}


def network(np, weights, xs):
    """The loss of a recurrent network, summed over all steps."""
    recurrent, inward, bias = weights

    def step(carry, x):
        hidden, loss = carry
        hidden = np.tanh(recurrent @ hidden + inward @ x + bias)
        return (hidden, loss + np.sum(hidden * hidden)), None

    (_, loss), _ = SCANS[np](step, (bias * 0.0, 0.0), xs)
    return loss


def hand_network(weights, xs):
    recurrent, inward, bias = weights
    inputs = xs @ inward.T + bias
    states = np.zeros_like(xs, shape=(len(xs) + 1, len(bias)))
    for t in range(len(xs)):
        np.tanh(recurrent @ states[t] + inputs[t], out=states[t + 1])
    after, back = states[1:], np.zeros_like(bias)
    slopes, cts = 1 - after * after, 2 * after
    for ct, slope in zip(cts[::-1], slopes[::-1]):
        ct += back
        ct *= slope
        back = ct @ recurrent
    return cts.T @ states[:-1], cts.T @ xs, cts.sum(axis=0)


STEP = 0.01


GRAVITY = 9.81


def pendulum(np, steps, angle, speed, length):
    """The angle after some steps of the semi-implicit Euler method."""
    def step(state, _):
        angle, speed = state
        speed = speed - STEP * GRAVITY / length * np.sin(angle)
        return (angle + STEP * speed, speed), None

    (angle, _), _ = SCANS[np](step, (angle, speed), length=steps)
    return angle


def hand_pendulum(steps, angle, speed, length):
    pull, sin, cos = STEP * GRAVITY / length, math.sin, math.cos
    slopes = []
    for _ in range(steps):
        sine = sin(angle)
        slopes.append((sine, pull * cos(angle)))
        speed = speed - pull * sine
        angle = angle + STEP * speed
    angle_bar, speed_bar, pull_bar = 1.0, 0.0, 0.0
    for sine, slope in reversed(slopes):
        speed_bar = speed_bar + STEP * angle_bar
        pull_bar = pull_bar - sine * speed_bar
        angle_bar = angle_bar - slope * speed_bar
    return angle_bar, speed_bar, -pull / length * pull_bar


def w6():
    rng = np.random.default_rng(6)
    for hidden, size in (64, '64 hidden, 32 inputs'), (32, '32 of both'):
        weights = (rng.standard_normal((hidden, hidden)) / 10,
                   rng.standard_normal((hidden, 32)) / 10,
                   rng.standard_normal(hidden))
        yield Row('RNN, {}, 1,000 steps', size,
                  gradients(network,
                            (weights, rng.standard_normal((1000, 32))),
                            hand_network))
    for steps in 1_000, 10_000:
        few = steps == 1_000    # others unroll the loop
        yield Row('pendulum, {} steps', f'{steps:,}',
                  fused(gradients(
                      lambda np, *start, n=steps: pendulum(np, n, *start),
                      (1.0, 0.5, 1.0), partial(hand_pendulum, steps),
                      (0, 1, 2), peers=EVERYBODY if few else ['jax'])))
