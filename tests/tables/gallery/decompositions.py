"""Decompositions, and how they change with the matrix."""

import numpy as np

from tests.tables.gallery.table import piece

rng = np.random.default_rng(13)
DATA = rng.standard_normal((12, 4)) @ np.diag([3.0, 1.5, 0.8, 0.3])
SQUARE = rng.standard_normal((4, 4))
SYMMETRIC = SQUARE + SQUARE.T


@piece(DATA)
def principal_components(x):
    """The residual after two components."""
    x = x - x.mean(axis=0)
    u, s, vt = np.linalg.svd(x, full_matrices=False)
    kept = u[:, :2] * s[:2] @ vt[:2]
    return np.linalg.norm(x - kept) + s[0] / s.sum()


@piece(SYMMETRIC)
def eigenvectors(a):
    """The weight of one coordinate in the two highest eigenvectors."""
    w, v = np.linalg.eigh((a + a.T) / 2)
    return np.sum(v[0, -2:] ** 2) + np.exp(w / 5).sum()


@piece(DATA, 0.4)
def pseudo_inverse(x, power):
    target = np.abs(DATA[:, 0]) ** power
    w = np.linalg.pinv(x) @ target
    return np.sum((x @ w - target) ** 2) + w @ w
