"""Residual golf: where to cut a chain.

In the chapter all layers were alike, and ten pieces of ten layers were best.
Now they differ, and a layer of cost 3 keeps three arrays. Cut the chain into
pieces. The reverse pass needs one array for each piece, because a piece keeps
its argument, and it needs what the largest piece keeps while it runs again.
Here is the sum, and par:

| costs                 | one piece | ten pieces of ten layers | par |
|-----------------------|-----------|--------------------------|-----|
| 100 ones              | 101       | 20                       | 20  |
| 90 ones, then 10 tens | 191       | 110                      | 29  |
| 1, 2, 3 … 10, 1, 2 …  | 551       | 65                       | 48  |

Write `sizes(costs)`, which returns how many layers each piece has. Find the
best sizes for *any* list of costs, and fast enough for a hundred layers. A
chain without layers has no pieces.
"""

import numpy as np

from autodiff_mini import draft as ad
from autodiff_mini.draft.jaxpr import Var
from autodiff_mini.draft.partial_eval import linearize_at

HINTS = (
    'There are 2**99 ways to cut a hundred layers, so you cannot try them '
    'all. Suppose you know how much the largest piece may keep. How do you '
    'cut the chain into as few pieces as possible?',
    'Walk along the layers and begin a new piece when the next layer would '
    'be too much. How many limits are there for the largest piece? Few '
    'enough to try them all.',
)


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
    raise NotImplementedError('exercise e17_1: cut the chain here')
