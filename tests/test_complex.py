"""Complex numbers backwards, where they meet the rest: loops, rules, memory.

Each program takes real or complex numbers to a real one.  Its gradient is
that of differences, df/dx - i df/dy, by every way there is.
"""

import numpy as np
import pytest

import autodiff_mini as ad
from tests.wings import needs

rng = np.random.default_rng(0)
X = rng.normal(size=3)
Z = X + 1j * rng.normal(size=3)
SPIN = np.eye(3) + 0.1j


def turn(c, a):
    return c * np.exp(1j * a) + np.conj(c) * 0.3, np.abs(c)


def scan(z):
    c, lengths = ad.scan(turn, z, np.arange(4.0))
    return np.sum(np.abs(c) ** 2) + np.sum(lengths)


def scan_of_a_real_number(x):
    c, lengths = ad.scan(turn, x + 0j, np.arange(4.0) * x[0])
    return np.sum(np.real(c * c)) + np.sum(lengths)


def cond(z):
    return ad.cond(np.real(z[0]) > 0, lambda z: np.sum(np.abs(z) ** 3),
                   lambda z: np.sum(np.real(z ** 3)), z)


def checkpoint(z):
    f = ad.checkpoint(lambda z: np.exp(z) * np.conj(z))
    return np.sum(np.abs(f(z)) ** 2)


def in_place(z):
    y = np.zeros(3, complex, like=z)
    y[0] = z[1] * 2j
    y[1:] = np.conj(z[:2])
    y *= z
    return np.sum(np.abs(y) ** 2)


@ad.custom_jvp
def grown(z):
    return np.exp(z)


grown.defjvps(lambda z_dot, y, z: y * z_dot)


@ad.custom_vjp
def squared(z):
    return z * z


squared.defvjp(lambda z: (squared(z), z), lambda z, ct: (2 * z * ct,))


def custom_jvp(z):
    return np.sum(np.abs(grown(z)))


def custom_vjp(z):
    return np.sum(np.real(squared(z) * np.conj(z)))


def einsum(z):
    return np.real(np.einsum('i,ij,j', np.conj(z), SPIN, z))


def fourier(x):
    return np.sum(np.abs(np.fft.fft(x * np.exp(1j * x))) ** 2 * np.arange(3))


def eigenvalues(z):
    a = z[:, None] * np.conj(z) + np.diag(z)
    return np.sum(np.abs(np.linalg.eigvals(a)))


PROGRAMS = {
    scan: Z, scan_of_a_real_number: X, cond: Z, checkpoint: Z, in_place: Z,
    custom_jvp: Z, custom_vjp: Z, einsum: Z}
IN_THE_WING = {fourier: X, eigenvalues: Z}
WAYS = {
    'grad': lambda f, x: ad.grad(f)(x),
    'jit of grad': lambda f, x: ad.jit(ad.grad(f))(x),
    'grad of jit': lambda f, x: ad.grad(ad.jit(f))(x),
    'vmap of grad': lambda f, x: ad.vmap(ad.grad(f))(np.stack([2 * x, x]))[1],
    'grad of vmap': lambda f, x: ad.grad(
        lambda x: ad.vmap(f)(np.stack([2 * x, x]))[1])(x),
    'grad of checkpoint': lambda f, x: ad.grad(ad.checkpoint(f))(x),
}
each_program = pytest.mark.parametrize('f', [
    *PROGRAMS, *[pytest.param(f, marks=needs('more')) for f in IN_THE_WING]],
    ids=lambda f: f.__name__)


def slopes(f, x, h=1e-6):
    """Return the gradient by differences."""
    steps = h * np.eye(len(x))
    along = lambda u: np.stack([f(x + s) - f(x - s) for s in u]) / (2 * h)
    if np.iscomplexobj(x):
        return along(steps) - 1j * along(1j * steps)
    return along(steps)


@pytest.mark.parametrize('way', WAYS)
@each_program
def test_the_gradient_is_that_of_differences(f, way):
    x = (PROGRAMS | IN_THE_WING)[f]
    gradient = WAYS[way](f, x)
    assert gradient.dtype == x.dtype
    np.testing.assert_allclose(gradient, slopes(f, x), 1e-5, 1e-6)


@each_program
def test_second_derivatives_are_differences_of_gradients(f):
    x = (PROGRAMS | IN_THE_WING)[f]
    v = ((1 + 0.5j) * np.ones(3) if np.iscomplexobj(x) else np.ones(3))
    g = ad.grad(f)
    expected = (g(x + 1e-6 * v) - g(x - 1e-6 * v)) / 2e-6
    np.testing.assert_allclose(ad.vjp(g, x)[1](v)[0], expected, 1e-4, 1e-5)
    if f is not custom_vjp:     # it has no way forwards
        np.testing.assert_allclose(ad.jvp(g, (x,), (v,))[1], expected,
                                   1e-4, 1e-5)
