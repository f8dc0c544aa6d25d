"""Small gradients, whose time is Python's and not NumPy's.

Programs of numbers are measured at a float and at an array of shape (), and
programs of arrays at ten and at a thousand elements.
"""

import math
from functools import partial

import numpy as np

from tests.benchmarks.measure import Row, measured
from tests.benchmarks.peers import EVERYBODY, everywhere, gradients_of
from tests.benchmarks.rules import hand_log1pexp, log1pexp, total, with_a_rule
from tests.benchmarks.scalars import (
    hand_polynomial, hand_waves, polynomial, waves)

PEERS = [*EVERYBODY, 'jax eager']
NUMBERS = {'a float': 1.5, 'a 0-d array': np.array(1.5)}
ARRAYS = {size: np.linspace(0.1, 1.0, n)
          for size, n in (('ten elements', 10), ('1,000 elements', 1_000))}


def gradient(x, f, hand):
    """Return the calls for the gradient of `f(ad, np)`.

    By hand it is `hand(np, x)`, where numbers have the functions of math.
    """
    numpy = math if isinstance(x, float) else np
    return gradients_of(f, (x,), partial(hand, numpy), peers=PEERS)


# Programs of numbers, with and without rules

def square(np, x):
    return x * x


def hand_square(np, x):
    return 2 * x


def three(f):
    """Return `f(ad, np)` with the sum of three calls."""
    def function(ad, np):
        g = f(ad, np)
        return lambda x: g(x) + g(x) + g(x)
    return function


def numbers(x):
    """Return {label: calls}."""
    found = {'x': gradient(x, lambda ad, np: lambda x: x, lambda np, x: 1.0)}
    for name, f, slope in (('x * x', square, hand_square),
                           ('log1pexp', log1pexp, hand_log1pexp)):
        for kind in '', 'custom_jvp', 'custom_vjp':
            ruled = partial(with_a_rule, kind, f, slope)
            label = f'{kind or "no rule"} for {name}'
            found[label] = gradient(x, ruled, slope)
            if f is log1pexp:
                found[f'{label}, three times'] = gradient(
                    x, three(ruled), lambda np, x: 3 * hand_log1pexp(np, x))
    return found


# Other forms

def forms(x):
    """Return {label: calls} for other forms than `grad` of one argument.

    autograd has no has_aux, vjp, and jvp with these arguments.
    """
    one = lambda ad, np: partial(square, np)
    two = lambda ad, np: lambda x, y: x * y
    leaves = lambda ad, np: lambda tree: tree['x'] * tree['y']
    aux = lambda ad, np: ad.grad(lambda x: (x * x, x), has_aux=True)
    keyword = lambda ad, np: partial(
        ad.grad(lambda x, *, scale: x * x * scale), scale=3.0)
    vjp = lambda ad, np: lambda x: ad.vjp(one(ad, np), x)[1](x)
    jvp = lambda ad, np: lambda x: ad.jvp(one(ad, np), (x,), (x,))
    few = ['torch', 'jax', 'jax eager']
    return {
        'value_and_grad': gradients_of(
            one, (x,), lambda x: (x * x, 2 * x), value=True, peers=PEERS),
        'two arguments': gradients_of(
            two, (x, x), lambda x, y: (y, x), (0, 1), peers=PEERS),
        'a dict of two': gradients_of(
            leaves, ({'x': x, 'y': x},),
            lambda tree: {'x': tree['y'], 'y': tree['x']}, peers=PEERS),
        'has_aux': everywhere(aux, (x,), lambda x: (2 * x, x), few),
        'a keyword': everywhere(keyword, (x,), lambda x: 6 * x, PEERS),
        'vjp': everywhere(vjp, (x,), lambda x: (2 * x * x,), few),
        'jvp': everywhere(jvp, (x,), lambda x: (x * x, 2 * x * x), few)}


# Programs of arrays

def hand_tanh(np, x):
    return 1 - np.tanh(x) ** 2


def arrays(x):
    """Return {label: calls}."""
    found = {'sum of tanh': gradient(
        x, total(lambda ad, np: np.tanh), hand_tanh)}
    for name, f, slope, steps in (
            ('polynomial', polynomial, hand_polynomial, 90),
            ('sines and cosines', waves, hand_waves, 36)):
        found[f'180 operations, {name}'] = gradient(
            x, total(lambda ad, np, f=f, n=steps: partial(f, np, steps=n)),
            partial(slope, steps=steps))
    return found


def small_gradients():
    """Return the label, the size, and {column: seconds} of each row."""
    found = []
    for group, points in (
            (numbers, NUMBERS), (forms, NUMBERS), (arrays, ARRAYS)):
        for size, x in points.items():
            for label, calls in group(x).items():
                del calls['floor'], calls['small']
                row = Row(f'{label}, {{}}', size, calls)
                found.append({'label': row.label, 'size': size,
                              'seconds': measured(row)})
    return found
