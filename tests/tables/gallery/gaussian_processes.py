"""Gaussian processes: kernels, and the likelihood of measurements."""

import numpy as np

from tests.tables.gallery.table import piece

rng = np.random.default_rng(2)
X = np.sort(rng.uniform(0, 4, 12))
Y = np.sin(2 * X) + 0.1 * rng.standard_normal(12)

LOGS = {'length': -0.3, 'scale': 0.1, 'noise': -1.5}


def rbf(a, b, length):
    return np.exp(-0.5 * ((a[:, None] - b[None, :]) / length) ** 2)


@piece(LOGS)
def marginal_likelihood(logs):
    """Algorithm 2.1 of Rasmussen and Williams."""
    k = np.exp(2 * logs['scale']) * rbf(X, X, np.exp(logs['length']))
    k = k + np.exp(2 * logs['noise']) * np.eye(len(X))
    chol = np.linalg.cholesky(k)
    alpha = np.linalg.solve(chol.T, np.linalg.solve(chol, Y))
    return (-0.5 * Y @ alpha - np.log(np.diag(chol)).sum()
            - len(X) / 2 * np.log(2 * np.pi))


@piece(np.array([-0.2, 0.3]), -1.0)
def kronecker_grid(log_lengths, log_noise):
    """A grid of 3 by 4 points, whose kernel is a Kronecker product."""
    rows, columns = np.arange(3.0), np.arange(4.0)
    k = np.kron(rbf(rows, rows, np.exp(log_lengths[0])),
                rbf(columns, columns, np.exp(log_lengths[1])))
    k = k + np.exp(2 * log_noise) * np.eye(12)
    w, v = np.linalg.eigh(k)
    return -0.5 * np.sum((v.T @ Y) ** 2 / w + np.log(w))
