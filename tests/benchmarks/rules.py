"""W9 and W11: the costs of a custom rule and of a checkpoint."""

import math
from functools import partial

import numpy as np

from tests.benchmarks.measure import Row
from tests.benchmarks.peers import autograd, everywhere


def gradient(label, size, f, hand, x):
    """Return the row of a gradient of `f(ad, np)` at a float or array."""
    lone = not np.ndim(x)

    def make(ad, np):
        g = f(ad, np)
        return ad.grad(g if lone else lambda x: np.sum(g(x)))
    return Row(label, size, everywhere(
        make, (x,), partial(hand, math if lone else np), ['autograd', 'jax']))


# W9: custom rules

def log1pexp(np, x):
    return np.log(1 + np.exp(x))


def hand_log1pexp(np, x):
    return 1 - 1 / (1 + np.exp(x))


def with_a_rule(kind, ad, np):
    """Return log1pexp, with a rule of this kind, if there is one."""
    f, slope = partial(log1pexp, np), partial(hand_log1pexp, np)
    if kind and ad is autograd:
        f = autograd.extend.primitive(f)
        autograd.extend.defvjp(f, lambda y, x: lambda ct: ct * slope(x))
    elif kind == 'custom_jvp':
        f = ad.custom_jvp(f)
        f.defjvp(lambda primals, tangents: (
            f(*primals), slope(*primals) * tangents[0]))
    elif kind == 'custom_vjp':
        f = ad.custom_vjp(f)
        f.defvjp(lambda x: (f(x), x), lambda x, ct: (ct * slope(x),))
    return f


def w9():
    for kind in 'custom_jvp', 'custom_vjp', '':
        for size, x in (('100,000 elements', np.linspace(-5, 5, 100_000)),
                        ('a float', 1.5)):
            yield gradient(f'{kind or "no rule"} for log1pexp, {{}}', size,
                           partial(with_a_rule, kind), hand_log1pexp, x)


# W11: checkpoints

def wave(np, x):
    return np.sin(x) * x


def hand_wave(np, x):
    return np.cos(x) * x + np.sin(x)


def w11():
    for label, f in (
            ('checkpoint of sin(x) * x, {}',
             lambda ad, np: ad.checkpoint(partial(wave, np))),
            ('sin(x) * x, {}', lambda ad, np: partial(wave, np))):
        for size, x in (('a float', 1.5),
                        ('ten elements', np.linspace(0.1, 1.0, 10))):
            yield gradient(label, size, f, hand_wave, x)
