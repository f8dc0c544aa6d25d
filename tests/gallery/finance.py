"""Finance: prices, and what moves them."""

import numpy as np
import scipy.special as sc

from tests.gallery.table import piece

rng = np.random.default_rng(8)
STEPS = rng.standard_normal((50, 12))
RETURNS = 0.01 * rng.standard_normal((40, 4)) + 0.002
MATURITIES = np.array([0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0])
YIELDS = np.array([0.021, 0.023, 0.026, 0.028, 0.031, 0.032, 0.033])
COUPONS = np.arange(1, 11) * 0.5


@piece({'spot': 100.0, 'strike': 105.0, 'rate': 0.03, 'volatility': 0.2,
        'years': 0.75})
def black_scholes(market):
    s, k, r = market['spot'], market['strike'], market['rate']
    spread = market['volatility'] * np.sqrt(market['years'])
    discount = np.exp(-r * market['years'])
    d1 = np.log(s / (k * discount)) / spread + spread / 2
    return s * sc.ndtr(d1) - k * discount * sc.ndtr(d1 - spread)


@piece(9.0, 100.0, branches='Newton stops when the price is met')
def implied_volatility(price, strike):
    """Newton's method, until it has converged."""
    def call(sigma):
        d1 = np.log(100.0 / strike) / sigma + sigma / 2
        vega = 100.0 * np.exp(-d1 ** 2 / 2) / np.sqrt(2 * np.pi)
        return 100.0 * sc.ndtr(d1) - strike * sc.ndtr(d1 - sigma), vega

    sigma = 0.3
    for _ in range(20):
        value, vega = call(sigma)
        sigma = sigma - (value - price) / vega
        if abs(value - price) < 1e-12:
            break
    return sigma


@piece(100.0, 0.25, 0.05)
def american_put(spot, volatility, rate):
    """On a binomial tree of twelve steps."""
    dt = 1.0 / 12
    up = np.exp(volatility * np.sqrt(dt))
    p = (np.exp(rate * dt) - 1 / up) / (up - 1 / up)
    j = np.arange(13)
    value = np.maximum(102.0 - spot * up ** (2.0 * j - 12), 0)
    for n in range(11, -1, -1):
        wait = np.exp(-rate * dt) * (p * value[1:] + (1 - p) * value[:-1])
        now = 102.0 - spot * up ** (2.0 * j[:n + 1] - n)
        value = np.maximum(wait, now)
    return value[0]


@piece(100.0, 0.2, 85.0)
def barrier_option(spot, volatility, barrier):
    """By fifty paths; the barrier is crossed softly."""
    dt = 1.0 / 12
    moves = -0.5 * volatility ** 2 * dt + volatility * np.sqrt(dt) * STEPS
    paths = spot * np.exp(np.cumsum(moves, axis=1))
    alive = sc.expit((paths.min(axis=1) - barrier) / 2)
    return np.mean(alive * np.maximum(paths[:, -1] - 100.0, 0))


@piece(np.array([0.4, 0.3, 0.2, 0.1]))
def portfolio(weights):
    """A Sharpe ratio, and a penalty for unequal parts of the risk."""
    cov = np.cov(RETURNS, rowvar=False)
    risk = np.sqrt(weights @ cov @ weights)
    parts = weights * (cov @ weights) / risk ** 2
    return weights @ RETURNS.mean(axis=0) / risk - np.var(parts)


@piece(YIELDS, 0.03)
def bond(yields, coupon):
    """The price of a bond, by a curve between seven knots."""
    rates = np.interp(COUPONS, MATURITIES, yields)
    discounts = np.exp(-rates * COUPONS)
    return 100 * (coupon / 2 * discounts.sum() + discounts[-1])


@piece({'v0': 0.04, 'kappa': 1.5, 'theta': 0.05, 'xi': 0.4, 'rho': -0.6})
def heston(p):
    """A call by the characteristic function, along a line in the plane."""
    u = np.linspace(1e-3, 60.0, 121) - 0.5j
    drift = p['kappa'] - p['rho'] * p['xi'] * 1j * u
    d = np.sqrt(drift ** 2 + p['xi'] ** 2 * (1j * u + u ** 2))
    g = (drift - d) / (drift + d)
    e = np.exp(-d)
    log_phi = p['v0'] * (drift - d) * (1 - e) / (1 - g * e) + p['kappa'] * (
        p['theta'] * (drift - d - 2 * np.log((1 - g * e) / (1 - g))))
    integrand = np.exp(log_phi / p['xi'] ** 2).real / (u.real ** 2 + 0.25)
    return 1 - np.trapezoid(integrand, u.real) / np.pi


@piece(np.array([0.4, 0.3, 0.2, 0.1]))
def expected_shortfall(weights):
    """The mean loss of the worst tenth, beyond the value at risk."""
    losses = -RETURNS @ weights
    worst = np.sort(losses)[-4:]
    return worst.mean() - np.quantile(losses, 0.85)
