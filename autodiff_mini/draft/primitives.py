"""What NumPy's functions mean for a tracer.

Some functions are primitives as they are, some need their parameters put in
order first, and the rest are combinations of other functions.
"""

from operator import getitem

import numpy as np

from .core import Primitive, numpy_table


# 1g. Some functions are primitives as they are,
def primitive_for(function):
    """Return a new primitive for a NumPy function."""
    primitive = Primitive(function.__name__, function)
    numpy_table[function] = primitive.bind
    return primitive


elementwise = list(map(primitive_for, [
    np.negative, np.sin, np.cos, np.exp, np.log, np.tanh, np.add,
    np.subtract, np.multiply, np.divide, np.power, np.maximum, np.minimum,
    np.greater, np.not_equal, np.where]))
(neg_p, sin_p, cos_p, exp_p, log_p, tanh_p, add_p, sub_p, mul_p, div_p,
 pow_p, max_p, min_p, gt_p, ne_p, where_p) = elementwise


# 1h. some have parameters,
def scatter(x, index, shape):
    """Return zeros of a shape, with `x` written at an index."""
    out = np.zeros(shape, np.result_type(x))
    out[index] = x
    return out


index_p = Primitive('index', lambda x, index: x[index])
sum_p, reshape_p, transpose_p, broadcast_to_p, scatter_p, _ = structural = [
    *[Primitive(f.__name__, f) for f in (
        np.sum, np.reshape, np.transpose, np.broadcast_to, scatter)], index_p]


# 1i. which are put into a standard form before they reach the primitive,
def numpy_sum(x, axis=None):
    axes = range(np.ndim(x)) if axis is None else np.atleast_1d(axis)
    return sum_p.bind(x, axis=tuple(int(i) % np.ndim(x) for i in axes))


def numpy_index(x, index):
    """Index an array with integers, slices, None, and `...`."""
    index = index if isinstance(index, tuple) else (index,)
    for i in index:
        if not isinstance(i, (int, np.integer, slice, type(None), type(...))):
            raise TypeError('index a tracer with integers and slices, not '
                            f'with {type(i).__name__}')
    return index_p.bind(x, index=index)


# 1j. and some are combinations of others.
def matmul(x, y):
    """Multiply by a matrix or a vector: a sum of products."""
    if np.ndim(y) == 1:
        return np.sum(x * y, -1)
    _, _ = np.shape(y)      # rows and columns, and no third axis
    return np.sum(np.reshape(x, (*np.shape(x), 1)) * y, -2)


numpy_table.update({
    getitem: numpy_index, np.sum: numpy_sum, np.matmul: matmul,
    np.shape: lambda x: x.shape,
    np.ndim: lambda x: len(x.shape),
    np.reshape: lambda x, shape: reshape_p.bind(x, shape=shape),
    np.transpose: lambda x, axes: transpose_p.bind(x, axes=axes),
    np.broadcast_to: lambda x, shape: broadcast_to_p.bind(x, shape=shape),
    np.less: lambda x, y: np.greater(y, x),
    np.clip: lambda x, low, high: np.minimum(np.maximum(x, low), high)})
