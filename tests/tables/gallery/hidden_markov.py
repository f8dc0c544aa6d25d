"""Hidden Markov models and random fields: sums over all paths."""

import numpy as np

import autodiff_mini as ad
from tests.tables.gallery.table import piece

rng = np.random.default_rng(4)
STATES, T = 3, 12
SYMBOLS = rng.integers(0, 4, T)
MODEL = {'start': rng.standard_normal(STATES),
         'move': rng.standard_normal((STATES, STATES)),
         'emit': rng.standard_normal((STATES, 4))}


def log_softmax(x):
    return x - ad.logsumexp(x, -1, keepdims=True)


@piece(MODEL)
def forward_in_logs(model):
    move, emit = log_softmax(model['move']), log_softmax(model['emit'])
    alpha = log_softmax(model['start']) + emit[:, SYMBOLS[0]]
    for symbol in SYMBOLS[1:]:
        alpha = ad.logsumexp(alpha[:, None] + move, axis=0) + emit[:, symbol]
    return ad.logsumexp(alpha)


@piece(rng.standard_normal((T, STATES)), rng.standard_normal((STATES,) * 2))
def viterbi(unary, pairwise):
    """The score of the best path: its derivative says which one it is."""
    best = unary[0]
    for row in unary[1:]:
        best = np.max(best[:, np.newaxis] + pairwise, axis=0) + row
    return best.max()
