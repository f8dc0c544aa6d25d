"""Filters: a state that is not seen, and a series that is."""

import numpy as np

from tests.gallery.table import piece

rng = np.random.default_rng(3)
T = 12
SERIES = np.cumsum(0.3 + 0.5 * rng.standard_normal(T))
SEASONAL = np.tile([1.0, -0.5, 0.3, -0.8], 6) + 0.05 * np.arange(24)
ANGLES = np.sin(0.4 * np.arange(T)) + 0.05 * rng.standard_normal(T)
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


@piece(np.array([-1.0, -0.5]), jax='it writes in place')
def smoother(logs):
    """Forwards by Kalman, and backwards by Rauch, Tung and Striebel."""
    q, r = np.exp(2 * logs)
    mean, var = np.zeros(T, like=logs), np.zeros(T, like=logs)
    m, p = 0.0, 10.0
    for t in range(T):
        gain = (p + q) / (p + q + r)
        m, p = m + gain * (SERIES[t] - m), (1 - gain) * (p + q)
        mean[t], var[t] = m, p
    for t in range(T - 2, -1, -1):
        gain = var[t] / (var[t] + q)
        mean[t] += gain * (mean[t + 1] - mean[t])
        var[t] += gain ** 2 * (var[t + 1] - var[t] - q)
    return np.sum((SERIES - mean) ** 2) + np.sum(var)


@piece({'frequency': 0.45, 'damping': 0.1, 'log_q': -3.0, 'log_r': -2.0})
def extended_kalman(params):
    """A pendulum, whose angle is seen through a sine."""
    q, r = np.exp(params['log_q']) * np.eye(2), np.exp(params['log_r'])
    x, p, total = np.array([0.1, 0.2]), np.eye(2), 0.0
    for y in ANGLES[:6]:
        k, c = params['frequency'] ** 2, params['damping']
        f = np.stack([np.array([1.0, 1.0]),
                      np.stack([-k * np.cos(x[0]), 1 - c])])
        x = np.stack([x[0] + x[1], (1 - c) * x[1] - k * np.sin(x[0])])
        p = f @ p @ f.T + q
        h = np.stack([np.cos(x[0]), 0 * x[0]])
        s = h @ p @ h + r
        gain, error = p @ h / s, y - np.sin(x[0])
        x, p = x + gain * error, p - np.outer(gain, h @ p)
        total += np.log(s) + error ** 2 / s
    return -0.5 * total


@piece(0.3)
def exponential_smoothing(alpha):
    level, loss = SERIES[0], 0.0
    for y in SERIES[1:]:
        loss += (y - level) ** 2
        level = alpha * y + (1 - alpha) * level
    return loss / (T - 1)


@piece(np.array([0.4, 0.1, 0.3]), jax='it writes in place')
def holt_winters(rates):
    """Level, trend and season, each with its rate."""
    alpha, beta, gamma = rates
    season = np.zeros(4, like=rates)
    season += SEASONAL[:4] - SEASONAL[:4].mean()
    level, trend, loss = SEASONAL[:4].mean(), 0.0, 0.0
    for t in range(4, len(SEASONAL)):
        y, s = SEASONAL[t], season[t % 4]
        loss += (y - level - trend - s) ** 2
        new = alpha * (y - s) + (1 - alpha) * (level + trend)
        trend = beta * (new - level) + (1 - beta) * trend
        season[t % 4] = gamma * (y - new) + (1 - gamma) * s
        level = new
    return loss


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
    """How far a digital filter's gain is from that of an ideal low-pass."""
    z = np.exp(-1j * np.linspace(0.05, 3.0, 40))
    h = np.polyval(b[::-1], z) / np.polyval(a[::-1], z)
    decibels = 20 * np.log10(np.abs(h))
    return np.mean((decibels - np.where(np.arange(40) < 12, 0, -30)) ** 2)
