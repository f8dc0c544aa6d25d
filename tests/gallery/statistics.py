"""Statistics: likelihoods of counts, of times, and of what goes together."""

import numpy as np
import scipy.special as sc

from tests.gallery.table import piece

rng = np.random.default_rng(15)
TRIALS = np.array([10, 12, 8, 15, 9])
SUCCESSES = np.array([3, 7, 1, 9, 6])
COUNTS = np.array([0, 0, 3, 1, 0, 7, 2, 0, 1, 4])
TABLE = np.array([[4, 1, 0], [2, 2, 5], [0, 6, 1]])
POINTS = np.concatenate([rng.normal(-1, 0.5, 12), rng.normal(1.5, 0.8, 8)])
TIMES = rng.weibull(1.5, 15) + 0.1
DIED = rng.random(15) < 0.7
COVARIATES = rng.standard_normal((15, 2))
PAIRS = np.clip(rng.random((12, 2)), 0.05, 0.95)
DIRECTIONS = rng.vonmises(0.5, 2.0, 12)


@piece(np.array([0.5, 0.8]), jax='its betaln is not accurate')
def beta_binomial(logs):
    a, b = np.exp(logs)
    return np.sum(np.log(sc.comb(TRIALS, SUCCESSES)) - sc.betaln(a, b)
                  + sc.betaln(SUCCESSES + a, TRIALS - SUCCESSES + b))


@piece(np.array([0.2, -0.1, 0.4]))
def dirichlet_multinomial(logs):
    alpha = np.exp(logs)
    total = TABLE.sum(axis=1)
    return (np.sum(sc.gammaln(alpha.sum()) - sc.gammaln(total + alpha.sum()))
            + np.sum(sc.gammaln(TABLE + alpha) - sc.gammaln(alpha)))


@piece({'mean': 1.8, 'size': 0.9}, jax='its xlogy takes no integers')
def negative_binomial(params):
    mu, r = params['mean'], params['size']
    return np.sum(sc.gammaln(COUNTS + r) - sc.gammaln(r)
                  - sc.gammaln(COUNTS + 1) + r * np.log(r / (r + mu))
                  + sc.xlogy(COUNTS, mu / (r + mu)))


@piece({'logits': np.array([0.3, -0.2]), 'means': np.array([-0.8, 1.2]),
        'logs': np.array([-0.5, 0.1])})
def gaussian_mixture(params):
    log_weights = params['logits'] - np.log(np.exp(params['logits']).sum())
    z = (POINTS[:, None] - params['means']) / np.exp(params['logs'])
    log_p = log_weights - params['logs'] - 0.5 * z ** 2
    return np.sum(np.log(np.exp(log_p).sum(axis=1)))


@piece(0.3, 0.1)
def weibull_survival(log_shape, log_scale):
    """Some still live: of them only the survival is known."""
    shape = np.exp(log_shape)
    z = TIMES / np.exp(log_scale)
    hazard = np.log(shape) - log_scale + (shape - 1) * np.log(z)
    return np.sum(hazard[DIED]) - np.sum(z ** shape)


@piece(np.array([0.4, -0.3]))
def proportional_hazards(beta):
    """Cox's partial likelihood, in the order of the deaths."""
    order = np.argsort(-TIMES)
    risk = (COVARIATES @ beta)[order]
    at_risk = np.log(np.cumsum(np.exp(risk)))
    return np.sum(np.where(DIED[order], risk - at_risk, 0.0))


@piece(0.4, np.array([0.8, 1.3]))
def copula(correlation, shapes):
    """Two marginals, joined by a Gaussian."""
    u = PAIRS ** shapes
    x = sc.ndtri(u)
    r2 = 1 - correlation ** 2
    log_joint = (2 * correlation * x[:, 0] * x[:, 1]
                 - correlation ** 2 * (x ** 2).sum(axis=1)) / (2 * r2)
    log_marginals = np.log(shapes) + (shapes - 1) * np.log(PAIRS)
    return np.sum(log_joint - 0.5 * np.log(r2)) + log_marginals.sum()


@piece(0.3, 0.8)
def von_mises(direction, log_kappa):
    kappa = np.exp(log_kappa)
    log_p = kappa * (np.cos(DIRECTIONS - direction) - 1)
    return np.sum(log_p) - 12 * np.log(2 * np.pi * sc.i0e(kappa))
