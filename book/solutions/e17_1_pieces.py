"""For a given limit, the greedy cut is best, because no piece could begin
later. So try every limit, from the largest layer, which has to fit, to the
whole chain, and take the one with the smallest sum. If all layers cost 1,
that limit is about √n.

You can do better by cutting the pieces again, with a checkpoint inside a
checkpoint. Then each layer is computed a third time, and the memory is about
3 ∛n. With as many levels as you can halve the chain, it is about log n.
"""

import numpy as np

from autodiff_mini import draft as ad
from autodiff_mini.draft.jaxpr import Var
from autodiff_mini.draft.partial_eval import linearize_at


def sines(count):
    """Return a layer that keeps `count` arrays."""
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
    """Return a checkpoint for each piece of the chain."""
    layers = iter(layers)
    return [ad.checkpoint(chain([next(layers) for _ in range(size)]))
            for size in sizes]


def kept(f, x):
    """Return how many arrays like `x` the linear program of `f` keeps."""
    _, linear, _ = linearize_at(f, (x,))
    return sum(np.size(v) for eqn in linear.eqns for v in eqn.invars
               if type(v) is not Var) / np.size(x)


def score(costs, sizes, x):
    """Return how many arrays the reverse pass needs."""
    layers = list(map(sines, costs))
    pieces = iter(layers)
    largest = max(kept(chain([next(pieces) for _ in range(size)]), x)
                  for size in sizes)
    return kept(chain(cut(layers, sizes)), x) + largest


def sizes(costs):
    """Return how many layers each piece has.

    Args:
        costs: a list of positive integers, how many arrays each layer keeps.
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
