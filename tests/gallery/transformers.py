"""Transformers: a sentence of seven tokens, in four dimensions or eight."""

import numpy as np
import scipy.special as sc

import autodiff_mini as ad
from tests.gallery.table import piece

rng = np.random.default_rng(12)
T, D, VOCABULARY = 7, 8, 10
TOKENS = rng.integers(0, VOCABULARY, T)
CAUSAL = np.tril(np.ones((T, T), bool))
SENTENCE = rng.standard_normal((T, D))


def weights(*shape):
    return rng.standard_normal(shape) / np.sqrt(shape[0])


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def layer_norm(x):
    mean = np.mean(x, axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(np.var(x, axis=-1, keepdims=True) + 1e-5)


@piece(SENTENCE, {name: weights(D, D) for name in ('q', 'k', 'v')})
def attention(x, params):
    q, k, v = x @ params['q'], x @ params['k'], x @ params['v']
    scores = np.where(CAUSAL, q @ k.T / np.sqrt(D), -np.inf)
    return np.sum((softmax(scores) @ v) ** 2)


@piece(SENTENCE, weights(D, 3 * D), weights(D, D),
       jax='it writes in place')
def two_heads(x, qkv, out):
    q, k, v = (x @ qkv).reshape(T, 3, 2, D // 2).transpose(1, 2, 0, 3)
    scores = np.einsum('hqd,hkd->hqk', q, k) / np.sqrt(D // 2)
    scores[..., ~CAUSAL] = -np.inf
    mixed = np.einsum('hqk,hkd->qhd', softmax(scores), v)
    return np.mean(mixed.reshape(T, D) @ out)


@piece({'scale': np.ones(D), 'shift': np.zeros(D), 'up': weights(D, 12),
        'down': weights(12, D)})
def feed_forward(params):
    """A residual block: norm, GELU by erf, and back."""
    h = layer_norm(SENTENCE) * params['scale'] + params['shift']
    h = h @ params['up']
    h = h * 0.5 * (1 + sc.erf(h / np.sqrt(2)))
    return np.mean((SENTENCE + h @ params['down']) ** 3)


@piece({'embed': 0.5 * weights(VOCABULARY, D), 'place': 0.1 * weights(T, D),
        'mix': weights(D, D)})
def language_model(params):
    """Predicts each token from the last, with the embedding used twice."""
    x = params['embed'][TOKENS] + params['place']
    x = x + np.tanh(layer_norm(x) @ params['mix'])
    logits = x[:-1] @ params['embed'].T
    log_p = logits - ad.logsumexp(logits, axis=-1, keepdims=True)
    nexts = TOKENS[1:, None]
    return -np.take_along_axis(log_p, nexts, axis=-1).mean()


@piece(SENTENCE, SENTENCE[::-1] * 0.5)
def rotary(q, k):
    """Places as rotations: pairs of features are complex numbers."""
    turns = np.exp(1j * np.arange(T)[:, None] * 0.1 ** np.arange(D // 2))
    q = (q[:, ::2] + 1j * q[:, 1::2]) * turns
    k = (k[:, ::2] + 1j * k[:, 1::2]) * turns
    scores = (q @ k.conj().T).real / np.sqrt(D)
    return np.trace(softmax(scores))


@piece(SENTENCE, weights(D, 3), weights(3, D, D))
def mixture_of_experts(x, gate, experts):
    """Each token goes to the two experts that want it most."""
    scores = x @ gate
    best = np.argsort(scores, axis=1)[:, -2:]
    shares = softmax(np.take_along_axis(scores, best, axis=1))
    outs = np.tanh(np.einsum('td,tkde->tke', x, experts[best]))
    return np.sum((shares[..., None] * outs).sum(axis=1) ** 2)


@piece(np.linspace(-1.0, 1.0, D), SENTENCE)
def linear_attention(decay, x):
    """A state that is kept from token to token, as in RWKV."""
    state, out = np.zeros((D, D)), 0.0
    keep = sc.expit(decay)[:, None]
    for row in x:
        state = keep * state + np.outer(np.exp(row / 4), row)
        out += row @ state @ row / np.trace(state @ state.T)
    return out
