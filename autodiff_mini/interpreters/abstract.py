"""Abstract evaluation: the type of a result, from the types of the operands.

Rules compute shapes.  NumPy determines the dtype, by computing once with
arrays of a single element.  Chapter 7.
"""

from functools import lru_cache, partial

import numpy as np

from autodiff_mini.core.errors import RuleTable
from autodiff_mini.core.trace import elementwise
from autodiff_mini.core.types import ShapedArray, array_type, typeof

rules = RuleTable(
    'Abstract evaluation rule', 'define abstract.rules[primitive]')


@lru_cache(maxsize=4096)
def elementwise_type(primitive, *avals):
    """Return the type of an element-wise result."""
    shape = broadcast_shape([aval.shape for aval in avals])
    # 1j + np.float64(1) is a Python number, but 1j + np.ones(2) isn't, so
    # each operand keeps its number of axes.
    kind = type_of_ones(primitive, avals)
    return (ShapedArray(shape, kind.dtype, True) if kind.weak_type
            else array_type(shape, kind.dtype))


def broadcast_shape(shapes) -> tuple:
    """Return the shape of the result, which can have up to 64 axes."""
    count = max(map(len, shapes))
    if count <= 32:     # the most that np.broadcast_shapes accepts
        return np.broadcast_shapes(*shapes)
    first = [(1,) * (count - len(shape)) + tuple(shape) for shape in shapes]
    half = [shape[:count // 2] for shape in first]
    rest = [shape[count // 2:] for shape in first]
    return broadcast_shape(half) + broadcast_shape(rest)


def ones(aval):
    """Return a 1 with the type's dtype and number of axes."""
    one = aval.dtype.type(1)
    return one.item() if aval.weak_type else np.full([1] * aval.ndim, one)[()]


def type_of_ones(primitive, avals, **params):
    """Return the type of the result that NumPy computes from ones."""
    with np.errstate(all='ignore'):
        return typeof(primitive.impl(*map(ones, avals), **params))


@elementwise.define
def defabstract(primitive):
    """Define the type of the result of an element-wise primitive."""
    rules[primitive] = partial(elementwise_type, primitive)


def defshape(primitive, shape_rule):
    """Define the shape of the result, by `shape_rule(*shapes, **params)`."""
    @lru_cache(maxsize=512)
    def rule(*avals, **params):
        kind = type_of_ones(primitive, avals, **params)
        shape = shape_rule(*[aval.shape for aval in avals], **params)
        return array_type(shape, kind.dtype)
    rules[primitive] = rule


def defview(primitive, shape_rule):
    """Define the shape of a result that only rearranges its operand."""
    rules[primitive] = lambda x, *arrays, **params: array_type(
        shape_rule(x.shape, *arrays, **params), x.dtype)
