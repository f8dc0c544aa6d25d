"""Puzzles: algorithms of tables and choices, made soft."""

import numpy as np
import scipy.special as sc

import autodiff_mini as ad
from tests.gallery.table import piece

rng = np.random.default_rng(16)
LETTERS = rng.standard_normal((5, 3))
WORDS = rng.standard_normal((4, 3))
ROADS = rng.uniform(1, 5, (6, 6))
CITIES = rng.uniform(0, 1, (7, 2))
VALUES, SIZES = rng.uniform(1, 4, 6), np.array([2, 3, 1, 4, 2, 3])


def soft_min(values, temperature):
    return -temperature * ad.logsumexp(-values / temperature)


@piece(rng.standard_normal(4), rng.standard_normal(3), 0.5,
       jax='it writes in place')
def time_warping(a, b, temperature):
    """Soft dynamic time warping: Cuturi and Blondel, 2017."""
    cost = (a[:, None] - b) ** 2
    table = np.full((len(a) + 1, len(b) + 1), 1e10, like=cost)
    table[0, 0] = 0.0
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            ways = np.stack([table[i - 1, j - 1], table[i - 1, j],
                             table[i, j - 1]])
            table[i, j] = cost[i - 1, j - 1] + soft_min(ways, temperature)
    return table[-1, -1]


@piece(LETTERS, WORDS, jax='it writes in place')
def edit_distance(a, b):
    """Between words whose letters are vectors; a gap costs one."""
    n, m = len(a), len(b)
    table = np.zeros((n + 1, m + 1), like=a)
    table[:, 0], table[0, :] = np.arange(n + 1), np.arange(m + 1)
    for i in range(n):
        for j in range(m):
            change = 1 - np.exp(-np.sum((a[i] - b[j]) ** 2) / 2)
            gap = np.logaddexp(-table[i, j + 1] - 1, -table[i + 1, j] - 1)
            table[i + 1, j + 1] = -np.logaddexp(
                gap, -table[i, j] - 2 * change)
    return table[n, m]


@piece(ROADS)
def shortest_path(roads):
    """A matrix product of minima and sums, three times."""
    distance = roads
    for _ in range(3):
        distance = np.minimum(
            distance, np.min(distance[:, :, None] + distance, axis=1))
    return distance[0, 5] + distance[1, 4]


@piece(CITIES, 0.1)
def sinkhorn(points, temperature):
    """The cost of moving points to a grid, with the entropy's help."""
    goal = np.linspace(0, 1, 7)[:, None] * np.array([1.0, 0.5])
    cost = np.sum((points[:, None] - goal) ** 2, axis=-1)
    kernel = np.exp(-cost / temperature)
    u = v = np.ones(7) / 7
    for _ in range(10):
        u = 1 / (kernel @ v)
        v = 1 / (kernel.T @ u)
    return np.sum(u[:, None] * kernel * v * cost)


@piece(VALUES, 0.3, jax='it writes in place')
def knapsack(values, temperature):
    """The best of what fits, with a soft maximum in a table of rooms."""
    best = np.zeros(9, like=values)
    for value, size in zip(values, SIZES):
        taken = best[:-size] + value
        best[size:] = temperature * np.logaddexp(best[size:] / temperature,
                                                 taken / temperature)
    return best[-1]


@piece(ROADS[:4, :4], 0.85)
def page_rank(links, damping):
    flow = links / links.sum(axis=0)
    rank = np.ones(4) / 4
    for _ in range(20):
        rank = damping * flow @ rank + (1 - damping) / 4
    return -np.sum(sc.xlogy(rank, rank))


@piece(rng.standard_normal(6), 0.5)
def soft_ranks(scores, temperature):
    """Spearman's correlation, with ranks by pairwise comparison."""
    differences = (scores[:, None] - scores) / temperature
    ranks = 0.5 + sc.expit(differences).sum(axis=1)
    return np.corrcoef(ranks, np.arange(6))[0, 1]


@piece(2.6, branches='it stops when it falls below one')
def bouncing(x):
    """A number that is tripled or halved until it is small."""
    product = 1.0
    while x >= 1:
        if x > 2:
            x = x / 2 + 0.1 * np.sin(x)
        else:
            x = x ** 1.5 - 0.9
        product *= x
    return product
