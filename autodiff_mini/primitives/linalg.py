"""Linear algebra: products of matrices, and what undoes them.

All of it works on stacks of matrices.
"""

import math
import operator

import numpy as np

from autodiff_mini.core import Primitive, array_type, typeof
from autodiff_mini.interpreters.abstract import abstract_rules, defshape, ones
from autodiff_mini.interpreters.jvp import defjvp, jvp_rules
from autodiff_mini.interpreters.lowering import defwritten
from autodiff_mini.interpreters.transpose import deftranspose
from autodiff_mini.interpreters.vmap import align, defelementwise, vmap_rules
from autodiff_mini.numpy_api import (
    implements, inexact, operator_ufunc, promote)
from autodiff_mini.primitives.reductions import same_shape
from autodiff_mini.zeros import Zero

matmul_p = Primitive('matmul', operator.matmul)
operator_ufunc(np.matmul, matmul_p, '__matmul__', '__rmatmul__')
defjvp(matmul_p, lambda x_dot, z, x, y: x_dot @ y,
                 lambda y_dot, z, x, y: x @ y_dot)


def matmul_rule(axis, vals, dims):
    x, y = vals
    if dims[1] is None and np.ndim(y) <= 2:
        return x @ y, 0      # one large product, in place of many small
    row = x.ndim - (dims[0] is not None) == 1
    column = y.ndim - (dims[1] is not None) == 1
    if row:
        x = np.reshape(x, (*x.shape[:-1], 1, x.shape[-1]))
    if column:
        y = np.reshape(y, (*y.shape, 1))
    z = np.matmul(*align([x, y], dims))
    shape = list(z.shape)
    if column:
        del shape[-1]
    if row:
        del shape[-2 + column]
    return np.reshape(z, shape), 0


vmap_rules[matmul_p] = matmul_rule


def matmul_shape(x, y):
    """Returns the shape of a product; a vector is a row, or a column."""
    left = x if len(x) > 1 else (1, *x)
    right = y if len(y) > 1 else (*y, 1)
    if left[-1] != right[-2]:
        raise ValueError(f'matmul: shapes {x} and {y} do not fit: '
                         f'{left[-1]} is not {right[-2]}')
    batch = np.broadcast_shapes(left[:-2], right[:-2])
    return (*batch, *x[-2:-1], *(right[-1:] if len(y) > 1 else ()))


defshape(matmul_p, matmul_shape)


def matmul_left(ct, x, y):
    """Returns `ct @ y.T`; a vector is a row on the left, or a column."""
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
    """Returns `x.T @ ct`; a vector is a row on the left, or a column."""
    if len(y.shape) > 2:
        if np.ndim(x) == 1:
            x, ct = np.expand_dims(x, -2), np.expand_dims(ct, -2)
        return np.swapaxes(x, -2, -1) @ ct
    if np.ndim(x) == len(y.shape) == 1:
        return ct * x
    # One large product, in place of many small ones that are added.
    count = math.prod(np.shape(x)[:-1])
    x = np.reshape(x, (count, y.shape[0]))
    ct = np.reshape(ct, (count, *y.shape[1:]))
    return np.transpose(x) @ ct


deftranspose(matmul_p, matmul_left, matmul_right)
defwritten(matmul_p, '{} @ {}')


def stacked_matrices(a):
    """Returns `a`; raises if it is no stack of matrices."""
    if a.ndim < 2:
        raise np.linalg.LinAlgError(
            f'{a.ndim}-dimensional array given. Array must be at least '
            'two-dimensional')
    return a


def square_matrices(a):
    """Returns `a`; raises if it is no stack of square matrices."""
    if stacked_matrices(a).shape[-1] != a.shape[-2]:
        raise np.linalg.LinAlgError(
            'Last 2 dimensions of the array must be square')
    return a


solve_p = Primitive('solve', np.linalg.solve)


@implements(np.linalg.solve)
def linalg_solve(a, b):
    a, b = promote(square_matrices(inexact(a)), inexact(b))
    if b.ndim == 1:
        return solve_p.bind(a, b[:, None])[..., 0]
    return solve_p.bind(a, b)


