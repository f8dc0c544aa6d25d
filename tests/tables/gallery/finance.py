"""Finance: prices, and their sensitivities."""

import numpy as np
import scipy.special as sc

from tests.tables.gallery.table import piece

rng = np.random.default_rng(8)
STEPS = rng.standard_normal((50, 12))


@piece({'spot': 100.0, 'strike': 105.0, 'rate': 0.03, 'volatility': 0.2,
        'years': 0.75})
def black_scholes(market):
    s, k, r = market['spot'], market['strike'], market['rate']
    spread = market['volatility'] * np.sqrt(market['years'])
    discount = np.exp(-r * market['years'])
    d1 = np.log(s / (k * discount)) / spread + spread / 2
    return s * sc.ndtr(d1) - k * discount * sc.ndtr(d1 - spread)


@piece(100.0, 0.2, 85.0)
def barrier_option(spot, volatility, barrier):
    """An option on fifty paths, with a soft barrier."""
    dt = 1.0 / 12
    moves = -0.5 * volatility ** 2 * dt + volatility * np.sqrt(dt) * STEPS
    paths = spot * np.exp(np.cumsum(moves, axis=1))
    alive = sc.expit((paths.min(axis=1) - barrier) / 2)
    return np.mean(alive * np.maximum(paths[:, -1] - 100.0, 0))
