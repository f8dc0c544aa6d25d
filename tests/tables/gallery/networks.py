"""Networks: layers of weights, and a loss at the end."""

import numpy as np
import scipy.special as sc

import autodiff_mini as ad
from tests.tables.gallery.table import piece

rng = np.random.default_rng(11)
X = rng.standard_normal((8, 5))
LABELS = rng.integers(0, 3, 8)
SERIES = rng.standard_normal((10, 2))
EDGES = np.array([[0, 0, 1, 2, 3, 4], [1, 2, 3, 3, 4, 0]])
NODES = rng.standard_normal((5, 3))


def weights(*shape):
    return rng.standard_normal(shape) / np.sqrt(shape[0])


def cross_entropy(logits, labels):
    log_p = logits - ad.logsumexp(logits, axis=1, keepdims=True)
    return -np.mean(log_p[np.arange(len(labels)), labels])


@piece([(weights(5, 7), np.zeros(7)), (weights(7, 3), np.zeros(3))])
def perceptron(layers):
    x = X
    for w, b in layers[:-1]:
        x = np.tanh(x @ w + b)
    w, b = layers[-1]
    return cross_entropy(x @ w + b, LABELS)


@piece({'in': weights(2, 4), 'rec': weights(4, 4), 'out': weights(4, 2)})
def recurrent(params):
    h, loss = np.zeros(4), 0.0
    for x, target in zip(SERIES[:-1], SERIES[1:]):
        h = np.tanh(x @ params['in'] + h @ params['rec'])
        loss += np.sum((h @ params['out'] - target) ** 2)
    return loss / len(SERIES)


@piece({'self': weights(3, 4), 'near': weights(3, 4), 'out': weights(4)},
       jax='it writes in place')
def graph_network(params):
    """Each node adds up the messages of its neighbors, in place."""
    start, end = EDGES
    messages = (NODES @ params['near'])[start]
    heard = np.zeros((5, 4), like=messages)
    np.add.at(heard, end, messages)
    h = np.tanh(NODES @ params['self'] + heard)
    return sc.expit(h.mean(axis=0) @ params['out'])
