"""Mechanics: what moves, and what holds."""

import numpy as np

import autodiff_mini as ad
from tests.gallery.table import piece

rng = np.random.default_rng(7)
G = 9.81
CORNERS = np.array([[0.0, 0], [1, 0], [2, 0], [0.5, 1], [1.5, 1]])
BARS = [(0, 1), (1, 2), (3, 4), (0, 3), (3, 1), (1, 4), (4, 2)]
FREE = [2, 3, 6, 7, 8, 9]       # the ends of the bridge do not move
MASSES = np.array([5.0, 1.0, 0.5])


def rk4(f, y, dt, steps):
    """Returns the state after so many steps of Runge and Kutta's."""
    for _ in range(steps):
        k1 = f(y)
        k2 = f(y + dt / 2 * k1)
        k3 = f(y + dt / 2 * k2)
        k4 = f(y + dt * k3)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


@piece(np.array([1.2, 0.4, 0.1, -0.3]), 0.8)
def double_pendulum(state, length):
    """How far out the lower end is, after three steps."""
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


@piece(CORNERS, np.linspace(1.0, 2.0, len(BARS)), jax='it writes in place')
def truss(corners, areas):
    """The compliance of a bridge, by assembling its stiffness."""
    stiffness = np.zeros((10, 10), like=areas)
    for area, (i, j) in zip(areas, BARS):
        along = corners[j] - corners[i]
        length = np.linalg.norm(along)
        block = area / length ** 3 * np.outer(along, along)
        a, b = slice(2 * i, 2 * i + 2), slice(2 * j, 2 * j + 2)
        stiffness[a, a] += block
        stiffness[b, b] += block
        stiffness[a, b] -= block
        stiffness[b, a] -= block
    load = np.zeros(10)
    load[3] = -1.0
    moved = np.linalg.solve(stiffness[np.ix_(FREE, FREE)], load[FREE])
    return load[FREE] @ moved


@piece(rng.standard_normal((3, 2)), 0.5 * rng.standard_normal((3, 2)))
def n_body(x, v):
    """The energy of a tight orbit, after leapfrogging."""
    def acceleration(x):
        d = x[None] - x[:, None]
        r2 = np.sum(d ** 2, axis=-1) + 0.05
        return np.sum(MASSES[:, None] * d / r2[..., None] ** 1.5, axis=1)

    for _ in range(8):
        v = v + 0.01 * acceleration(x)
        x = x + 0.02 * v
        v = v + 0.01 * acceleration(x)
    return 0.5 * np.sum(MASSES[:, None] * v ** 2) + np.hypot(*x[0])


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


@piece(rng.standard_normal((4, 4, 3)) * 0.05, 0.7, jax='it writes in place')
def cloth(bumps, stiffness):
    """A piece of cloth that hangs by a corner, some steps later."""
    x = bumps.copy()
    x[..., 0] += np.arange(4)[:, None]
    x[..., 1] += np.arange(4)
    v = np.zeros_like(x)
    for _ in range(4):
        force = np.zeros_like(x)
        force[..., 2] -= 1.0
        d = x[1:] - x[:-1]
        pull = d * (1 - 0.9 / np.linalg.norm(d, axis=-1, keepdims=True))
        force[:-1] += stiffness * pull
        force[1:] -= stiffness * pull
        d = x[:, 1:] - x[:, :-1]
        pull = d * (1 - 0.9 / np.linalg.norm(d, axis=-1, keepdims=True))
        force[:, :-1] += stiffness * pull
        force[:, 1:] -= stiffness * pull
        force[0, 0] = 0.0
        v += 0.1 * force
        x += 0.1 * v
    return x[-1, -1, 2]


@piece(np.linspace(1.0, 2.0, 6), jax='it writes in place')
def finite_elements(stiffness):
    """A bar of six elements under its own weight, fixed above."""
    n = len(stiffness)
    k = np.zeros((n + 1, n + 1), like=stiffness)
    load = np.zeros(n + 1)
    for e in range(n):
        k[e:e + 2, e:e + 2] += stiffness[e] * np.array([[1, -1], [-1, 1]])
        load[e:e + 2] += 0.5 / n
    u = np.zeros(n + 1, like=k)
    u[1:] = np.linalg.solve(k[1:, 1:], load[1:])
    return np.max(u)


@piece(np.array([1.0, 2.0, 1.5, 1.0]), np.array([1.0, 0.5, 2.0]))
def lowest_frequency(springs, masses):
    """Of three masses between four springs."""
    k = (np.diag(springs[:-1] + springs[1:]) - np.diag(springs[1:-1], 1)
         - np.diag(springs[1:-1], -1))
    root = np.sqrt(masses)
    return np.sqrt(np.linalg.eigvalsh(k / np.outer(root, root))[0])


@piece(np.array([0.1, 2.0, 0.05]), np.array([1.0, 2.0, 3.0]))
def tennis_racket(spin, inertia):
    """Euler's equations, and the axis as a quaternion turns it."""
    q = np.array([1.0, 0.0, 0.0, 0.0])
    for _ in range(6):
        torque = -np.cross(spin, inertia * spin)
        spin = spin + 0.05 * torque / inertia
        w, x = q[0], q[1:]
        turn = np.concatenate([np.stack([-x @ spin]),
                               w * spin + np.cross(x, spin)])
        q = q + 0.025 * turn
        q = q / np.linalg.norm(q)
    return 1 - 2 * (q[1] ** 2 + q[2] ** 2)


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
