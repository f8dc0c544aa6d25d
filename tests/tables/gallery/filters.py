"""Filters: a hidden state, and an observed series."""

import numpy as np

from tests.tables.gallery.table import piece

rng = np.random.default_rng(3)
T = 12
SERIES = np.cumsum(0.3 + 0.5 * rng.standard_normal(T))
TREND = np.array([[1.0, 1.0], [0.0, 1.0]])
LEVEL = np.array([1.0, 0.0])
LOGS = {'level': -1.0, 'slope': -2.0, 'noise': -0.7}


@piece(LOGS)
def kalman_likelihood(logs):
    """A local linear trend."""
    q = np.diag(np.exp(2 * np.stack([logs['level'], logs['slope']])))
    r = np.exp(2 * logs['noise'])
    mean, cov, total = np.zeros(2), np.eye(2) * 10, 0.0
    for y in SERIES:
        mean, cov = TREND @ mean, TREND @ cov @ TREND.T + q
        error, s = y - LEVEL @ mean, LEVEL @ cov @ LEVEL + r
        gain = cov @ LEVEL / s
        mean, cov = mean + gain * error, cov - np.outer(gain, gain) * s
        total += -0.5 * (np.log(2 * np.pi * s) + error ** 2 / s)
    return total
