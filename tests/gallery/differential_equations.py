"""Differential equations, in one step and in many."""

import numpy as np

from tests.gallery.table import piece

rng = np.random.default_rng(14)
N = 20
GRID = np.linspace(0, 1, N)
BUMP = np.exp(-50 * (GRID - 0.4) ** 2)


@piece(BUMP, 0.2, jax='it writes in place')
def heat(u, rate):
    u = u.copy()
    for _ in range(10):
        u[1:-1] += rate * (u[2:] - 2 * u[1:-1] + u[:-2])
        u[0], u[-1] = u[1], u[-2]
    return np.sum(u ** 2)


@piece(0.1 * rng.standard_normal((6, 6)), jax='it writes in place')
def poisson_by_relaxation(charge):
    """Gauss-Seidel sweeps, on red and on black squares."""
    u = np.zeros((8, 8), like=charge)
    inner = u[1:-1, 1:-1]
    red = np.indices((6, 6)).sum(axis=0) % 2 == 0
    for colour in [red, ~red] * 3:
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        inner[colour] = (around + charge)[colour] / 4
    return np.sum(charge * inner)
