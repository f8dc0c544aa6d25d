"""Systems of equations, determinants, and the Cholesky decomposition.

All functions work on stacks of matrices.  Chapter 30.
"""

import numpy as np

from autodiff_mini.core.trace import Primitive
from autodiff_mini.core.types import array_type, typeof
from autodiff_mini.core.zeros import Zero
from autodiff_mini.interpreters import abstract, jvp, vmap
from autodiff_mini.interpreters.abstract import defshape
from autodiff_mini.interpreters.jvp import defjvp
from autodiff_mini.interpreters.transpose import deftranspose
from autodiff_mini.interpreters.vmap import defelementwise
from autodiff_mini.numpy_functions.arguments import promote
from autodiff_mini.numpy_functions.table import implements, inexact
from autodiff_mini.wings.more_numpy.along_axis import same_shape


def stacked_matrices(a):
    """Return `a`, or raise if it is not a stack of matrices."""
    if a.ndim < 2:
        raise np.linalg.LinAlgError(
            f'{a.ndim}-dimensional array given. Array must be at least '
            'two-dimensional')
    return a


def square_matrices(a):
    """Return `a`, or raise if it is not a stack of square matrices."""
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

# A function of stacks of matrices broadcasts all axes before the last two.
defelementwise(solve_p)


def solve_shape(a, b):
    if a[-1] != b[-2]:
        raise ValueError(f'solve: a matrix of shape {a} does not fit a right '
                         f'side of shape {b}')
    return (*np.broadcast_shapes(a[:-2], b[:-2]), *b[-2:])


defshape(solve_p, solve_shape)
deftranspose(solve_p, None, lambda ct, a, b: np.linalg.solve(
    np.swapaxes(a, -2, -1), ct))

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


jvp.rules[slogdet_p] = slogdet_jvp
vmap.rules[slogdet_p] = lambda axis, vals, dims: (
    slogdet_p.bind(*vals), [0, 0])
abstract.rules[slogdet_p] = lambda a: [
    array_type(a.shape[:-2], typeof(x).dtype)
    for x in slogdet_p.impl(abstract.ones(a))]

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

    NumPy reads only the real part of a complex diagonal.
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
    """Return the cofactors, determinants with a row set to a unit vector."""
    size = a.shape[-1]
    unit = np.eye(size, dtype=a.dtype)[:, None, :]
    is_row = np.eye(size, dtype=bool)[:, None, :, None]
    return np.linalg.det(np.where(is_row, unit, a[..., None, None, :, :]))


defjvp(det_p, det_rule)
defelementwise(det_p)
defshape(det_p, lambda shape: shape[:-2])
