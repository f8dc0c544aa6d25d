"""Transformers: a sentence of seven tokens, in four dimensions or eight."""

import numpy as np

from tests.tables.gallery.table import piece

rng = np.random.default_rng(12)
T, D, VOCABULARY = 7, 8, 10
CAUSAL = np.tril(np.ones((T, T), bool))
SENTENCE = rng.standard_normal((T, D))


def weights(*shape):
    return rng.standard_normal(shape) / np.sqrt(shape[0])


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@piece(SENTENCE, {name: weights(D, D) for name in ('q', 'k', 'v')})
def attention(x, params):
    q, k, v = x @ params['q'], x @ params['k'], x @ params['v']
    scores = np.where(CAUSAL, q @ k.T / np.sqrt(D), -np.inf)
    return np.sum((softmax(scores) @ v) ** 2)


@piece(SENTENCE, weights(D, 3), weights(3, D, D))
def mixture_of_experts(x, gate, experts):
    """Each token goes to the two experts that want it most."""
    scores = x @ gate
    best = np.argsort(scores, axis=1)[:, -2:]
    shares = softmax(np.take_along_axis(scores, best, axis=1))
    outs = np.tanh(np.einsum('td,tkde->tke', x, experts[best]))
    return np.sum((shares[..., None] * outs).sum(axis=1) ** 2)
