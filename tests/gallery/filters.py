"""Filters: a hidden state, and an observed series."""

import numpy as np

from tests.gallery.table import piece

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


@piece({'ar': np.array([0.5, 0.2]), 'ma': np.array([0.4]), 'log_s': 0.1},
       jax='it writes in place')
def arma_likelihood(params):
    ar, ma, s = params['ar'], params['ma'], np.exp(params['log_s'])
    y = np.diff(SERIES)
    e = np.zeros(len(y), like=ar)
    for t in range(2, len(y)):
        e[t] = y[t] - ar @ y[t - 2:t][::-1] - ma @ e[t - 1:t]
    return -0.5 * np.sum(e[2:] ** 2) / s ** 2 - len(e[2:]) * np.log(s)


@piece(np.array([0.2, 0.4, 0.2]), np.array([1.0, -0.5, 0.3]))
def biquad_response(b, a):
    """The distance of a digital filter's gain from an ideal low-pass."""
    z = np.exp(-1j * np.linspace(0.05, 3.0, 40))
    h = np.polyval(b[::-1], z) / np.polyval(a[::-1], z)
    decibels = 20 * np.log10(np.abs(h))
    return np.mean((decibels - np.where(np.arange(40) < 12, 0, -30)) ** 2)
