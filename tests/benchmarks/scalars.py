"""W3 and W4: what many small operations cost, and one small call."""

import math
from functools import partial

import numpy as np

import autodiff_mini as ad
from tests.benchmarks.measure import Row
from tests.benchmarks.peers import (
    autograd, anp, gradients, jax, jax_call, jnp, our_calls, tensor, torch)


# W3: a thousand operations

def loop(np, x):
    y = x
    for _ in range(500):
        y = y * 0.999 + x
    return y


def hand_loop(np, x):
    x_bar, y_bar = 0.0, x * 0 + 1
    for _ in range(500):
        x_bar = x_bar + y_bar
        y_bar = y_bar * 0.999
    return x_bar + y_bar


def waves(np, x):
    """Four of its ten operations are sines and cosines."""
    y = x
    for _ in range(200):
        y = np.sin(y) * x + np.cos(y) * 0.5
    return y


def hand_waves(np, x):
    y, waves = x, []
    for _ in range(200):
        wave = sin, cos = np.sin(y), np.cos(y)
        waves.append(wave)
        y = sin * x + cos * 0.5
    x_bar, y_bar = 0.0, x * 0 + 1
    for sin, cos in reversed(waves):
        x_bar = x_bar + y_bar * sin
        y_bar = y_bar * (cos * x - sin * 0.5)
    return x_bar + y_bar


def hand_loop_jvp(x, x_dot):
    y, y_dot = x, x_dot
    for _ in range(500):
        y = y * 0.999 + x
        y_dot = y_dot * 0.999 + x_dot
    return y, y_dot


def summed(program):
    return lambda np, x: np.sum(program(np, x))


def forward_calls(x, x_dot):
    """Returns column -> call, a jvp of `loop` by each of us."""
    forward = lambda x, x_dot: ad.jvp(partial(loop, np), (x,), (x_dot,))
    calls = {'hand': partial(hand_loop_jvp, x, x_dot),
             **our_calls(forward, (x, x_dot))}
    if autograd:
        push = autograd.make_jvp(partial(loop, anp))
        calls['autograd'] = lambda: push(x)(x_dot)
    if torch:
        args = (tensor(x),), (tensor(x_dot),)
        calls['torch'] = lambda: torch.func.jvp(partial(loop, torch), *args)
    if jax:
        theirs = lambda x, x_dot: jax.jvp(partial(loop, jnp), (x,), (x_dot,))
        calls['jax'] = jax_call(theirs, (x, x_dot))
    return calls


def w3():
    xs = np.linspace(0.1, 1.0, 10)
    programs = (('loop', loop, hand_loop, 4, 3.5),
                ('sines and cosines', waves, hand_waves, 3, 4.5))
    for name, program, hand, of_hand, of_jax in programs:
        yield Row(f'1,000 operations, {name}, on floats',
                  gradients(program, (0.5,), partial(hand, math)),
                  {'jit/hand': of_hand, 'jit/jax': of_jax,
                   'eager/autograd': 0.5, 'eager/torch': 1.2})
    for name, program, hand, *_ in programs:
        yield Row(f'1,000 operations, {name}, on ten elements',
                  gradients(summed(program), (xs,), partial(hand, np)),
                  {'jit/hand': 0.95, 'jit/jax': 1.1, 'eager/autograd': 0.7})
    yield Row('1,000 operations, loop, forwards, on floats',
              forward_calls(0.5, 1.0))
    yield Row('1,000 operations, loop, forwards, on ten elements',
              forward_calls(xs, np.ones(10)))


# W4: what one call of jit costs

def cubic(x):
    return (x * x + 0.5) * x


def products(tree):
    return (tree['a'] * tree['b'] + tree['c'] * tree['d']
            + tree['e'] * tree['f'])


def w4():
    xs = np.linspace(0.1, 1.0, 10)
    tree = {name: xs * i for i, name in enumerate('abcdef', 1)}
    for label, f, x, of_hand, of_jax in (
            ('an array of ten', cubic, xs, 1.3, 0.2),
            ('a float', cubic, 0.5, 10, 0.1),
            ('a dict of six arrays', products, tree, 1.6, 0.45)):
        calls = {'hand': partial(f, x), 'jit': partial(ad.jit(f), x)}
        if jax:
            calls['jax'] = jax_call(f, (x,))
        yield Row(f'one call, {label}', calls,
                  {'jit/hand': of_hand, 'jit/jax': of_jax})
