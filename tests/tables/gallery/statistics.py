"""Statistics: likelihoods of counts, times, and correlated values."""

import numpy as np
import scipy.special as sc

from tests.tables.gallery.table import piece

rng = np.random.default_rng(15)
TRIALS = np.array([10, 12, 8, 15, 9])
SUCCESSES = np.array([3, 7, 1, 9, 6])
POINTS = np.concatenate([rng.normal(-1, 0.5, 12), rng.normal(1.5, 0.8, 8)])
TIMES = rng.weibull(1.5, 15) + 0.1
DIED = rng.random(15) < 0.7


@piece(np.array([0.5, 0.8]), jax='its betaln is not accurate')
def beta_binomial(logs):
    a, b = np.exp(logs)
    return np.sum(np.log(sc.comb(TRIALS, SUCCESSES)) - sc.betaln(a, b)
                  + sc.betaln(SUCCESSES + a, TRIALS - SUCCESSES + b))


@piece({'logits': np.array([0.3, -0.2]), 'means': np.array([-0.8, 1.2]),
        'logs': np.array([-0.5, 0.1])})
def gaussian_mixture(params):
    log_weights = params['logits'] - np.log(np.exp(params['logits']).sum())
    z = (POINTS[:, None] - params['means']) / np.exp(params['logs'])
    log_p = log_weights - params['logs'] - 0.5 * z ** 2
    return np.sum(np.log(np.exp(log_p).sum(axis=1)))


@piece(0.3, 0.1)
def weibull_survival(log_shape, log_scale):
    """Some patients are still alive, so only their survival is known."""
    shape = np.exp(log_shape)
    z = TIMES / np.exp(log_scale)
    hazard = np.log(shape) - log_scale + (shape - 1) * np.log(z)
    return np.sum(hazard[DIED]) - np.sum(z ** shape)
