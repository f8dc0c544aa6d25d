"""Gaussian processes: kernels, and the likelihood of what was measured."""

import numpy as np
import scipy.special as sc

from tests.gallery.table import piece

rng = np.random.default_rng(2)
X = np.sort(rng.uniform(0, 4, 12))
Y = np.sin(2 * X) + 0.1 * rng.standard_normal(12)
X2 = rng.uniform(-1, 1, (10, 2))
Y2 = X2[:, 0] ** 2 - X2[:, 1]

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


@piece(LOGS, jax='it writes in place')
def matern(logs):
    """With the Matern kernel of smoothness 5/2, by slogdet."""
    r = np.sqrt(5) * np.abs(X[:, None] - X) / np.exp(logs['length'])
    k = np.exp(2 * logs['scale']) * (1 + r + r ** 2 / 3) * np.exp(-r)
    k[np.diag_indices(len(X))] += np.exp(2 * logs['noise'])
    sign, logdet = np.linalg.slogdet(k)
    return -0.5 * (Y @ np.linalg.solve(k, Y) + logdet)


@piece(np.array([0.0, 0.3]), -1.0)
def relevance(log_lengths, log_noise):
    """A length for each input."""
    z = X2 / np.exp(log_lengths)
    squared = np.sum((z[:, None, :] - z[None, :, :]) ** 2, axis=-1)
    k = np.exp(-0.5 * squared) + np.exp(2 * log_noise) * np.eye(len(z))
    return 0.5 * Y2 @ np.linalg.inv(k) @ Y2 + 0.5 * np.log(np.linalg.det(k))


@piece(LOGS)
def leave_one_out(logs):
    """The log density of each point given the others, from one inverse."""
    k = np.exp(2 * logs['scale']) * rbf(X, X, np.exp(logs['length']))
    k = k + np.exp(2 * logs['noise']) * np.eye(len(X))
    inverse = np.linalg.inv(k)
    variance = 1 / np.diagonal(inverse)
    error = inverse @ Y * variance
    return np.sum(-0.5 * np.log(variance) - error ** 2 / (2 * variance))


@piece(np.array([0.3, 1.2, 2.4, 3.6]), {'length': -0.5, 'noise': -1.0})
def inducing_points(z, logs):
    """The bound of Titsias, 2009."""
    length, noise = np.exp(logs['length']), np.exp(2 * logs['noise'])
    kzz = rbf(z, z, length) + 1e-6 * np.eye(len(z))
    kzx = rbf(z, X, length)
    half = np.linalg.solve(np.linalg.cholesky(kzz), kzx)
    nystrom = half.T @ half
    cov = nystrom + noise * np.eye(len(X))
    fit = -0.5 * (np.linalg.slogdet(cov)[1] + Y @ np.linalg.solve(cov, Y))
    return fit - np.sum(1 - np.diag(nystrom)) / (2 * noise)


@piece(np.array([-0.2, 0.3]), -1.0)
def kronecker_grid(log_lengths, log_noise):
    """A grid of 3 by 4 points, whose kernel is a Kronecker product."""
    rows, columns = np.arange(3.0), np.arange(4.0)
    k = np.kron(rbf(rows, rows, np.exp(log_lengths[0])),
                rbf(columns, columns, np.exp(log_lengths[1])))
    k = k + np.exp(2 * log_noise) * np.eye(12)
    w, v = np.linalg.eigh(k)
    return -0.5 * np.sum((v.T @ Y) ** 2 / w + np.log(w))


@piece(0.65)
def expected_improvement(x):
    """How much better than the best a new point may be."""
    k = rbf(X, X, 0.7) + 0.01 * np.eye(len(X))
    cross = np.exp(-0.5 * ((X - x) / 0.7) ** 2)
    mean = cross @ np.linalg.solve(k, Y)
    deviation = np.sqrt(1 - cross @ np.linalg.solve(k, cross))
    z = (mean - 0.9) / deviation
    density = np.exp(-0.5 * z ** 2) / np.sqrt(2 * np.pi)
    return deviation * (z * sc.ndtr(z) + density)
