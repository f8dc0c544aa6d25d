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


# Functions with a branch cut, on the real or the imaginary axis.
CUT = {
    name: getattr(np, name) for name in (
        'sqrt', 'log', 'log2', 'log10', 'log1p', 'arcsin', 'arccos', 'arctan',
        'arcsinh', 'arccosh', 'arctanh')} | {
    'power of a number': lambda x: x ** -1.5,
    'power of an array': lambda x: np.power(x, np.array(0.3 + 0.2j)),
    'float_power': lambda x: np.float_power(x, 1.7),
    'exponent': lambda x: np.power(-1.3 - 0.0j, x),
    'both': lambda x: np.power(x, x) * np.sqrt(x)}
SLOPES = {
    'jvp': lambda f: lambda x: ad.jvp(f, (x,), (np.ones_like(x),))[1],
    'grad': lambda f: ad.grad(f, holomorphic=True),
    'jit': lambda f: ad.jit(ad.grad(f, holomorphic=True)),
    'vmap': lambda f: lambda x: ad.vmap(
        ad.grad(f, holomorphic=True))(np.stack([x, x]))[1]}


def along_the_axis(f, x, h=1e-3):
    """Return the derivative by differences on one side of the axis."""
    on_real = x.imag == 0
    near = lambda h: f(np.array(complex(x.real + h, x.imag) if on_real
                                else complex(x.real, x.imag + h)))
    return (near(-2 * h) - 8 * near(-h) + 8 * near(h) - near(2 * h)) / (
        12 * h * (1 if on_real else 1j))


@pytest.mark.parametrize('name', CUT)
def test_a_slope_on_a_cut_is_on_the_side_of_the_value(name):
    """The slopes of arcsin and arccos were on the other side."""
    f = CUT[name]
    for a in 0.4, 1.31, 3.0, -0.4, -1.31, -3.0:
        for zero in 0.0, -0.0:
            for x in np.array(complex(a, zero)), np.array(complex(zero, a)):
                slope = along_the_axis(f, x)
                second = along_the_axis(SLOPES['jvp'](f), x)
                for way in SLOPES.values():
                    np.testing.assert_allclose(way(f)(x), slope, 1e-7, 1e-7)
                np.testing.assert_allclose(
                    SLOPES['jvp'](SLOPES['grad'](f))(x), second, 1e-6, 1e-6)


def test_a_real_number_is_on_the_upper_side_of_a_cut():
    """`np.arcsin(x, dtype=complex)` of x > 1 had the other sign."""
    for f in np.arcsin, np.arccos, np.arctanh, np.arccosh, np.log, np.sqrt:
        for x in 1.31, -1.31:
            g = lambda x: f(x, dtype=complex)
            for slope in (ad.jvp(g, (x,), (1.0,))[1],
                          ad.jit(ad.jacfwd(g))(x)):
                np.testing.assert_allclose(
                    slope, along_the_axis(f, np.array(complex(x))), 1e-7)
