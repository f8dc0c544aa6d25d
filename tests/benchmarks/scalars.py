"""W3 and W4: the cost of many small operations, and of one small call."""

import math
from functools import partial

import numpy as np

from tests.benchmarks.measure import Row
from tests.benchmarks.peers import everywhere, gradients
from tests.benchmarks.rules import hand_log1pexp, log1pexp, with_a_rule

# W3: a thousand operations

def polynomial(np, x, steps=500):
    """Horner's rule."""
    y = x
    for _ in range(steps):
        y = y * x + 0.5
    return y


def hand_jvp(x, x_dot):
    y, y_dot = x, x_dot
    for _ in range(500):
        y, y_dot = y * x + 0.5, y_dot * x + y * x_dot
    return y, y_dot


def hand_polynomial(np, x, steps=500):
    """Differentiate forwards, because there is one input."""
    y, slope = x, x * 0.0 + 1.0
    for _ in range(steps):
        slope = slope * x + y
        y = y * x + 0.5
    return slope


def waves(np, x, steps=200):
    """Two of the five operations in a step are sines and cosines."""
    y = x
    for _ in range(steps):
        y = np.sin(y) * x + np.cos(y) * 0.5
    return y


def hand_waves(np, x, steps=200):
    y, slope = x, x * 0.0 + 1.0
    for _ in range(steps):
        sin, cos = np.sin(y), np.cos(y)
        slope = slope * (cos * x - sin * 0.5) + sin
        y = sin * x + cos * 0.5
    return slope


def w3():
    for size, x, numpy, total in (
            ('floats', 0.5, math, lambda np, f: partial(f, np)),
            ('ten elements', np.linspace(0.1, 1.0, 10), np,
             lambda np, f: lambda x: np.sum(f(np, x)))):
        for name, f, hand in (
                ('polynomial', polynomial, hand_polynomial),
                ('sines and cosines', waves, hand_waves)):
            yield Row(f'1,000 operations, {name}, on {{}}', size,
                      gradients(lambda np, x, f=total, g=f: f(np, g)(x),
                                (x,), partial(hand, numpy)))
        yield Row('1,000 operations, polynomial, forwards, on {}', size,
                  everywhere(lambda ad, np: lambda x, x_dot: ad.jvp(
                                 partial(polynomial, np), (x,), (x_dot,)),
                             (x, x * 0.0 + 1.0), hand_jvp, ['torch', 'jax']))


# W4: what one call of jit costs

def cubic(x):
    return (x * x + 0.5) * x


def products(tree):
    return (tree['a'] * tree['b'] + tree['c'] * tree['d']
            + tree['e'] * tree['f'])


def w4():
    ten = np.linspace(0.1, 1.0, 10)
    tree = {name: ten * i for i, name in enumerate('abcdef', 1)}
    ruled = partial(with_a_rule, 'custom_jvp', log1pexp, hand_log1pexp)
    for name, size, make, hand, x in (
            ('', 'an array of ten', lambda *_: cubic, cubic, ten),
            ('', 'a float', lambda *_: cubic, cubic, 0.5),
            ('', 'a dict of six arrays', lambda *_: products, products, tree),
            ('of a rule, ', 'an array of ten', ruled, partial(log1pexp, np),
             ten),
            ('of a rule, ', 'a float', ruled, partial(log1pexp, math), 1.5)):
        yield Row(f'one call, {name}{{}}', size,
                  everywhere(make, (x,), hand, ['jax']))
