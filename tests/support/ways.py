"""Two ways to each result: a transformation, and what it has to equal."""

import numpy as np

import autodiff_mini as ad
from tests.support.numerical import assert_close, assert_same_type


def number(rng, shape, dtype):
    x = rng.uniform(-2, 2, shape)
    return float(x) if dtype is float and shape == () else x.astype(dtype)


def loop(f, in_axes):
    """Return the expected result of vmap: the stack over an axis of two."""
    def looped(*xs):
        return np.stack([f(*[
            x if axis is None else x[k] if axis == 0 else x[..., k]
            for x, axis in zip(xs, in_axes, strict=True)]) for k in (0, 1)])
    return looped


def batch(x, axis):
    """Return two values like `x`, along a new axis; one for None."""
    return x if axis is None else np.stack([x, x * 0.75 + x / 8], axis)


def moving(f):
    """Return the derivative along a direction that depends on `xs`."""
    return lambda *xs: ad.jvp(f, xs, directions(xs))[1]


AXES = [(0, 0), (0, None), (None, 0), (-1, 0), (0, -1), (None, -1)]


def batched(xs, nesting):
    """Return points with an axis for each vmap of `nesting`."""
    for level in reversed(nesting):
        if level != 'jvp':
            xs = tuple(map(batch, xs, level))
    return xs


def assert_agree(actual, expected):
    """Assert agreement within rounding, which the order of sums changes."""
    assert_same_type(actual, expected)
    scale = np.max(np.abs(expected), initial=1)
    assert_close(actual / scale, expected / scale)


def staged(f):
    """Return `f` as a function that records and runs itself."""
    def by_jaxpr(*xs):
        jaxpr = ad.make_jaxpr(f)(*xs)
        (y,) = ad.eval_jaxpr(jaxpr, jaxpr.consts, *xs)
        return y
    return by_jaxpr


def directions(xs):
    """Return the directions of `moving`."""
    return tuple(x * 0.5 + 1 for x in xs)


def by_linearize(f):
    return lambda *xs: ad.linearize(f, *xs)[1](*directions(xs))


def by_vjp(f):
    """Transpose the derivative twice."""
    def moved(*xs):
        y, pullback = ad.vjp(f, *xs)
        return ad.linear_transpose(pullback, y)(directions(xs))[0]
    return moved


def by_grad(f):
    """Differentiate the sum along the directions."""
    def moved(*xs):
        bars = ad.grad(lambda *xs: np.sum(f(*xs)), (0, 1))(*xs)
        return sum(np.sum(a * b) for a, b in zip(bars, directions(xs)))
    return moved
