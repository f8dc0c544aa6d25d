"""What NumPy's functions mean for a tracer.

Some functions are primitives as they are, some need their parameters put in
order first, and the rest are combinations of other functions.
"""

from math import prod
from operator import getitem

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from .core import Primitive, numpy_table


# 1g. Some functions are primitives as they are: of one number,
def primitive_for(function):
    """Return a new primitive for a NumPy function."""
    primitive = Primitive(function.__name__, function)
    numpy_table[function] = primitive.bind
    return primitive


neg_p = primitive_for(np.negative)
sin_p = primitive_for(np.sin)
cos_p = primitive_for(np.cos)
exp_p = primitive_for(np.exp)
log_p = primitive_for(np.log)
sqrt_p = primitive_for(np.sqrt)
tanh_p = primitive_for(np.tanh)

# 1h. and of two or three.
add_p = primitive_for(np.add)
sub_p = primitive_for(np.subtract)
mul_p = primitive_for(np.multiply)
div_p = primitive_for(np.divide)
pow_p = primitive_for(np.power)
max_p = primitive_for(np.maximum)
min_p = primitive_for(np.minimum)
gt_p = primitive_for(np.greater)
ne_p = primitive_for(np.not_equal)
where_p = primitive_for(np.where)

elementwise = [neg_p, sin_p, cos_p, exp_p, log_p, sqrt_p, tanh_p, add_p,
               sub_p, mul_p, div_p, pow_p, max_p, min_p, gt_p, ne_p, where_p]

# 1i. Others are combinations of primitives.
numpy_table[np.less] = lambda x, y: np.greater(y, x)
numpy_table[np.abs] = lambda x: np.maximum(x, -x)
numpy_table[np.clip] = lambda x, low, high: np.minimum(
    np.maximum(x, low), high)

# 1k. Operations on shapes have parameters.
sum_p = Primitive('sum', np.sum)
reshape_p = Primitive('reshape', np.reshape)
transpose_p = Primitive('transpose', np.transpose)
broadcast_to_p = Primitive('broadcast_to', np.broadcast_to)
index_p = Primitive('index', lambda x, index: x[index])


# 1l. The partner of an index.
def scatter(x, index, shape):
    """Return zeros of a shape, with `x` written at an index."""
    out = np.zeros(shape, np.result_type(x))
    out[index] = x
    return out


scatter_p = Primitive('scatter', scatter)

structural = [sum_p, reshape_p, transpose_p, broadcast_to_p, index_p,
              scatter_p]


# 1m. Parameters get a standard form before they reach the primitive.
def numpy_sum(x, axis=None):
    """Sum an array over one axis, over several, or over all of them."""
    axes = range(np.ndim(x)) if axis is None else axis
    return sum_p.bind(x, axis=normalize_axis_tuple(axes, np.ndim(x)))


def numpy_index(x, index):
    """Index an array with integers, slices, None, and `...`."""
    index = index if isinstance(index, tuple) else (index,)
    for i in index:
        if not isinstance(i, (int, np.integer, slice, type(None), type(...))):
            raise TypeError('index a tracer with integers and slices, not '
                            f'with {type(i).__name__}')
    return index_p.bind(x, index=index)


# 1n. Two more combinations.
def matmul(x, y):
    """Multiply by a matrix or a vector: a sum of products."""
    if np.ndim(y) not in (1, 2) or np.shape(x)[-1:] != np.shape(y)[:1]:
        raise TypeError('matmul: cannot multiply an array of shape '
                        f'{np.shape(x)} by one of shape {np.shape(y)}')
    if np.ndim(y) == 1:
        return np.sum(x * y, -1)
    column = np.reshape(x, (*np.shape(x), 1))
    return np.sum(column * y, -2)       # each number of x times a row of y


def mean(x, axis=None):
    """Divide a sum by the number of its terms."""
    total = np.sum(x, axis)
    terms = prod(np.shape(x)) // prod(np.shape(total))
    return total / terms


# 1o. The rest of the table.
numpy_table.update({
    getitem: numpy_index, np.sum: numpy_sum,
    np.mean: mean, np.matmul: matmul, np.dot: matmul,
    np.shape: lambda x: x.shape,
    np.ndim: lambda x: len(x.shape),
    np.reshape: lambda x, shape: reshape_p.bind(x, shape=shape),
    np.transpose: lambda x, axes: transpose_p.bind(x, axes=axes),
    np.broadcast_to: lambda x, shape: broadcast_to_p.bind(x, shape=shape)})
