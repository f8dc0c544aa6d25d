"""For a given limit, the greedy way is the best: no piece could begin later.
So try all limits, from the largest layer, which must fit, to the whole, and
take the one with the smallest sum. If all layers cost 1, that is a limit of
√n.

One can do better by cutting the pieces again, with a `checkpoint` in the
`checkpoint`: then a third computation of each layer pays for a memory of
3 ∛n. With as many levels as there are halves, it is log n.
"""

import numpy as np

import autodiff_mini as ad


def sines(count):
    """Returns a layer that keeps `count` arrays."""
    def layer(x):
        for _ in range(count):
            x = np.sin(x)
        return x
    return layer


def chain(layers):
    def run(x):
        for layer in layers:
            x = layer(x)
        return x
    return run


def cut(layers, sizes):
    """Returns the layers, put together in pieces that forget."""
    layers = iter(layers)
    return [ad.checkpoint(chain([next(layers) for _ in range(size)]))
            for size in sizes]


def kept(f, x):
    """Returns how many arrays like `x` the pullback of `f` keeps."""
    _, pullback = ad.vjp(f, x)
    return sum(np.size(r) for r in ad.tree_leaves(pullback)) / np.size(x)


def score(costs, sizes, x):
    """Returns how many arrays the way back needs, all in all."""
    layers = list(map(sines, costs))
    pieces = iter(layers)
    largest = max(kept(chain([next(pieces) for _ in range(size)]), x)
                  for size in sizes)
    return kept(chain(cut(layers, sizes)), x) + largest


def sizes(costs):
    """Returns how many layers each piece has.

    Args:
        costs: for each layer, how many arrays it keeps: a list of positive
            integers.
    """
    def greedy(limit):
        pieces, room = [], 0
        for cost in costs:
            if cost > room:     # a new piece
                pieces.append(0)
                room = limit
            pieces[-1] += 1
            room -= cost
        return pieces

    limits = range(max(costs, default=0), sum(costs) + 1)
    return greedy(min(limits, key=lambda n: len(greedy(n)) + n))
