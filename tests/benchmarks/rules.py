"""W9 and W11: the costs of a custom rule and of a checkpoint."""

import math
from functools import partial

import numpy as np

import autodiff_mini as ad
from tests.benchmarks.measure import Row
from tests.benchmarks.peers import (
    anp, autograd, gradients_of, jax, jnp, torch)


def total(f):
    """Return `f(ad, np)` with the sum of the results."""
    def function(ad, np):
        g = f(ad, np)
        return lambda x: np.sum(g(x))
    return function


# W9: custom rules

def log1pexp(np, x):
    return np.log(1 + np.exp(x))


def hand_log1pexp(np, x):
    return 1 - 1 / (1 + np.exp(x))


def with_a_rule(kind, program, slope, ad, np):
    """Return the program, with a rule of this kind, if there is one.

    Args:
        kind: custom_jvp, custom_vjp, or ''. In autograd, the rule belongs
            to a primitive, and in torch to a Function.
        program, slope: the program and its derivative, each `f(np, x)`.
    """
    f, slope = lambda x: program(np, x), partial(slope, np)
    if kind and ad is autograd:
        f = autograd.extend.primitive(f)
        autograd.extend.defvjp(f, lambda y, x: lambda ct: ct * slope(x))
    elif kind and np is torch:
        f = torch_function(f, slope)
    elif kind == 'custom_jvp':
        f = ad.custom_jvp(f)
        f.defjvp(lambda primals, tangents: (
            f(*primals), slope(*primals) * tangents[0]))
    elif kind == 'custom_vjp':
        f = ad.custom_vjp(f)
        f.defvjp(lambda x: (f(x), x), lambda x, ct: (ct * slope(x),))
    return f


def torch_function(f, slope):
    class Ruled(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            context.save_for_backward(x)
            return f(x)

        @staticmethod
        def backward(context, ct):
            x, = context.saved_tensors
            return ct * slope(x)
    return Ruled.apply


def w9():
    for kind in 'custom_jvp', 'custom_vjp', '':
        f = partial(with_a_rule, kind, log1pexp, hand_log1pexp)
        for n in 100_000, 1_000:
            yield Row(f'{kind or "no rule"} for log1pexp, {{}}',
                      f'{n:,} elements',
                      gradients_of(total(f), (np.linspace(-5, 5, n),),
                                   partial(hand_log1pexp, np)))


# W11: checkpoints

CHECKPOINTS = {
    np: ad.checkpoint, anp: autograd and autograd.checkpoint,
    torch: torch and (lambda f: partial(
        torch.utils.checkpoint.checkpoint, f, use_reentrant=False)),
    jnp: jax and jax.checkpoint}


def wave(np, x):
    return np.sin(x) * x


def hand_wave(np, x):
    return np.cos(x) * x + np.sin(x)


def w11():
    for label, f in (
            ('checkpoint of sin(x) * x, {}',
             lambda ad, np: CHECKPOINTS[np](partial(wave, np))),
            ('sin(x) * x, {}', lambda ad, np: partial(wave, np))):
        yield Row(label, 'a float', gradients_of(
            f, (1.5,), partial(hand_wave, math)))
        yield Row(label, 'ten elements', gradients_of(
            total(f), (np.linspace(0.1, 1.0, 10),), partial(hand_wave, np)))
