"""Rows don't depend on each other, so only the order of the memory accesses
changes. There's no temporary table at all. Each step writes into a block of
the result, which is still in the cache.

This is what a block of the plan looks like. The compiler doesn't go as far as
you did. Its blocks are element-wise and end where something is summed,
because it doesn't ask along which axis. If it knew about rows, it could.
"""

import math
import tracemalloc

import numpy as np



def plain(x):
    """Return the softmax over the last axis, with three temporary tables."""
    powers = np.exp(x - np.max(x, -1, keepdims=True))
    return powers / np.sum(powers, -1, keepdims=True)


def most_in_passing(f, *args):
    """Return how many numbers were kept at most, besides the result."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        out = f(*args)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return (peak - before - out.nbytes) // out.itemsize


def softmax(x, block):
    """Return the softmax over the last axis, computed in blocks.

    Args:
        x: an array of floats, with at least two axes.
        block: how many numbers a block has at most, but it always has at
            least one element of the first axis.
    """
    out = np.empty_like(x)
    count = max(1, block // max(1, math.prod(x.shape[1:])))
    for start in range(0, len(x), count):
        rows, piece = x[start:start + count], out[start:start + count]
        np.subtract(rows, np.max(rows, -1, keepdims=True), piece)
        np.exp(piece, piece)
        piece /= np.sum(piece, -1, keepdims=True)
    return out
