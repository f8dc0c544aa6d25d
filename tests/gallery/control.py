"""Control: what to do now, so that later is good."""

import numpy as np

from tests.gallery.table import piece

rng = np.random.default_rng(9)
A = np.array([[1.0, 0.1, 0.0], [0.0, 1.0, 0.1], [-0.1, 0.0, 0.9]])
B = np.array([[0.0, 0.1], [0.1, 0.0], [0.0, 0.2]])
START = np.array([1.0, 0.5, -0.5])


@piece(np.array([0.0, -0.5, 0.3]), -1.0)
def lqr(log_q, log_r):
    """The cost to go, after twelve steps of the Riccati recursion."""
    q, r = np.diag(np.exp(log_q)), np.exp(log_r) * np.eye(2)
    p = q
    for _ in range(12):
        gain = np.linalg.solve(r + B.T @ p @ B, B.T @ p @ A)
        p = q + A.T @ p @ (A - B @ gain)
    return START @ p @ START


@piece(A, branches='it iterates until nothing changes')
def riccati(a):
    """The same with no horizon: until the cost is what it was."""
    p, change = np.eye(3), np.inf
    while change > 0.5:
        gain = np.linalg.solve(np.eye(2) + B.T @ p @ B, B.T @ p @ a)
        new = np.eye(3) + a.T @ p @ (a - B @ gain)
        change = np.max(np.abs(new - p))
        p = new
    return np.trace(p)


@piece(0.1 * rng.standard_normal((8, 2)))
def parking(controls):
    """The cost of steering a car around a post to its place."""
    x, y, heading, speed, cost = 0.0, 0.0, 0.0, 1.0, 0.0
    for turn, push in controls:
        heading = heading + 0.3 * turn
        speed = speed + 0.3 * push
        x = x + 0.3 * speed * np.cos(heading)
        y = y + 0.3 * speed * np.sin(heading)
        clearance = np.hypot(x - 1.0, y - 0.3) - 0.4
        cost += np.logaddexp(0, -5 * clearance)
    cost += (x - 2) ** 2 + (y - 1) ** 2 + heading ** 2
    return cost + 0.1 * np.sum(controls ** 2)


@piece(0.7 * A + 0.05)
def lyapunov(a):
    """The energy of all that follows, by one linear system."""
    system = np.eye(9) - np.kron(a.T, a.T)
    p = np.linalg.solve(system, np.eye(3).ravel()).reshape(3, 3)
    return START @ p @ START + np.linalg.norm(a @ p - p @ a)


@piece(0.3 * rng.standard_normal((2, 3)))
def spectral_abscissa(gain):
    """How fast the slowest mode decays, of a matrix of no symmetry."""
    return np.max(np.linalg.eigvals(A - np.eye(3) - B @ gain).real)


@piece(A - 1.3 * np.eye(3))
def h2_norm(a):
    """The gain over all frequencies, which are a stack of systems."""
    w = np.linspace(-6, 6, 41)
    system = 1j * w[:, None, None] * np.eye(3) - a
    response = np.linalg.solve(system, B.astype(complex))
    return np.trapezoid(np.sum(np.abs(response) ** 2, axis=(1, 2)), w)


@piece(0.1 * rng.standard_normal((6, 2)), jax='it writes in place')
def arm(torques):
    """The path of an arm with two joints, kept to measure its length."""
    angles = np.zeros((7, 2), like=torques)
    rates = np.zeros((7, 2), like=torques)
    angles[0] = [0.3, 0.8]
    for t in range(6):
        rates[t + 1] = 0.9 * rates[t] + torques[t]
        angles[t + 1] = angles[t] + 0.2 * rates[t + 1]
    elbow = np.stack([np.cos(angles[:, 0]), np.sin(angles[:, 0])], axis=1)
    both = angles.sum(axis=1)
    hand = elbow + 0.8 * np.stack([np.cos(both), np.sin(both)], axis=1)
    length = np.linalg.norm(np.diff(hand, axis=0), axis=1).sum()
    return length + np.sum((hand[-1] - np.array([0.2, 1.5])) ** 2)
