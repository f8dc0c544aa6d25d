"""Programs for the arrays of other libraries, and what is done with them.

They are plain NumPy, and functions of a vector, a matrix and a vector.  What
they return is a scalar.  They make no arrays of their own, which are NumPy's,
and not every library mixes its arrays with those.  Rows and columns of a
table: each of them under each transformation has to stay in its library, and
equal NumPy (row B3).
"""

import numpy as np

import autodiff_mini as ad

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
    return np.sum(a * a) * np.sum(b[:, ::2] ** 2)


def products(w, x, y):
    return np.sum(np.einsum('ij,j->i', x, np.sin(w)) * y) + np.std(x.T @ y)


def stable(w, x, y):
    """The logarithm of a sum of exponentials, by hand."""
    z = (x @ w) * y
    most = ad.stop_gradient(np.max(z))
    return most + np.log(np.sum(np.exp(z - most)))


squash = ad.custom_jvp(lambda x: 1 / (1 + np.exp(-x)))
squash.defjvps(lambda x_dot, y, x: 3 * y * (1 - y) * x_dot)


def forward_rule(w, x, y):
    return np.sum(squash(x @ w) * y)


both = ad.custom_vjp(lambda x, y: np.sin(x) * y)
both.defvjp(lambda x, y: (np.sin(x) * y, (x, y)),
            lambda r, ct: (3 * np.cos(r[0]) * r[1] * ct, np.sin(r[0]) * ct))
both.defjvp(lambda p, t: (both(*p), 3 * np.cos(p[0]) * p[1] * t[0]
                          + np.sin(p[0]) * t[1]))


def both_rules(w, x, y):
    return np.sum(both(x @ w, y))


def recurrence(w, x, y):
    """A loop over rows that may lie in several chunks, with a rule in it."""
    def cell(h, row):
        h = squash(w * h + row)
        return h, np.sum(h * h)
    h, ys = ad.scan(cell, w * 0.0, x)
    return np.sum(h) + np.sum(ys * y)


def counted(w, x, y):
    z = ad.fori_loop(0, 3, lambda i, z: np.sin(z) + y, x @ w)
    return np.sum(z * z)


def by_shape(w, x, y):
    return ad.cond(len(y) > 2, neurons, stable, w, x, y)


def chosen(w, x, y):
    """Branches under vmap: each is computed for all, if it is anybody's."""
    return np.sum(ad.vmap(lambda z, y: ad.cond(
        y > 0, squash, np.sin, z))(x @ w, y))


def forgetful(w, x, y):
    return ad.checkpoint(neurons)(w, x, y)


def compiled(w, x, y):
    return ad.jit(forward_rule)(np.sin(w), x, y)


PROGRAMS = [neurons, branches, shapes, products, stable, forward_rule,
            both_rules, recurrence, counted, by_shape, chosen, forgetful,
            compiled]


def over_rows(f):
    """Returns `f` mapped, over three vectors that are made of one."""
    def mapped(w, x, y):
        rows = np.stack([w, 2 * w, np.cos(w)])
        return ad.vmap(f, (0, None, None))(rows, x, y)
    return mapped


TRANSFORMS = {
    'jvp': lambda f: lambda *args: ad.jvp(f, args, args),
    'grad': lambda f: ad.grad(f),
    'vmap': over_rows,
    'jit': lambda f: ad.jit(f),
    'jvp of grad': lambda f: lambda *args: ad.jvp(ad.grad(f), args, args),
    'vmap of grad': lambda f: over_rows(ad.grad(f)),
    'jit of grad': lambda f: ad.jit(ad.grad(f)),
}
