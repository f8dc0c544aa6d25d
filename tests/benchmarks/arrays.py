"""W1, W2, W5, W8, and W10: programs on arrays."""

from functools import partial

import numpy as np

from tests.benchmarks.measure import Row, measured
from tests.benchmarks.peers import everywhere, fused, gradients

# W1: one step of training

def layers(examples, dtype):
    """Return the parameters of a network, a batch, and its labels."""
    rng = np.random.default_rng(1)
    sizes = [784, 512, 256, 10]
    normal = lambda *shape: rng.standard_normal(shape).astype(dtype)
    params = [(normal(m, n) * dtype(m ** -0.5), normal(n) * dtype(0.1))
              for m, n in zip(sizes, sizes[1:])]
    labels = np.eye(10, dtype=dtype)[rng.integers(0, 10, examples)]
    return params, normal(examples, 784), labels


def cross_entropy(np, params, x, labels):
    for w, b in params[:-1]:
        x = np.maximum(x @ w + b, 0.0)
    w, b = params[-1]
    logits = x @ w + b
    top = np.max(logits, axis=1, keepdims=True)
    shifted = logits - top
    norm = np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return np.sum(labels * (norm - shifted)) / len(labels)


def torch_cross_entropy(torch, params, x, labels):
    for w, b in params[:-1]:
        x = torch.relu(x @ w + b)
    w, b = params[-1]
    return torch.nn.functional.cross_entropy(x @ w + b, labels)


def hand_cross_entropy(params, x, labels):
    inputs = [x]
    for w, b in params[:-1]:
        x = x @ w
        x += b
        np.maximum(x, 0, out=x)
        inputs.append(x)
    w, b = params[-1]
    logits = x @ w + b
    shifted = logits - logits.max(axis=1, keepdims=True)
    exps = np.exp(shifted)
    sums = exps.sum(axis=1, keepdims=True)
    loss = np.sum(labels * (np.log(sums) - shifted)) / len(labels)
    ct = (exps / sums - labels) / len(labels)
    grads = []
    for (w, b), x in zip(params[::-1], inputs[::-1]):
        grads.append((x.T @ ct, ct.sum(axis=0)))
        if x is not inputs[0]:
            ct = ct @ w.T
            ct *= x > 0
    return loss, grads[::-1]


def w1():
    for size, examples, dtype, tolerance in (
            ('128', 128, np.float64, 1e-9),
            ('128 in float32', 128, np.float32, 1e-4),
            ('16', 16, np.float64, 1e-9)):
        yield Row('MLP 784-512-256-10, batch of {}', size,
                  gradients(cross_entropy, layers(examples, dtype),
                            hand_cross_entropy, value=True,
                            torch_program=torch_cross_entropy), tolerance)


# W2: chains of element-wise operations

SLOPE = (2 / np.pi) ** 0.5


def gelu(np, x):
    """The sum of GELU, in the form with tanh."""
    return np.sum(0.5 * x * (1 + np.tanh(SLOPE * (x + 0.044715 * x ** 3))))


def hand_cdf(x):
    """Return the distribution function and its slope."""
    square = x * x
    t = np.tanh((SLOPE + SLOPE * 0.044715 * square) * x)
    return 0.5 * t + 0.5, (1 - t * t) * (
        SLOPE / 2 + 1.5 * SLOPE * 0.044715 * square)


def hand_gelu(x):
    cdf, slope = hand_cdf(x)
    return cdf + slope * x


def softplus(np, x):
    """The sum of GELU and of softplus, in its stable form."""
    soft = np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))
    return np.sum(soft) + gelu(np, x)


def torch_softplus(torch, x):
    return torch.sum(torch.nn.functional.softplus(x)) + gelu(torch, x)


def hand_softplus(x):
    return hand_gelu(x) + 1 / (1 + np.exp(-x))


def normal_cdf(np, x):
    """The normal distribution function after Page (1977), with tanh.

    NumPy has no erf. This approximation is off by less than 2e-4, and every
    library computes it.
    """
    return 0.5 * (1 + np.tanh(SLOPE * (x + 0.044715 * x ** 3)))


RATE = 0.03


def black_scholes(np, spot, time, volatility, strike):
    """The sum of the prices of call options."""
    spread = volatility * np.sqrt(time)
    drift = (RATE + 0.5 * volatility ** 2) * time
    d1 = (np.log(spot / strike) + drift) / spread
    price = strike * np.exp(-RATE * time)
    return np.sum(spot * normal_cdf(np, d1)
                  - price * normal_cdf(np, d1 - spread))


