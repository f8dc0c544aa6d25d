"""Programs as in textbooks, which build arrays from values and fill them.

Each maps a float array to a number or an array, in plain NumPy, and means the
same under each transformation.
"""

import numpy as np
import pytest

import autodiff_mini as ad

PROGRAMS = {}   # by name: a function, and a point to run it at


def program(*x):
    """Add a function to the table, with the point to run it at."""
    def add(f):
        PROGRAMS[f.__name__] = f, np.array(x)
        return f
    return add


@program(1.0, 0.5, 0.3)
def pendulum_by_runge_kutta(p):
    def f(y):
        return np.array([y[1], -p[2] * y[1] - np.sin(y[0])])
    y, h = np.array([p[0], p[1]]), 0.1
    for _ in range(2):
        k1 = f(y)
        k2 = f(y + h / 2 * k1)
        k3 = f(y + h / 2 * k2)
        k4 = f(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


@program(1.0, -0.5, 0.2)
def heat_equation(p):
    u = np.sin(np.linspace(0, np.pi, 7))
    u[0], u[-1] = p[0], p[1]
    for _ in range(3):
        new = u.copy()
        new[1:-1] = u[1:-1] + p[2] * (u[2:] - 2 * u[1:-1] + u[:-2])
        u = new
    return u


@program(1.0, 2.0, 1.5)
def rod_of_elements(k):
    K = np.zeros((4, 4))
    for e in range(3):
        d = [e, e + 1]
        K[np.ix_(d, d)] += k[e] * np.array([[1.0, -1.0], [-1.0, 1.0]])
    f = np.zeros(4)
    f[-1] = 1.0
    u = np.zeros(4)
    u[1:] = np.linalg.solve(K[1:, 1:], f[1:])
    return u


@program(0.1, 1.0, 0.5, 0.9)
def soft_time_warping(x):
    y = np.array([0.0, 0.8, 0.7])
    D = np.full((len(x) + 1, 4), 1e3)
    D[0, 0] = 0.0
    for i in range(1, len(x) + 1):
        for j in range(1, 4):
            r = np.array([D[i - 1, j], D[i, j - 1], D[i - 1, j - 1]])
            D[i, j] = (x[i - 1] - y[j - 1])**2 - np.log(np.sum(np.exp(-r)))
    return D[-1, -1]


@program(0.3, 0.9, 0.2)
def mixture_by_em(p):
    x, mu, w = np.array([-1.0, 0.2, 0.4, 2.0]), p[:2].copy(), np.empty(2)
    w[0], w[1] = p[2], 1 - p[2]
    r = np.zeros((4, 2))
    for _ in range(2):
        for k in range(2):
            r[:, k] = w[k] * np.exp(-(x - mu[k])**2 / 2)
        r /= r.sum(axis=1, keepdims=True)
        for k in range(2):
            mu[k] = r[:, k] @ x / r[:, k].sum()
        w[:] = r.mean(axis=0)
    return np.array([mu, w])


def differences(f, x, h=1e-6):
    """Return the Jacobian of a program by differences."""
    return np.stack([(f(x + d) - f(x - d)) / (2 * h)
                     for d in h * np.eye(len(x))], -1)


def with_jvp_rule(f):
    """Return `f` with a rule that fills arrays, too."""
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

    def bwd(x, ct):
        x_bar = np.zeros(len(x))
        x_bar[:] = ad.vjp(f, x)[1](ct)[0]
        return x_bar,
    g.defvjp(lambda x: (f(x), np.array([*x])), bwd)
    return g


@pytest.mark.parametrize('name', PROGRAMS)
def test_textbook_program_equals_numpy(name):
    f, x = PROGRAMS[name]
    xs, expected, slope = np.stack([1.02 * x, x]), f(x), differences(f, x)
    for y in (f(x), ad.jit(f)(x), ad.vmap(f)(xs)[1],
              ad.scan(lambda c, x: (c, f(x)), 0.0, xs)[1][1]):
        np.testing.assert_allclose(y, expected, 1e-12, 1e-13)
    for jacobian in (
            ad.jacfwd(f)(x), ad.jit(ad.jacrev(f))(x),
            ad.jacrev(ad.jit(f))(x), ad.jacrev(ad.checkpoint(f))(x),
            ad.vmap(ad.jacrev(f))(xs)[1], ad.jacfwd(with_jvp_rule(f))(x),
            ad.jit(ad.jacrev(with_vjp_rule(f)))(x)):
        np.testing.assert_allclose(jacobian, slope, 1e-5, 1e-7)
    assert type(np) is type(pytest)     # an ordinary module
