"""Mechanics: motion and equilibrium."""

import numpy as np

import autodiff_mini as ad
from tests.tables.gallery.table import piece

G = 9.81


def rk4(f, y, dt, steps):
    """Return the state after some Runge-Kutta steps."""
    for _ in range(steps):
        k1 = f(y)
        k2 = f(y + dt / 2 * k1)
        k3 = f(y + dt / 2 * k2)
        k4 = f(y + dt * k3)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


@piece(np.array([1.2, 0.4, 0.1, -0.3]), 0.8)
def double_pendulum(state, length):
    """The distance of the lower end from the vertical, after three steps."""
    def rates(y):
        a, b, va, vb = y
        d = a - b
        den = length * (3 - np.cos(2 * d))
        acc_a = (-3 * G * np.sin(a) - G * np.sin(a - 2 * b) - 2 * np.sin(d)
                 * length * (vb ** 2 + va ** 2 * np.cos(d))) / den
        acc_b = 2 * np.sin(d) * (2 * va ** 2 * length + 2 * G * np.cos(a)
                                 + vb ** 2 * length * np.cos(d)) / den
        return np.stack([va, vb, acc_a, acc_b])

    a, b, _, _ = rk4(rates, state, 0.05, 3)
    return length * (np.sin(a) + np.sin(b))


@piece(np.array([0.5, -0.2]), np.array([0.1, 0.7]), 1.3)
def lagrangian(q, v, mass):
    """A spring pendulum from its Lagrangian: derivatives inside."""
    def energy(q, v):
        r, angle = 1 + q[0], q[1]
        kinetic = 0.5 * mass * (v[0] ** 2 + (r * v[1]) ** 2)
        return kinetic + mass * G * r * np.cos(angle) - 20 * q[0] ** 2

    for _ in range(2):
        inertia = ad.jacfwd(ad.grad(energy, 1), 1)(q, v)
        momentum = ad.grad(energy, 1)
        drift = ad.jvp(lambda q: momentum(q, v), (q,), (v,))[1]
        a = np.linalg.solve(inertia, ad.grad(energy, 0)(q, v) - drift)
        v = v + 0.05 * a
        q = q + 0.05 * v
    return q @ q


@piece(np.array([9.0, 7.0]), 0.05, branches='it flies until it lands')
def projectile(velocity, drag):
    """The range of a ball with drag, up to the step before the ground."""
    x, v = np.array([0.0, 0.1]), velocity
    while x[1] > 0:
        before = x
        v = v - 0.05 * (np.array([0.0, G]) + drag * np.linalg.norm(v) * v)
        x = x + 0.05 * v
    fraction = before[1] / (before[1] - x[1])
    return before[0] + fraction * (x[0] - before[0])
