"""Batching: run a program once for a whole axis of arguments.

A tracer has the type of one element and carries all of them along a leading
axis.  Each primitive has a rule that handles this axis.  Chapter 3.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from autodiff_mini.core.errors import RuleTable
from autodiff_mini.core.lines import user_line
from autodiff_mini.core.memory import CLOSED_OVER, mark_as_arguments, to_read
from autodiff_mini.core.names import TraceTag
from autodiff_mini.core.trace import Trace, Tracer, current_trace, elementwise
from autodiff_mini.core.types import array_type, typeof


class Axis(NamedTuple):
    """The axis that one application of vmap maps over.

    The rule of a call primitive uses it to re-enter the application.
    """

    size: int
    tag: TraceTag


class Dim(Enum):
    """The dim of a value that all elements share, but not its derivatives.

    The value has the batch axis, as with dim 0.
    """

    SHARED = 'shared'


@dataclass(slots=True, eq=False, repr=False)
class BatchTracer(Tracer):
    """One element of a batch; `val` is the batch, with its axis in front.

    If `dim` is None, all elements are the same, and `val` is one of them.
    """

    _trace: Trace
    val: Any
    dim: int | Dim | None
    line: tuple | None = None

    @property
    def aval(self):
        aval = typeof(self.val)
        return (aval if self.dim is None else
                array_type(aval.shape[1:], aval.dtype))


class BatchTrace(Trace):
    """Compute all elements of an axis in one pass."""

    def __init__(self, parent, axis):
        super().__init__(parent, axis.tag)
        self.axis = axis
        self.has_shared = False

    def interpret(self, primitive, args, params):
        vals, dims = self.unpack(args)
        pack = self.pack
        if not primitive.is_call:
            if dims.count(None) == len(dims):
                return primitive.bind(*vals, **params)
            if self.has_shared:
                pack = self.pack if 0 in dims else self.pack_shared
                dims = plain_dims(dims)
        out, dim = rules[primitive](self.axis, vals, dims, **params)
        if primitive.multiple_results:
            return list(map(pack, out, dim))
        return pack(out, dim)

    def unpack(self, xs):
        """Return the values, and their dims: 0, None, or Dim.SHARED."""
        vals, dims = [], []
        for x in xs:
            mine = type(x) is BatchTracer and x._trace.tag is self.tag
            vals.append(x.val if mine else x)
            dims.append(x.dim if mine else None)
        return vals, dims

    def pack(self, val, dim):
        """Return a tracer, or the value itself if it is not mapped."""
        if dim is None:
            return val
        self.has_shared = self.has_shared or dim is Dim.SHARED
        return BatchTracer(self, val, dim)

    def pack_shared(self, val, dim):
        """Return what `pack` does for a result of shared values."""
        return self.pack(val, None if dim is None else Dim.SHARED)

    def box(self, x):
        (val,), (dim,) = self.unpack([x])
        return BatchTracer(self, val, dim, user_line(2))

    def lift(self, x):
        x = x.copy() if isinstance(x, np.ndarray) else x    # it may change
        return to_read(self.box(self.parent.lift(x)), CLOSED_OVER)


def plain_dims(dims) -> list:
    """Return the dims that a rule knows, which are 0 and None."""
    return [None if dim is None else 0 for dim in dims]


rules = RuleTable(
    'Batching rule', 'define vmap.rules[primitive]')


def vmap_flat(f, axis, vals, dims):
    """Return the outputs of `f`, and their dims: 0, Dim.SHARED, or None.

    Args:
        f: takes arrays, returns a list of them.
        axis: the axis of this application of vmap.
        vals: arrays, with the batch axis in front if they are mapped.
        dims: for each of them 0, or None if it is not mapped.
    """
    with BatchTrace(current_trace(), axis) as trace:
        xs = map(trace.pack, vals, dims)
        outs = f(*mark_as_arguments(trace, xs))
        return trace.unpack(outs)


@elementwise.define
def defelementwise(primitive):
    """Define the rule of an element-wise primitive."""
    def rule(axis, vals, dims, **params):
        return primitive.bind(*align(vals, dims), **params), 0
    rules[primitive] = rule


def align(vals, dims):
    """Reshape the operands so that they broadcast as their elements do.

    NumPy aligns shapes at the end, so a shorter operand gets axes of length 1
    after its batch axis.
    """
    ranks = [len(typeof(x).shape) - (dim is not None)
             for x, dim in zip(vals, dims)]
    return [x if dim is None or rank == max(ranks)
            else lengthen(x, max(ranks) - rank)
            for x, dim, rank in zip(vals, dims, ranks)]


def lengthen(x, count):
    """Return `x` with `count` axes of length 1 after the first."""
    return np.reshape(x, (x.shape[0], *[1] * count, *x.shape[1:]))


def behind(axes):
    """Return the axes of the batch for these axes of an element."""
    return tuple(axis + 1 for axis in axes)


def spread(x, dim, size):
    """Return `x` with a batch axis, broadcast if it had none."""
    return x if dim is not None else np.broadcast_to(x, (size, *np.shape(x)))
