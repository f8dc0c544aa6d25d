"""Variational inference: distributions that are fitted to distributions."""

import numpy as np
import scipy.special as sc

import autodiff_mini as ad
from tests.gallery.table import piece

rng = np.random.default_rng(5)
NOISE = rng.standard_normal((20, 2))
UNIFORM = rng.uniform(0.05, 0.95, (20, 3))
DATA = rng.gamma(2.0, 1.5, 15)
IMAGES = rng.integers(0, 2, (6, 8)).astype(float)
LATENT = rng.standard_normal((6, 2))


def softmax(x):
    return np.exp(x - ad.logsumexp(x, -1, keepdims=True))


def banana(x):
    """The log density of a bent Gaussian."""
    return -0.5 * x[:, 0] ** 2 - 2 * (x[:, 1] - x[:, 0] ** 2) ** 2


@piece({'mean': np.array([0.1, 0.3]), 'log_scale': np.array([-0.5, -0.2])})
def mean_field(q):
    x = q['mean'] + np.exp(q['log_scale']) * NOISE
    entropy = np.sum(q['log_scale']) + np.log(2 * np.pi * np.e)
    return np.mean(banana(x)) + entropy


@piece(np.array([0.1, 0.3]), np.array([-0.5, 0.4, -0.2]),
       jax='it writes in place')
def full_rank(mean, packed):
    """A Gaussian whose Cholesky factor is kept as three numbers."""
    chol = np.zeros((2, 2), like=packed)
    chol[np.tril_indices(2)] = packed
    chol[np.diag_indices(2)] = np.exp(np.diag(chol))
    x = mean + NOISE @ chol.T
    return np.mean(banana(x)) + np.log(np.diag(chol)).sum()


@piece({'logits': np.array([0.2, -0.3, 0.1]),
        'means': np.array([-1.0, 0.2, 1.5])}, -0.5)
def relaxed_mixture(q, log_temperature):
    """A choice by Gumbel noise, softened by a temperature."""
    gumbel = -np.log(-np.log(UNIFORM))
    choice = softmax((q['logits'] + gumbel) / np.exp(log_temperature))
    x = choice @ q['means'] + 0.3 * NOISE[:, 0]
    return np.mean(-(x ** 2 - 1) ** 2) + np.sum(
        sc.entr(softmax(q['logits'])))


@piece([{'w': np.array([0.5, -0.4]), 'u': np.array([0.3, 0.2]), 'b': 0.1},
        {'w': np.array([-0.2, 0.6]), 'u': np.array([0.1, -0.3]), 'b': -0.2}])
def planar_flow(layers):
    z, log_det = NOISE, 0.0
    for layer in layers:
        h = np.tanh(z @ layer['w'] + layer['b'])
        log_det += np.log(np.abs(1 + (1 - h ** 2) * (layer['w']
                                                     @ layer['u'])))
        z = z + np.outer(h, layer['u'])
    return np.mean(banana(z) + log_det)


@piece(0.6, -0.4)
def gamma_posterior(log_shape, log_rate):
    """A Gamma prior's divergence, and data whose rate it is."""
    a, b = np.exp(log_shape), np.exp(log_rate)
    divergence = ((a - 2) * sc.digamma(a) - sc.gammaln(a) + sc.gammaln(2.0)
                  + 2 * np.log(b) + a * (1 - b) / b)
    expected = np.sum(2 * (sc.digamma(a) - np.log(b)) - DATA * a / b)
    return expected - divergence


@piece(np.array([2.5, 1.5]), np.array([1.2, 3.0]))
def beta_divergence(p, q):
    """Of one Beta distribution from another."""
    return (sc.betaln(*q) - sc.betaln(*p)
            + (p[0] - q[0]) * sc.digamma(p[0])
            + (p[1] - q[1]) * sc.digamma(p[1])
            + (q.sum() - p.sum()) * sc.digamma(p.sum()))


@piece({'encoder': 0.3 * rng.standard_normal((8, 4)),
        'decoder': 0.3 * rng.standard_normal((2, 8)), 'bias': np.zeros(8)},
       jax='jax.scipy.special has no log_expit')
def autoencoder(params):
    mean, log_variance = np.hsplit(IMAGES @ params['encoder'], 2)
    z = mean + np.exp(log_variance / 2) * LATENT
    logits = z @ params['decoder'] + params['bias']
    fit = np.sum(IMAGES * sc.log_expit(logits)
                 + (1 - IMAGES) * sc.log_expit(-logits))
    divergence = 0.5 * np.sum(mean ** 2 + np.exp(log_variance)
                              - log_variance - 1)
    return (fit - divergence) / len(IMAGES)
