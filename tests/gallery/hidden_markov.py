"""Hidden Markov models and random fields: sums over all paths."""

import numpy as np

import autodiff_mini as ad
from tests.gallery.table import piece

rng = np.random.default_rng(4)
STATES, T = 3, 12
SYMBOLS = rng.integers(0, 4, T)
MEASURED = rng.standard_normal(T) + np.repeat([-1.0, 1.0, 0.0], 4)
PATH = np.repeat([0, 2, 1], 4)
MODEL = {'start': rng.standard_normal(STATES),
         'move': rng.standard_normal((STATES, STATES)),
         'emit': rng.standard_normal((STATES, 4))}


def log_softmax(x):
    return x - ad.logsumexp(x, -1, keepdims=True)


def softmax(x):
    return np.exp(log_softmax(x))


@piece(MODEL)
def forward_in_logs(model):
    move, emit = log_softmax(model['move']), log_softmax(model['emit'])
    alpha = log_softmax(model['start']) + emit[:, SYMBOLS[0]]
    for symbol in SYMBOLS[1:]:
        alpha = ad.logsumexp(alpha[:, None] + move, axis=0) + emit[:, symbol]
    return ad.logsumexp(alpha)


@piece(MODEL, jax='jax.numpy.logaddexp.reduce compiles for minutes')
def forward_by_reduce(model):
    """The same, with the method of the ufunc."""
    move, emit = log_softmax(model['move']), log_softmax(model['emit'])
    alpha = log_softmax(model['start']) + emit[:, SYMBOLS[0]]
    for symbol in SYMBOLS[1:]:
        alpha = np.logaddexp.reduce(alpha[:, None] + move, axis=0)
        alpha += emit[:, symbol]
    return np.logaddexp.reduce(alpha)


@piece(MODEL)
def forward_by_scaling(model):
    start, move, emit = [softmax(model[name])
                         for name in ('start', 'move', 'emit')]
    alpha, total = start * emit[:, SYMBOLS[0]], 0.0
    for symbol in SYMBOLS[1:]:
        scale = alpha.sum()
        total += np.log(scale)
        alpha = (alpha / scale) @ move * emit[:, symbol]
    return total + np.log(alpha.sum())


@piece({'move': MODEL['move'], 'mean': np.array([-0.8, 0.1, 0.9]),
        'log_deviation': np.array([0.1, -0.2, 0.0])})
def gaussian_emissions(params):
    """It starts in the stationary distribution, which solves an equation."""
    move = softmax(params['move'])
    equations = np.vstack([(move.T - np.eye(STATES))[:-1], np.ones(STATES)])
    stationary = np.linalg.solve(equations, np.array([0.0, 0.0, 1.0]))
    z = (MEASURED[:, None] - params['mean']) / np.exp(params['log_deviation'])
    density = np.exp(-0.5 * z ** 2 - params['log_deviation'])
    alpha = stationary
    total = 0.0
    for row in density:
        alpha = alpha * row
        total += np.log(alpha.sum())
        alpha = alpha / alpha.sum() @ move
    return total


@piece(MODEL, jax='it writes in place')
def expected_visits(model):
    """Forwards and backwards: how often the path is in the first state."""
    move = softmax(model['move'])
    emit = softmax(model['emit'])[:, SYMBOLS].T
    alpha, beta = np.empty_like(emit), np.ones_like(emit)
    alpha[0] = softmax(model['start']) * emit[0]
    for t in range(1, T):
        alpha[t] = alpha[t - 1] @ move * emit[t]
    for t in reversed(range(T - 1)):
        beta[t] = move @ (emit[t + 1] * beta[t + 1])
    posterior = alpha * beta
    posterior /= posterior.sum(axis=1, keepdims=True)
    return posterior[:, 0].sum()


@piece(rng.standard_normal((T, STATES)), rng.standard_normal((STATES,) * 2))
def random_field(unary, pairwise):
    """The log-likelihood of a path in a conditional random field."""
    score = (unary[np.arange(T), PATH].sum()
             + pairwise[PATH[:-1], PATH[1:]].sum())
    alpha = unary[0]
    for row in unary[1:]:
        alpha = ad.logsumexp(alpha[:, None] + pairwise, axis=0) + row
    return score - ad.logsumexp(alpha)


@piece(rng.standard_normal((T, STATES)), rng.standard_normal((STATES,) * 2))
def viterbi(unary, pairwise):
    """The score of the best path: its derivative says which one it is."""
    best = unary[0]
    for row in unary[1:]:
        best = np.max(best[:, np.newaxis] + pairwise, axis=0) + row
    return best.max()
