"""Linear algebra: products of matrices, and of stacks of matrices."""

import math
import operator

import numpy as np

from autodiff_mini.core.trace import Primitive
from autodiff_mini.interpreters import (
    abstract, jvp, lowering, transpose, vmap)
from autodiff_mini.numpy_functions.table import operator_ufunc

matmul_p = Primitive('matmul', operator.matmul)
operator_ufunc(np.matmul, matmul_p, 'matmul')
jvp.defjvp(matmul_p, lambda x_dot, z, x, y: x_dot @ y,
                     lambda y_dot, z, x, y: x @ y_dot)


def matmul_rule(axis, vals, dims):
    x, y = vals
    counts = [np.ndim(a) - (dim is not None) for a, dim in zip(vals, dims)]
    if 0 in counts:     # NumPy raises an error
        return operator.matmul(*[np.ones([1] * count) for count in counts])
    if dims[1] is None and np.ndim(y) <= 2:
        return x @ y, 0      # one large product, not many small ones
    row, column = [count == 1 for count in counts]
    if row:
        x = np.reshape(x, (*x.shape[:-1], 1, x.shape[-1]))
    if column:
        y = np.reshape(y, (*y.shape, 1))
    z = np.matmul(*vmap.align([x, y], dims))
    *batch, m, n = z.shape
    return np.reshape(z, (*batch, *[m] * (not row), *[n] * (not column))), 0


vmap.rules[matmul_p] = matmul_rule


def matmul_shape(x, y):
    """Return the shape of a product; a vector is a row or a column."""
    left = x if len(x) > 1 else (1, *x)
    right = y if len(y) > 1 else (*y, 1)
    if left[-1] != right[-2]:
        raise ValueError(f'matmul: shapes {x} and {y} do not fit: '
                         f'{left[-1]} is not {right[-2]}')
    batch = np.broadcast_shapes(left[:-2], right[:-2])
    return (*batch, *x[-2:-1], *(right[-1:] if len(y) > 1 else ()))


abstract.defshape(matmul_p, matmul_shape)


def matmul_left(ct, x, y):
    """Return `ct @ y.T`; `x` can be a row vector, and `y` a column vector."""
    row, column = len(x.shape) == 1, np.ndim(y) == 1
    if row and column:
        return ct * y
    if column:
        y, ct = np.expand_dims(y, -1), np.expand_dims(ct, -1)
    if row:
        ct = np.expand_dims(ct, -2)
    x_bar = ct @ np.swapaxes(y, -2, -1)
    return np.squeeze(x_bar, -2) if row else x_bar


def matmul_right(ct, x, y):
    """Return `x.T @ ct`; `x` can be a row vector, and `y` a column vector."""
    if len(y.shape) > 2:
        if np.ndim(x) == 1:
            x, ct = np.expand_dims(x, -2), np.expand_dims(ct, -2)
        return np.swapaxes(x, -2, -1) @ ct
    if np.ndim(x) == len(y.shape) == 1:
        return ct * x
    # One large product is faster than a sum of many small ones.
    count = math.prod(np.shape(x)[:-1])
    x = np.reshape(x, (count, y.shape[0]))
    ct = np.reshape(ct, (count, *y.shape[1:]))
    return np.transpose(x) @ ct


transpose.deftranspose(matmul_p, matmul_left, matmul_right)
lowering.defwritten(matmul_p, '{} @ {}')
