"""Complex numbers in reverse mode, with loops, rules, and memory.

Each program takes real or complex numbers to a real one. In every mode, its
gradient equals that by differences, df/dx - i df/dy.
"""

import numpy as np
import pytest

import autodiff_mini as ad

rng = np.random.default_rng(0)
X = rng.normal(size=3)
Z = X + 1j * rng.normal(size=3)
grown = ad.custom_jvp(np.exp)
grown.defjvps(lambda z_dot, y, z: y * z_dot)
squared = ad.custom_vjp(lambda z: z * z)
squared.defvjp(lambda z: (squared(z), z), lambda z, ct: (2 * z * ct,))


def turn(c, a):
    return c * np.exp(1j * a) + np.conj(c) * 0.3, np.abs(c)


def scan(z):
    c, lengths = ad.scan(turn, z, np.arange(4.0))
    return np.sum(np.abs(c) ** 2) + np.sum(lengths)


def scan_of_a_real_number(x):
    c, lengths = ad.scan(turn, x + 0j, np.arange(4.0) * x[0])
    return np.sum(np.real(c * c)) + np.sum(lengths)


def in_place(z):
    y = np.zeros(3, complex, like=z)
    y[0] = z[1] * 2j
    y[1:] = np.conj(z[:2])
    y *= z
    return np.sum(np.abs(y) ** 2)


PROGRAMS = {
    'scan': (scan, Z), 'scan of real numbers': (scan_of_a_real_number, X),
    'in place': (in_place, Z),
    'cond': (lambda z: ad.cond(
        np.real(z[0]) > 0, lambda z: np.sum(np.abs(z) ** 3),
        lambda z: np.sum(np.real(z ** 3)), z), Z),
    'checkpoint': (lambda z: np.sum(np.abs(ad.checkpoint(
        lambda z: np.exp(z) * np.conj(z))(z)) ** 2), Z),
    'custom_jvp': (lambda z: np.sum(np.abs(grown(z))), Z),
    'custom_vjp': (lambda z: np.sum(np.real(squared(z) * np.conj(z))), Z)}


def slopes(f, x, h=1e-6):
    """Return the gradient by differences."""
    along = lambda u: np.stack([f(x + s) - f(x - s) for s in u]) / (2 * h)
    steps = h * np.eye(len(x))
    if np.iscomplexobj(x):
        return along(steps) - 1j * along(1j * steps)
    return along(steps)


@pytest.mark.parametrize('name', PROGRAMS)
def test_complex_gradients_equal_differences(name):
    f, x = PROGRAMS[name]
    grad = ad.grad(f)
    for gradient in (
            grad(x), ad.jit(grad)(x), ad.grad(ad.jit(f))(x),
            ad.vmap(grad)(np.stack([2 * x, x]))[1],
            ad.grad(lambda x: ad.vmap(f)(np.stack([2 * x, x]))[1])(x)):
        assert gradient.dtype == x.dtype
        np.testing.assert_allclose(gradient, slopes(f, x), 1e-5, 1e-6)
    v = (1 + 0.5j) * np.ones(3) if np.iscomplexobj(x) else np.ones(3)
    expected = (grad(x + 1e-6 * v) - grad(x - 1e-6 * v)) / 2e-6
    np.testing.assert_allclose(ad.vjp(grad, x)[1](v)[0], expected, 1e-4, 1e-5)
    if name != 'custom_vjp':    # it has no forward mode
        np.testing.assert_allclose(ad.jvp(grad, (x,), (v,))[1], expected,
                                   1e-4, 1e-5)
