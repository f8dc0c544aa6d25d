"""Differential equations, in one step and in many."""

import numpy as np

from tests.tables.gallery.table import piece

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
