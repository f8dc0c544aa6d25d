"""Programs for the arrays of other libraries, and their transformations.

The programs are plain NumPy: functions of a vector, a matrix, and a vector
that return a scalar. They create arrays only with `np.zeros_like` and its
siblings, because not every library mixes its arrays with NumPy arrays. The
table has a row for each program and a column for each transformation. In each
square, the arrays must stay in their library, and the result must equal
NumPy's (row B3).
"""

import numpy as np

import autodiff_mini as ad
from tests.support import amount

rng = np.random.default_rng(0)
ARGS = rng.normal(size=4), rng.normal(size=(6, 4)), rng.normal(size=6)


def neurons(w, x, y):
    return np.sum((np.tanh(x @ w) - y) ** 2)


def branches(w, x, y):
    z = np.clip(x @ w, -1.0, 1.0)
    return np.sum(np.where(y > 0, z * z, np.exp(-z)) * np.maximum(z, y))


def shapes(w, x, y):
    a = np.transpose(np.reshape(x * w, (2, 3, 4)))[1:, :2]
    b = np.concatenate([np.stack([y, y * y]), np.broadcast_to(y, (3, 6))])
    return np.sum(a * a) * np.sum(b[:, ::2] ** 2) + np.einsum(
        'ij,j->i', x, np.sin(w)) @ y * np.std(x.T @ y)


squash = ad.custom_jvp(lambda x: 1 / (1 + np.exp(-x)))
squash.defjvps(lambda x_dot, y, x: 3 * y * (1 - y) * x_dot)


def forward_rule(w, x, y):
    return np.sum(squash(x @ w) * y)


def recurrence(w, x, y):
    """A loop with a rule in it, over rows that can be in several chunks."""
    def cell(h, row):
        h = squash(w * h + row)
        return h, np.sum(h * h)
    h, ys = ad.scan(cell, w * 0.0, x)
    return np.sum(h) + np.sum(ys * y)


def made(w, x, y):
    """A program that creates arrays of the kind it was passed."""
    z = np.maximum(x @ w, np.zeros_like(y)) + np.full_like(y, 0.5)
    return np.sum(np.where(y > 0, y, np.ones_like(x[:, 0])) * z)


def started(w, x, y):
    """A loop that starts with a constant."""
    z = x @ w
    return np.sum(ad.fori_loop(0, 2, lambda i, h: np.sin(h) + z, y) * z)


both = ad.custom_vjp(lambda x: (np.sin(x), np.cos(x)))
both.defvjp(lambda x: (both(x), x),
              lambda x, cts: (np.cos(x) * cts[0] - 2 * np.sin(x) * cts[1],))
both.defjvp(lambda p, t: (both(*p), (np.cos(*p) * t[0],
                                         -2 * np.sin(*p) * t[0])))


def unused(w, x, y):
    """A function with both rules, one of which gets a cotangent of zeros."""
    return np.sum(both(x @ w)[0] * y)


pair = ad.custom_jvp(lambda t, k: (t * k, t + t))
pair.defjvp(lambda p, t: (pair(*p), (t[0] * p[1] + p[0] * t[1], 2 * t[0])))
nested = ad.custom_jvp(np.sin)
nested.defjvp(lambda p, t: (nested(*p), pair(*t, 3 * np.cos(*p))[0]))


def call_turned_round(w, x, y):
    """A linear call is transposed, with zeros for one output."""
    return np.sum(nested(x @ w) * y)


def chosen(w, x, y):
    """Branches under vmap: each runs for the whole batch if it runs at all.
    """
    return np.sum(ad.vmap(lambda z, y: ad.cond(
        y > 0, squash, np.sin, z))(x @ w, y))


def forgetful(w, x, y):
    return ad.checkpoint(neurons)(w, x, y)


def compiled(w, x, y):
    return ad.jit(forward_rule)(np.sin(w), x, y)


PROGRAMS = [neurons, branches, shapes, forward_rule, recurrence,
            made, started, unused, call_turned_round, chosen, forgetful,
            compiled]


def over_rows(f):
    """Return `f` under vmap, over three vectors that are made from one."""
    def mapped(w, x, y):
        rows = np.stack([w, 2 * w, np.cos(w)])
        return ad.vmap(f, (0, None, None))(rows, x, y)
    return mapped


TRANSFORMS = {
    'jvp': lambda f: lambda *args: ad.jvp(f, args, args),
    'grad': ad.grad, 'vmap': over_rows, 'jit': ad.jit,
    'jvp of grad': lambda f: lambda *args: ad.jvp(ad.grad(f), args, args),
    'vmap of grad': lambda f: over_rows(ad.grad(f)),
    'jit of grad': lambda f: ad.jit(ad.grad(f)), 'hessian': ad.hessian,
    'jit of hessian': lambda f: ad.jit(ad.hessian(f)),
    'pullback': lambda f: lambda *args: ad.vjp(f, *args)[1](2.0),
}


def some_of(programs, transform, turns):
    """Return a sample of the programs, or all of them with `--all`."""
    start = list(TRANSFORMS).index(transform)
    return [f for i, f in enumerate(programs, start)
            if amount.WHOLE or i % turns == 0]
