"""Textbook programs equal NumPy under each transformation.

The arrays that they make are plain NumPy arrays, filled in place.
"""

import numpy as np
import pytest

import autodiff_mini as ad
from tests.amount import crossed
from tests.textbook_programs import PROGRAMS

def differences(f, x, h=1e-6):
    return np.stack([(f(x + d) - f(x - d)) / (2 * h)
                     for d in h * np.eye(len(x))], -1)


def in_turn(f, x):
    """Return the results of `f` in a loop that changes `x`."""
    results = []
    for _ in range(2):
        results.append(f(x))
        x = 1.02 * x
    return np.stack(results)


def scanned(f, x):
    return ad.scan(lambda x, _: (1.02 * x, f(x)), x, None, length=2)[1]


def with_jvp_rule(f):
    g = ad.custom_jvp(lambda x: f(x))

    @g.defjvp
    def rule(primals, tangents):
        (x,), (t,) = primals, tangents
        t_copy = np.zeros(len(x))
        for i in range(len(x)):
            t_copy[i] = t[i]
        return f(x), ad.jvp(f, (np.array([*x]),), (t_copy,))[1]
    return g


def with_vjp_rule(f):
    g = ad.custom_vjp(lambda x: f(x))

    def fwd(x):
        return f(x), np.array([*x])

    def bwd(x, ct):
        x_bar = np.zeros(len(x))
        x_bar[:] = ad.vjp(f, x)[1](ct)[0]
        return x_bar,
    g.defvjp(fwd, bwd)
    return g


WAYS = {    # by name: the transformed result, and the expected one
    'value': lambda f, x, slope: (f(x), f(np.copy(x))),
    'jit': lambda f, x, slope: (ad.jit(f)(x), f(x)),
    'vmap': lambda f, x, slope: (
        ad.vmap(f)(np.stack([x, x * 1.02])), in_turn(f, x)),
    'scan': lambda f, x, slope: (scanned(f, x), in_turn(f, x)),
    'jvp': lambda f, x, slope: (
        ad.jvp(f, (x,), (np.ones_like(x),))[1], slope.sum(-1)),
    'grad_of_vmap': lambda f, x, slope: (
        ad.grad(lambda xs: np.sum(ad.vmap(f)(xs)))(np.stack([x, x]))[1],
        slope.reshape(-1, len(x)).sum(0)),
    'jacrev_of_scan': lambda f, x, slope: (
        ad.jacrev(lambda x: scanned(f, x))(x),
        differences(lambda x: in_turn(f, x), x)),
    'jit_of_jacrev': lambda f, x, slope: (ad.jit(ad.jacrev(f))(x), slope),
    'checkpoint': lambda f, x, slope: (
        ad.jacrev(ad.checkpoint(f))(x), slope),
    'jvp_rule': lambda f, x, slope: (ad.jacfwd(with_jvp_rule(f))(x), slope),
    'jit_of_vjp_rule': lambda f, x, slope: (
        ad.jit(ad.jacrev(with_vjp_rule(f)))(x), slope)}


@crossed('name, transform', PROGRAMS, WAYS, turns=8)
def test_textbook_program_means_what_it_means_in_numpy(name, transform):
    f, x = PROGRAMS[name]
    given = x.copy()
    result, expected = WAYS[transform](f, x, differences(f, x))
    kind = type(expected)
    assert type(result) is kind and result.dtype == np.float64
    assert result.shape == expected.shape
    is_exact = transform in ('value', 'jit', 'vmap', 'scan')
    scale = max(1, np.max(np.abs(expected)))
    np.testing.assert_allclose(result, expected,
                               rtol=1e-12 if is_exact else 1e-5,
                               atol=(1e-13 if is_exact else 1e-7) * scale)
    np.testing.assert_array_equal(x, given)
    assert type(np) is type(pytest)     # an ordinary module
