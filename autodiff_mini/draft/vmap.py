"""Vectorization: compute all elements of a batch at once."""

from functools import partial
from typing import NamedTuple

import numpy as np

from .core import ShapedArray, Table, Trace, Tracer, current_trace, typeof
from .primitives import (
    broadcast_to_p, elementwise, index_p, reshape_p, scatter_p, sum_p,
    transpose_p)
from .trees import tree_leaves, tree_map


# 3a. A tracer shows one element and carries them all.
class Axis(NamedTuple):
    """The batch of one application of `vmap`, which is also its tag."""
    size: int


def row_type(x):
    """Return the type of `x[i]`."""
    return ShapedArray(np.shape(x)[1:], typeof(x).dtype)


def rows_type(x, size):
    """Return the type of a batch of values like `x`."""
    return ShapedArray((size, *typeof(x).shape), typeof(x).dtype)


# 3b. The interpreter.
class BatchTrace(Trace):
    """Compute all elements at once, along a first axis."""

    def process_primitive(self, primitive, args, params):
        with self.parent:
            if not primitive.is_call and not any(map(self.owns, args)):
                return primitive.bind(*args, **params)
            rule = vmap_rules[primitive]
            out = rule(self.tag, *map(self.val, args), **params)
        return tree_map(self.pack, out)

    def val(self, x):
        """Return all elements of `x`, equal ones if it isn't batched."""
        if self.owns(x):
            return x.val
        return np.broadcast_to(x, (self.tag.size, *np.shape(x)))

    def pack(self, val):
        return Tracer(self, row_type(val), val=val)


# 3d. For users.
def vmap_with(axis, f):
    """Vectorize `f` within an existing batch."""
    def mapped(*args):
        with BatchTrace(current_trace(), axis) as trace:
            out = f(*tree_map(trace.pack, args))
        return tree_map(trace.val, out)
    return mapped


def vmap(f):
    """Vectorize `f` over the first axis of all its arguments."""
    def mapped(*args):
        size = common_length('vmap', map(len, tree_leaves(args)))
        return vmap_with(Axis(size), f)(*args)
    return mapped


def common_length(what, lengths):
    """Return the one length in a list; ignore None."""
    lengths = set(lengths) - {None}
    if len(lengths) != 1:
        raise TypeError(f'{what}: expected one length, got {sorted(lengths)}')
    return lengths.pop()


# 3e. Elementwise operations align their operands.
vmap_rules = Table()


def aligned(primitive, axis, *vals, **params):
    """Apply an operation; NumPy broadcasts from the last axis backwards."""
    rank = max(map(np.ndim, vals))
    return primitive.bind(*[lengthen(x, rank) for x in vals], **params)


def lengthen(x, rank):
    """Insert axes of length 1 behind the first axis."""
    if np.ndim(x) == rank:
        return x
    size, *shape = np.shape(x)
    ones = [1] * (rank - np.ndim(x))
    return np.reshape(x, (size, *ones, *shape))


for primitive in elementwise:
    vmap_rules[primitive] = partial(aligned, primitive)


# 3f. Operations on shapes leave the first axis alone.
vmap_rules.update({
    sum_p: lambda batch, x, axis: np.sum(x, tuple(i + 1 for i in axis)),
    reshape_p: lambda batch, x, shape: np.reshape(x, (batch.size, *shape)),
    transpose_p: lambda batch, x, axes: np.transpose(
        x, (0, *[i + 1 for i in axes])),
    broadcast_to_p: lambda batch, x, shape: np.broadcast_to(
        lengthen(x, 1 + len(shape)), (batch.size, *shape)),
    index_p: lambda batch, x, index: x[(slice(None), *index)],
    scatter_p: lambda batch, x, index, shape: scatter_p.bind(
        x, index=(slice(None), *index), shape=(batch.size, *shape))})