def hand_black_scholes(spot, time, volatility, strike):
    root = np.sqrt(time)
    spread = volatility * root
    rate = RATE + 0.5 * volatility * volatility
    d1 = (np.log(spot / strike) + rate * time) / spread
    price = strike * np.exp(-RATE * time)
    cdf1, slope1 = hand_cdf(d1)
    cdf2, slope2 = hand_cdf(d1 - spread)
    d2_bar = price * slope2     # of -d2
    d1_bar = (spot * slope1 - d2_bar) / spread
    spread_bar = d2_bar - d1_bar * d1
    return (cdf1 + d1_bar / spot,
            d1_bar * rate + spread_bar * volatility / (2 * root)
            + RATE * price * cdf2,
            d1_bar * volatility * time + spread_bar * root)


def options(n):
    """Return spots, times, volatilities, and strikes."""
    rng = np.random.default_rng(2)
    return (rng.uniform(80, 120, n), rng.uniform(0.5, 2, n),
            rng.uniform(0.1, 0.4, n), rng.uniform(80, 120, n))


def points(n):
    return np.linspace(-4, 4, n),


def w2():
    for label, program, in_torch, hand, args, argnums, sizes in (
            ('GELU, {} elements', gelu, gelu, hand_gelu, points, 0,
             (1_000_000, 100_000, 10_000)),
            ('GELU and softplus, {} elements', softplus, torch_softplus,
             hand_softplus, points, 0, (100_000, 10_000)),
            ('Black–Scholes, {} options', black_scholes, black_scholes,
             hand_black_scholes, options, (0, 1, 2),
             (1_000_000, 100_000, 10_000))):
        for n in sizes:
            yield Row(label, f'{n:,}',
                      fused(gradients(program, args(n), hand, argnums,
                                      torch_program=in_torch)))


# W5: short programs on short arrays

def rational(np, x):
    return np.sum(np.tanh(x * x + 1.0) * np.exp(-x) / (1.0 + x))


def hand_rational(x):
    t, below = np.tanh(x * x + 1.0), 1.0 + x
    return np.exp(-x) / below * (
        2.0 * x * (1.0 - t * t) - t * (1.0 + 1.0 / below))


def log_sum(np, x):
    return np.log(np.sum(np.exp(np.sin(x) * x)))


def hand_log_sum(x):
    sine = np.sin(x)
    y = np.exp(sine * x)
    return y / np.sum(y) * (np.cos(x) * x + sine)


def w5():
    for n in 10, 1_000:
        x = np.linspace(0.1, 1.0, n)
        for label, program, hand in (
                ('a quotient of {} elements', rational, hand_rational),
                ('log of a sum of exps, {} elements', log_sum, hand_log_sum)):
            yield Row(label, f'{n:,}', gradients(program, (x,), hand))
        yield Row('jvp of a sine, {} elements', f'{n:,}', everywhere(
            lambda ad, np: lambda x, x_dot: ad.jvp(np.sin, (x,), (x_dot,)),
            (x, np.ones(n)), lambda x, x_dot: (np.sin(x), np.cos(x) * x_dot),
            ['torch', 'jax']))


# W8: a gradient for each example

def logistic(np, w, x, label):
    """The loss of a logistic model for one example."""
    return np.log1p(np.exp(-label * (x @ w)))


def hand_logistic(w, xs, labels):
    return (-labels / (1 + np.exp(labels * (xs @ w))))[:, None] * xs


def w8():
    rng = np.random.default_rng(8)
    for n in 10_000, 1_000:
        args = (rng.standard_normal(100) / 10, rng.standard_normal((n, 100)),
                rng.choice([-1.0, 1.0], n))
        calls = everywhere(
            lambda ad, np: ad.vmap(ad.grad(partial(logistic, np)),
                                   (None, 0, 0)),
            args, hand_logistic, ['torch', 'jax'])
        yield Row('vmap(grad), logistic, {} examples of 100', f'{n:,}', calls)


# W10: a hessian

def rosenbrock(np, x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def hand_rosenbrock(x):
    n, low, high = len(x), x[:-1], x[1:]
    matrix = np.zeros_like(x, shape=(n, n))
    flat = matrix.reshape(-1)
    diagonal = flat[::n + 1]
    diagonal[:-1] = 1200 * low * low - 400 * high + 2
    np.add(diagonal[1:], 200, out=diagonal[1:])
    flat[1::n + 1] = flat[n::n + 1] = -400 * low
    return matrix


def w10():
    for n in 200, 50:
        calls = everywhere(
            lambda ad, np: ad.hessian(partial(rosenbrock, np)),
            (np.linspace(-1, 1, n),), hand_rosenbrock)
        yield Row('hessian, Rosenbrock in {} dimensions', f'{n}', calls)


# Time over size

def sizes():
    """Return {column: seconds} for the gradient of GELU, by size."""
    numbers, times = [10 ** k for k in range(8)], {}
    for n in numbers:
        calls = gradients(gelu, points(n), hand_gelu, peers=['jax'])
        del calls['small'], calls['floor']
        for name, took in measured(Row('', '', calls)).items():
            times.setdefault(name, []).append(took)
    return {'elements': numbers, 'seconds': times}
