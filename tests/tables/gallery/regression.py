"""Regression: thirty points, and their distance from a line."""

import numpy as np

from tests.tables.gallery.table import piece

rng = np.random.default_rng(1)
X = rng.standard_normal((30, 4))
W = np.array([1.5, -2.0, 0.5, 0.1])
Y = X @ W + 0.3 * rng.standard_normal(30)
LABELS = np.where(X @ W + rng.standard_normal(30) > 0, 1.0, -1.0)


@piece(np.array([1.0, -1.5, 0.3, 0.2]))
def least_squares(w):
    residual = X @ w - Y
    return residual @ residual / len(Y)


@piece({'w': np.array([0.5, -0.5, 0.1, 0.0]), 'b': 0.3})
def logistic(params):
    margins = LABELS * (X @ params['w'] + params['b'])
    return np.mean(np.log1p(np.exp(-margins)))
