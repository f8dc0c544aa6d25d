"""Residual golf: where to cut.

In the chapter, all layers were alike, and ten pieces of ten were best. Now
they are not: a layer of cost 3 keeps three arrays. Cut the chain into pieces.
The way back needs, all in all, an array for each piece, since each remembers
its argument, and what the largest piece keeps while it is run again. Here is
how many that is, and par:

| costs                 | one piece | ten pieces of ten layers | par |
|-----------------------|-----------|--------------------------|-----|
| 100 ones              | 101       | 20                       | 20  |
| 90 ones, then 10 tens | 191       | 110                      | 29  |
| 1, 2, 3 … 10, 1, 2 …  | 551       | 65                       | 48  |

Write `sizes(costs)`, which returns how many layers each piece has. It has to
be as good as possible for *any* list of costs, and fast enough for a hundred
layers. Without layers there are no pieces.
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    'There are 2**99 ways to cut a hundred layers, so do not try all of '
    'them. Suppose that somebody tells you how much the largest piece may '
    'keep. How do you cut then, with as few pieces as possible?',
    'Go along the layers and begin a new piece only when the next layer '
    'would be too much. And which numbers may the largest piece keep? There '
    'are not so many, so try them all.',
)


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
    raise NotImplementedError('exercise e19_1: cut the chain here')
