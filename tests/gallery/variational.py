"""Variational inference: fitting one distribution to another."""

import numpy as np
import scipy.special as sc

import autodiff_mini as ad
from tests.gallery.table import piece

rng = np.random.default_rng(5)
NOISE = rng.standard_normal((20, 2))
UNIFORM = rng.uniform(0.05, 0.95, (20, 3))


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


@piece({'logits': np.array([0.2, -0.3, 0.1]),
        'means': np.array([-1.0, 0.2, 1.5])}, -0.5)
def relaxed_mixture(q, log_temperature):
    """A choice by Gumbel noise, softened by a temperature."""
    gumbel = -np.log(-np.log(UNIFORM))
    choice = softmax((q['logits'] + gumbel) / np.exp(log_temperature))
    x = choice @ q['means'] + 0.3 * NOISE[:, 0]
    return np.mean(-(x ** 2 - 1) ** 2) + np.sum(
        sc.entr(softmax(q['logits'])))
