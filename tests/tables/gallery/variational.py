"""Variational inference: fitting one distribution to another."""

import numpy as np

from tests.tables.gallery.table import piece

rng = np.random.default_rng(5)
NOISE = rng.standard_normal((20, 2))


def banana(x):
    """The log density of a bent Gaussian."""
    return -0.5 * x[:, 0] ** 2 - 2 * (x[:, 1] - x[:, 0] ** 2) ** 2


@piece({'mean': np.array([0.1, 0.3]), 'log_scale': np.array([-0.5, -0.2])})
def mean_field(q):
    x = q['mean'] + np.exp(q['log_scale']) * NOISE
    entropy = np.sum(q['log_scale']) + np.log(2 * np.pi * np.e)
    return np.mean(banana(x)) + entropy
