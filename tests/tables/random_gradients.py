"""Random gradients of functions with rules, as the short roads meet them.

The arguments, the rules' results, and the way of asking for the gradient vary,
and some rules make a mistake.  The interpreters decide what is right.
"""

import random

import numpy as np

import autodiff_mini as ad

VECTOR = np.array([0.5, -1.5, 0.0])
VALUES = [1.5, -0.0, np.float64(0.25), np.float32(0.5), np.array(0.75),
          VECTOR, np.outer(VECTOR, VECTOR).T, np.float32(VECTOR), 2]
BODIES = [lambda x, y: x * y, lambda x, y: np.sin(x) + y * 2.0,
          lambda x, y: x, lambda x, y: np.exp(-x * x) / (y * y + 2.0)]

# What a rule returns, of the output and its tangent, or of its cotangents.
PAIRS = [lambda y, t: (y, t)] * 6 + [
    lambda y, t: [y, t], lambda y, t: (y, 1.0), lambda y, t: (y, ad.Zero(y)),
    lambda y, t: (y, t, t), lambda y, t: ((y,), (t,)), lambda y, t: y]
COTANGENTS = [lambda a, b: (a, b)] * 6 + [
    lambda a, b: [a, b], lambda a, b: (None, b), lambda a, b: (a, None),
    lambda a, b: (a,), lambda a, b: a, lambda a, b: ((a, b), b),
    lambda a, b: (a, 1), lambda a, b: (a, 'b')]
RESIDUALS = [lambda x, y: (x, y), lambda x, y: [x, y],
             lambda x, y: {'x': x, 'y': y}, lambda x, y: (x, y, 'name')]


def ruled(rng):
    """Return a function of two arguments with a random rule."""
    body, kind = rng.choice(BODIES), rng.choice(['jvp', 'vjp', None])
    a, b = rng.choice([1.0, 3.0, VECTOR[0]]), rng.choice([-2.0, 0.5])
    if kind == 'jvp':
        f, pair = ad.custom_jvp(body), rng.choice(PAIRS)
        f.defjvp(lambda primals, tangents: pair(
            f(*primals), primals[1] * a * tangents[0] + b * tangents[1]))
        return f
    if kind == 'vjp':
        f, some = ad.custom_vjp(body), rng.choice(COTANGENTS)
        keep = rng.choice(RESIDUALS)

        def bwd(residuals, ct):
            x, y = [*(residuals.values() if isinstance(residuals, dict)
                      else residuals)][:2]
            return some(ct * y * a, ct * np.cos(x) * b)
        f.defvjp(lambda x, y: (f(x, y), keep(x, y)), bwd)
        return f
    return body


def random_gradient(seed):
    """Return a function that takes a gradient, and its arguments."""
    rng = random.Random(seed)
    f, g = ruled(rng), ruled(rng)
    x, y = rng.choice(VALUES), rng.choice(VALUES)
    join = rng.choice([
        lambda x, y: f(x, y), lambda x, y: f(g(x, y), y),
        lambda x, y: f(x, y) * g(y, x) - x, lambda x, y: f(x, 2.0) + f(y, x),
        lambda x, y: f(1.5, 2.5) * x + y])
    has_aux = rng.random() < 0.2
    total = np.sum if rng.random() < 0.8 else lambda z: z

    def program(x, y):
        z = join(x, y)
        return (total(z), [z, x]) if has_aux else total(z)
    options = {'argnums': rng.choice([0, 1, -1, (0, 1), (1, 0)]),
               'has_aux': has_aux}
    way = rng.choice([ad.grad, ad.value_and_grad])
    if rng.random() < 0.2:      # a tree
        return way(lambda p: program(p['x'], *p['y']), has_aux=has_aux), [
            {'x': x, 'y': (y,)}]
    if rng.random() < 0.2 and options['argnums'] == 0:
        return lambda x, y: way(program, **options)(x, y=y), [x, y]
    return way(program, **options), [x, y]
