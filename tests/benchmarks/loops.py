"""W6: loops of a thousand steps and more."""

import math
from functools import partial

import numpy as np

import autodiff_mini as ad
from tests.benchmarks import floors
from tests.benchmarks.measure import Row
from tests.benchmarks.peers import EVERYBODY, anp, gradients, jax, jnp, torch


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
    states = [np.zeros_like(bias)]
    for x in xs:
        states.append(np.tanh(recurrent @ states[-1] + inward @ x + bias))
    recurrent_bar = np.zeros_like(recurrent)
    inward_bar = np.zeros_like(inward)
    bias_bar, state_bar = np.zeros_like(bias), np.zeros_like(bias)
    for t in reversed(range(len(xs))):
        state = states[t + 1]
        ct = (state_bar + 2 * state) * (1 - state * state)
        recurrent_bar += np.outer(ct, states[t])
        inward_bar += np.outer(ct, xs[t])
        bias_bar += ct
        state_bar = ct @ recurrent
    return recurrent_bar, inward_bar, bias_bar


STEP = 0.01


def pendulum(np, steps, start):
    """The angle after some steps of the semi-implicit Euler method."""
    def step(state, _):
        angle, speed = state
        speed = speed - STEP * np.sin(angle)
        return (angle + STEP * speed, speed), None

    (angle, _), _ = SCANS[np](step, start, length=steps)
    return angle


def hand_pendulum(steps, start):
    angle, speed = start
    angles = []
    for _ in range(steps):
        angles.append(angle)
        speed = speed - STEP * math.sin(angle)
        angle = angle + STEP * speed
    angle_bar, speed_bar = 1.0, 0.0
    for angle in reversed(angles):
        speed_bar = speed_bar + STEP * angle_bar
        angle_bar = angle_bar - STEP * math.cos(angle) * speed_bar
    return angle_bar, speed_bar


def w6():
    rng = np.random.default_rng(6)
    weights = (rng.standard_normal((64, 64)) / 10,
               rng.standard_normal((64, 32)) / 10, rng.standard_normal(64))
    yield Row('RNN, 64 hidden, 32 inputs, 1,000 steps',
              gradients(network, (weights, rng.standard_normal((1000, 32))),
                        hand_network, floor=floors.network),
              {'jit/hand': 0.7, 'jit/jax': 2.7, 'eager/autograd': 0.1})
    for steps in 1_000, 10_000:
        few = steps == 1_000    # others unroll the loop
        by_steps = lambda np, start, n=steps: pendulum(np, n, start)
        yield Row(f'pendulum, {steps:,} steps',
                  gradients(by_steps, ((1.0, 0.5),),
                            partial(hand_pendulum, steps),
                            peers=EVERYBODY if few else ['jax']),
                  {'jit/hand': 1.5, 'jit/jax': 8, 'eager/autograd': 0.01})