defjvp(solve_p,
       lambda a_dot, x, a, b: -np.linalg.solve(a, a_dot @ x),
       lambda b_dot, x, a, b: np.linalg.solve(a, b_dot))

# What works on stacks of matrices broadcasts all axes before the last two.
defelementwise(solve_p)


def solve_shape(a, b):
    if a[-1] != b[-2]:
        raise ValueError(f'solve: a matrix of shape {a} does not fit a right '
                         f'side of shape {b}')
    return (*np.broadcast_shapes(a[:-2], b[:-2]), *b[-2:])


defshape(solve_p, solve_shape)
deftranspose(solve_p, None, lambda ct, a, b: np.linalg.solve(
    np.swapaxes(a, -2, -1), ct))

cholesky_p = Primitive('cholesky', np.linalg.cholesky)


@implements(np.linalg.cholesky)
def linalg_cholesky(a, /, *, upper=False):
    a = square_matrices(inexact(a))
    if upper:
        return hermitian_transpose(cholesky_p.bind(hermitian_transpose(a)))
    return cholesky_p.bind(a)


def hermitian_transpose(a):
    return np.conj(np.matrix_transpose(a))


def lower_half(a):
    """Return the lower triangle of `a`, with half of its diagonal."""
    return np.tril(a) * (1 - np.eye(a.shape[-1], dtype=a.dtype) / 2)


def mirrored(a, UPLO='L'):
    """Return the Hermitian matrices that NumPy reads from one triangle.

    Of a complex diagonal, it reads the real part.
    """
    half = lower_half(a if UPLO == 'L' else hermitian_transpose(a))
    return half + hermitian_transpose(half)


def cholesky_rule(a_dot, y, a):
    half = np.linalg.solve(y, mirrored(a_dot))
    middle = np.linalg.solve(y, hermitian_transpose(half))
    return y @ lower_half(middle)


defjvp(cholesky_p, cholesky_rule)
defelementwise(cholesky_p)
defshape(cholesky_p, same_shape)

det_p = Primitive('det', np.linalg.det)


@implements(np.linalg.det)
def linalg_det(a):
    return det_p.bind(square_matrices(inexact(a)))


def det_rule(a_dot, y, a):
    return np.sum(a_dot * cofactors(a), (-2, -1))


def cofactors(a):
    """Returns the determinants of `a` with a unit vector for each row."""
    size = a.shape[-1]
    unit = np.eye(size, dtype=a.dtype)[:, None, :]
    is_row = np.eye(size, dtype=bool)[:, None, :, None]
    return np.linalg.det(np.where(is_row, unit, a[..., None, None, :, :]))


defjvp(det_p, det_rule)
defelementwise(det_p)
defshape(det_p, lambda shape: shape[:-2])

slogdet_p = Primitive('slogdet', np.linalg.slogdet, multiple_results=True)

SlogdetResult = type(np.linalg.slogdet(np.eye(1)))


@implements(np.linalg.slogdet)
def linalg_slogdet(a):
    return SlogdetResult(*slogdet_p.bind(square_matrices(inexact(a))))


def slogdet_jvp(primals, tangents):
    (a,), (a_dot,) = primals, tangents
    sign, logdet = slogdet_p.bind(a)
    dot = np.trace(np.linalg.solve(a, a_dot), axis1=-2, axis2=-1)
    if typeof(sign).dtype.kind != 'c':
        return [sign, logdet], [Zero(sign), dot]
    return [sign, logdet], [1j * np.imag(dot) * sign, np.real(dot)]


jvp_rules[slogdet_p] = slogdet_jvp
vmap_rules[slogdet_p] = lambda axis, vals, dims: (
    slogdet_p.bind(*vals), [0, 0])


def slogdet_types(a):
    types = map(typeof, slogdet_p.impl(ones(a, a.ndim)))
    return [array_type(a.shape[:-2], t.dtype) for t in types]


abstract_rules[slogdet_p] = slogdet_types
