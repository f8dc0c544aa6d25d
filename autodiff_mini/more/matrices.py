"""Determinants, and the Cholesky decomposition, of stacks of matrices.

Chapter 25.
"""

import numpy as np

from autodiff_mini.core import Primitive
from autodiff_mini.interpreters.abstract import defshape
from autodiff_mini.interpreters.jvp import defjvp
from autodiff_mini.interpreters.vmap import defelementwise
from autodiff_mini.numpy_api import implements, inexact
from autodiff_mini.primitives.linalg import square_matrices
from autodiff_mini.primitives.reductions import same_shape

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
    """Return the determinants of `a` with a unit vector for each row."""
    size = a.shape[-1]
    unit = np.eye(size, dtype=a.dtype)[:, None, :]
    is_row = np.eye(size, dtype=bool)[:, None, :, None]
    return np.linalg.det(np.where(is_row, unit, a[..., None, None, :, :]))


defjvp(det_p, det_rule)
defelementwise(det_p)
defshape(det_p, lambda shape: shape[:-2])
