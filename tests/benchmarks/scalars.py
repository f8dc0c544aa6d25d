"""W3 and W4: the cost of many small operations, and of one small call."""

import math
from functools import partial

import numpy as np

import autodiff_mini as ad
from tests.benchmarks import floors
from tests.benchmarks.measure import Row
from tests.benchmarks.peers import (
    everywhere, gradients, jax, jax_call, small_call)

# W3: a thousand operations

def polynomial(np, x):
    """Horner's rule."""
    y = x
    for _ in range(500):
        y = y * x + 0.5
    return y


def hand_polynomial(np, x):
    y, ys = x, []
    for _ in range(500):
        ys.append(y)
        y = y * x + 0.5
    x_bar, y_bar = 0.0, x * 0 + 1
    for y in reversed(ys):
        x_bar = x_bar + y_bar * y
        y_bar = y_bar * x
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


def hand_jvp(x, x_dot):
    y, y_dot = x, x_dot
    for _ in range(500):
        y, y_dot = y * x + 0.5, y_dot * x + y * x_dot
    return y, y_dot


def summed(program):
    return lambda np, x: np.sum(program(np, x))


def forwards(ad, np):
    return lambda x, x_dot: ad.jvp(partial(polynomial, np), (x,), (x_dot,))


def w3():
    xs = np.linspace(0.1, 1.0, 10)
    programs = (
        ('polynomial', polynomial, hand_polynomial, 4, 3.5,
         floors.polynomial),
        ('sines and cosines', waves, hand_waves, 3, 4.5, None))
    for name, program, hand, of_hand, of_jax, _ in programs:
        yield Row(f'1,000 operations, {name}, on floats',
                  gradients(program, (0.5,), partial(hand, math)),
                  {'jit/hand': of_hand, 'jit/jax': of_jax,
                   'eager/autograd': 0.5, 'eager/torch': 1.2})
    for name, program, hand, *_, floor in programs:
        yield Row(f'1,000 operations, {name}, on ten elements',
                  gradients(summed(program), (xs,), partial(hand, np),
                            floor=floor),
                  {'jit/hand': 0.95, 'jit/jax': 1.1, 'eager/autograd': 0.7})
    yield Row('1,000 operations, polynomial, forwards, on floats',
              everywhere(forwards, (0.5, 1.0), hand_jvp, ['torch', 'jax']))
    yield Row('1,000 operations, polynomial, forwards, on ten elements',
              everywhere(forwards, (xs, np.ones(10)), hand_jvp,
                         ['torch', 'jax']))


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
        calls = {'hand': partial(f, x), 'small': small_call(f, (x,)),
                 'jit': partial(ad.jit(f), x)}
        if jax:
            calls['jax'] = jax_call(f, (x,))
        yield Row(f'one call, {label}', calls,
                  {'jit/hand': of_hand, 'jit/jax': of_jax})
