"""W1, W2, W8, W9, and W10: programs on large arrays."""

from functools import partial

import numpy as np

from tests.benchmarks import floors
from tests.benchmarks.measure import Row, measured
from tests.benchmarks.peers import everywhere, gradients

# W1: one step of training

def layers(dtype):
    """Return the parameters of a network, a batch, and its labels."""
    rng = np.random.default_rng(1)
    sizes = [784, 512, 256, 10]
    normal = lambda *shape: rng.standard_normal(shape).astype(dtype)
    params = [(normal(m, n) * dtype(m ** -0.5), normal(n) * dtype(0.1))
              for m, n in zip(sizes, sizes[1:])]
    labels = np.eye(10, dtype=dtype)[rng.integers(0, 10, 128)]
    return params, normal(128, 784), labels


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
        x = x @ w + b
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
    for dtype, tolerance, targets in (
            (np.float64, 1e-9, (1.0, 1.35, 0.9)),
            (np.float32, 1e-4, (1.0, 1.75, 0.6))):
        ratios = 'jit/hand', 'jit/jax', 'eager/autograd'
        yield Row(
            f'MLP 784-512-256-10, batch of 128, {dtype.__name__}',
            gradients(cross_entropy, layers(dtype), hand_cross_entropy,
                      value=True, torch_program=torch_cross_entropy),
            dict(zip(ratios, targets)), tolerance)


# W2: chains of element-wise operations

SLOPE = (2 / np.pi) ** 0.5


def gelu(np, x):
    """The sum of GELU, in the form with tanh."""
    return np.sum(0.5 * x * (1 + np.tanh(SLOPE * (x + 0.044715 * x ** 3))))


def hand_gelu(x):
    square = x * x
    t = np.tanh(SLOPE * x * (1 + 0.044715 * square))
    slope = SLOPE * (1 + 3 * 0.044715 * square)
    return 0.5 * (1 + t + x * (1 - t * t) * slope)


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


def hand_cdf(x):
    """Return the distribution function and its slope."""
    square = x * x
    t = np.tanh(SLOPE * x * (1 + 0.044715 * square))
    return 0.5 * (1 + t), 0.5 * SLOPE * (1 - t * t) * (
        1 + 3 * 0.044715 * square)


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


def w2():
    ratios = 'jit/hand', 'jit/jax', 'eager/autograd'
    for n, of_gelu, of_options in (
            (1_000_000, (0.9, 1.15, 0.5), (0.55, 0.7, 0.5)),
            (10_000, (1.35, 0.95, 0.5), (1.1, 1.25, 0.5))):
        x = np.linspace(-4, 4, n)
        yield Row(f'GELU, {n:,} elements',
                  gradients(gelu, (x,), hand_gelu, floor=floors.gelu),
                  dict(zip(ratios, of_gelu)))
        yield Row(f'Black–Scholes, {n:,} options',
                  gradients(black_scholes, options(n), hand_black_scholes,
                            argnums=(0, 1, 2), floor=floors.black_scholes),
                  dict(zip(ratios, of_options)))


# W8: a gradient for each example

def logistic(np, w, x, label):
    """The loss of a logistic model for one example."""
    return np.log1p(np.exp(-label * (x @ w)))


def hand_logistic(w, xs, labels):
    return (-labels / (1 + np.exp(labels * (xs @ w))))[:, None] * xs


def w8():
    rng = np.random.default_rng(8)
    args = (rng.standard_normal(100) / 10, rng.standard_normal((10_000, 100)),
            rng.choice([-1.0, 1.0], 10_000))
    calls = everywhere(
        lambda ad, np: ad.vmap(ad.grad(partial(logistic, np)), (None, 0, 0)),
        args, hand_logistic, ['torch', 'jax'])
    yield Row('vmap(grad), logistic, 10,000 examples of 100', calls,
              {'jit/hand': 1.1, 'jit/jax': 1.8, 'eager/hand': 1.4})


# W9: what a rule costs

def plain_log1pexp(np, x):
    return np.log(1 + np.exp(x))


def ruled_log1pexp(custom_jvp, np):
    log1pexp = custom_jvp(partial(plain_log1pexp, np))

    @log1pexp.defjvp
    def log1pexp_jvp(primals, tangents):
        (x,), (x_dot,) = primals, tangents
        return log1pexp(x), (1 - 1 / (1 + np.exp(x))) * x_dot
    return log1pexp


def hand_log1pexp(x):
    return 1 - 1 / (1 + np.exp(x))


def w9():
    x = np.linspace(-5, 5, 100_000)
    loss = lambda np, f: lambda x: np.sum(f(x))
    ruled = lambda ad, np: ad.grad(
        loss(np, ruled_log1pexp(ad.custom_jvp, np)))
    plain = lambda ad, np: ad.grad(loss(np, partial(plain_log1pexp, np)))
    calls = everywhere(ruled, (x,), hand_log1pexp, ['jax'])
    others = everywhere(plain, (x,), hand_log1pexp, ['jax'])
    calls |= {f'{name}, without it': call for name, call in others.items()
              if name != 'hand'}
    yield Row('custom rule for log1pexp, 100,000 elements', calls,
              {'jit/jit, without it': 1.05, 'jit/jax': 0.33,
               'eager/eager, without it': 1.5})


# W10: a hessian

def rosenbrock(np, x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def hand_rosenbrock(x):
    n, low, high = len(x), x[:-1], x[1:]
    diagonal = np.zeros(n)
    diagonal[:-1] = 1200 * low * low - 400 * high + 2
    diagonal[1:] += 200
    beside = -400 * low
    return np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)


def w10():
    x = np.linspace(-1, 1, 200)
    calls = everywhere(
        lambda ad, np: ad.hessian(partial(rosenbrock, np)), (x,),
        hand_rosenbrock)
    yield Row('hessian, Rosenbrock in 200 dimensions', calls,
              {'jit/hand': 20, 'jit/jax': 9, 'eager/autograd': 0.1})


# Time over size

def sizes():
    """Return {column: seconds} for the gradient of GELU, by size."""
    numbers, times = [10 ** k for k in range(8)], {}
    for n in numbers:
        calls = gradients(gelu, (np.linspace(-4, 4, n),), hand_gelu,
                          peers=['jax'])
        del calls['small']
        for name, took in measured(Row(f'GELU, {n:,}', calls)).items():
            times.setdefault(name, []).append(took)
    return {'elements': numbers, 'seconds': times}
