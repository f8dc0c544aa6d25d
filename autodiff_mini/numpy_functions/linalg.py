"""Linear algebra that is made of primitives.

Chapter 25.
"""

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from autodiff_mini.numpy_api import implements, inexact
from autodiff_mini.primitives.elementwise import length_p
from autodiff_mini.primitives.linalg import solve_p, square_matrices


@implements(np.linalg.inv)
def linalg_inv(a):
    a = square_matrices(inexact(a))
    return solve_p.bind(a, np.eye(a.shape[-1], dtype=a.dtype))


@implements(np.linalg.norm)
def linalg_norm(x, ord=None, axis=None, keepdims=False):
    x = inexact(x)
    axes = range(x.ndim) if axis is None else axis
    axes = normalize_axis_tuple(axes, x.ndim)
    if ord is None or (ord == 2 and len(axes) == 1) or (
            ord in ('fro', 'f') and len(axes) == 2):
        squares = np.square(np.real(x))
        if x.dtype.kind == 'c':
            squares = squares + np.square(np.imag(x))
        return length_p.bind(np.sum(squares, axes, keepdims=keepdims))
    if len(axes) == 1:
        return vector_norm(x, ord, axes, keepdims)
    if len(axes) != 2:
        raise ValueError('Improper number of dimensions to norm.')
    if ord in (2, -2, 'nuc'):   # of singular values
        norm = np.linalg.matrix_norm(np.moveaxis(x, axes, (-2, -1)), ord=ord)
        return np.expand_dims(norm, axes) if keepdims else norm
    if ord not in (1, -1, np.inf, -np.inf):
        raise ValueError('Invalid norm order for matrices.')
    summed, sought = axes if abs(ord) == 1 else axes[::-1]
    sums = np.sum(np.abs(x), summed, keepdims=True)
    norm = (np.max if ord > 0 else np.min)(sums, sought, keepdims=True)
    return norm if keepdims else np.squeeze(norm, axes)


def vector_norm(x, ord, axes, keepdims):
    """Returns the norm over one axis, of an order other than 2."""
    if ord in (np.inf, -np.inf):
        extremum = np.max if ord > 0 else np.min
        return extremum(np.abs(x), axes, keepdims=keepdims)
    if ord == 0:
        return np.sum(np.not_equal(x, 0), axes, np.real(x).dtype,
                      keepdims=keepdims)
    if ord == 1:
        return np.sum(np.abs(x), axes, keepdims=keepdims)
    if isinstance(ord, str):
        raise ValueError(f'Invalid norm order {ord!r} for vectors')
    powers = np.sum(np.abs(x) ** ord, axes, keepdims=keepdims)
    is_zero = np.equal(powers, 0)   # the tip of a cone
    return np.where(is_zero, 0, np.where(is_zero, 1, powers) ** (1 / ord))
