"""Linear algebra composed of primitives: fits, ranks, norms, products.

NumPy computes these from a decomposition or by a chain of products.  Doing
the same here needs no rules.  Chapter 30.
"""

import math
import operator
from functools import lru_cache

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from autodiff_mini.core.memory import as_new_array
from autodiff_mini.core.types import convert
from autodiff_mini.numpy_functions.arguments import promote
from autodiff_mini.numpy_functions.table import asarray, implements, inexact
from autodiff_mini.primitives.elementwise import stop_gradient
from autodiff_mini.wings.more_numpy.matrices import solve_p, square_matrices
from autodiff_mini.wings.more_numpy.statistics import (
    norm_sqrt_p, squared_size)


@implements(np.linalg.lstsq)
def linalg_lstsq(a, b, rcond=None):
    """Return a solution, residuals, the rank, and the singular values.

    NumPy returns no residuals if the columns happen to be dependent.  Here
    their shape cannot depend on values, so only `m <= n` returns none.
    """
    a, b = promote(inexact(a), inexact(b))
    matrix = b[:, None] if b.ndim == 1 else b
    check_matrices(a, matrix)
    if a.shape[0] != matrix.shape[0]:
        raise np.linalg.LinAlgError('Incompatible dimensions')
    s, real = np.linalg.svdvals(a), np.real(a).dtype
    rcond = least_squares_cutoff(rcond, a.shape)
    # NumPy computes in double precision.
    double = np.result_type(a.dtype, np.float64)
    wide, sides = convert(a, double), convert(matrix, double)
    x = np.linalg.pinv(wide, rcond) @ sides
    rest = sides - wide @ x
    residuals = np.sum(np.real(np.conj(rest) * rest), 0)
    if a.shape[0] <= a.shape[1]:
        residuals = residuals[:0]
    rank = np.sum(s > rcond * s[:1], dtype=np.intc)
    x = convert(x, a.dtype)
    return (np.reshape(x, -1) if b.ndim == 1 else x,
            convert(residuals, real), rank, s)


def check_matrices(*arrays):
    """Raise if one of them is not a matrix."""
    for a in arrays:
        if a.ndim != 2:
            raise np.linalg.LinAlgError(
                f'{a.ndim}-dimensional array given. Array must be '
                'two-dimensional')


def least_squares_cutoff(rcond, shape):
    """Return the relative size of singular values that count as zero."""
    eps = np.finfo(np.float64).eps
    if rcond is None:
        return eps * max(shape)
    rcond = asarray(rcond)
    # LAPACK replaces an invalid cutoff by its own epsilon.
    return np.where((rcond <= 0) | (rcond >= 1), eps / 2, rcond)


@implements(np.linalg.matrix_rank)
def linalg_matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    if rtol is not None and tol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    a = asarray(A)
    if a.ndim < 2:  # the rank is a Python integer
        return convert(np.any(a != 0), np.dtype(int), weak_type=True)
    s = np.linalg.svd(a, compute_uv=False, hermitian=hermitian)
    if tol is not None:
        cutoff = asarray(tol)[..., None]
    elif rtol is not None:
        cutoff = s[..., :1] * asarray(rtol)[..., None]
    else:
        cutoff = s[..., :1] * (max(a.shape[-2:]) * np.finfo(s.dtype).eps)
    return np.count_nonzero(s > cutoff, -1)


@implements(np.linalg.cond)
def linalg_cond(x, p=None):
    x = inexact(x)
    if 0 in x.shape[-2:]:
        raise np.linalg.LinAlgError('cond is not defined on empty arrays')
    with np.errstate(all='ignore'):
        if p is None or p in (2, -2):
            least, most = (np.linalg.matrix_norm(x, ord=p) for p in (-2, 2))
            ratio = least / most if p == -2 else most / least
        else:
            ratio = condition_by_inverse(square_matrices(x), p)
    has_nan = np.any(np.isnan(x), (-2, -1))
    return np.where(np.isnan(ratio) & ~has_nan, np.inf, ratio)


def condition_by_inverse(x, p):
    """Return the norm of `x` times its inverse's; NaN if `x` is singular."""
    sign, _ = np.linalg.slogdet(stop_gradient(x))
    singular = np.equal(sign, 0)
    eye = np.eye(x.shape[-1], dtype=x.dtype)
    inverse = np.linalg.inv(np.where(singular[..., None, None], eye, x))
    product = (np.linalg.norm(x, p, (-2, -1))
               * np.linalg.norm(inverse, p, (-2, -1)))
    return np.where(singular, np.nan, product)


@implements(np.linalg.multi_dot)
def linalg_multi_dot(arrays, *, out=None):
    arrays = list(map(asarray, arrays))
    if len(arrays) < 2:
        raise ValueError('Expecting at least two arrays.')
    if len(arrays) == 2:
        return np.dot(*arrays)
    row, column = arrays[0].ndim == 1, arrays[-1].ndim == 1
    if row:
        arrays[0] = arrays[0][None]
    if column:
        arrays[-1] = arrays[-1][:, None]
    check_matrices(*arrays)
    product = cheapest_product(arrays)
    if row and column:
        return product[0, 0]
    return np.ravel(product) if row or column else product


def cheapest_product(matrices):
    """Return the product of matrices, in the order of least cost."""
    if len(matrices) == 1:
        return matrices[0]
    sizes = (*[a.shape[0] for a in matrices], matrices[-1].shape[1])
    _, cut = cheapest_cut(sizes)
    return np.dot(cheapest_product(matrices[:cut]),
                  cheapest_product(matrices[cut:]))


@lru_cache
def cheapest_cut(sizes):
    """Return the least cost of a product, and where to cut it in two.

    The matrices have the shapes `sizes[:2]`, `sizes[1:3]`, and so on.
    """
    if len(sizes) == 2:
        return 0, None
    def cost(cut):
        parts = cheapest_cut(sizes[:cut + 1]), cheapest_cut(sizes[cut:])
        return (parts[0][0] + parts[1][0]
                + sizes[0] * sizes[cut] * sizes[-1])
    return min((cost(cut), cut) for cut in range(1, len(sizes) - 1))


@implements(np.linalg.tensorsolve, as_new_array)
def linalg_tensorsolve(a, b, axes=None):
    a, b = asarray(a), asarray(b)
    order = list(range(a.ndim))
    for axis in axes or ():
        order.remove(axis)
        order.insert(a.ndim, axis)
    a = np.transpose(a, order)
    shape = a.shape[-(a.ndim - b.ndim):]
    size = math.prod(shape)
    if math.prod(a.shape) != size ** 2:
        raise np.linalg.LinAlgError(
            'Input arrays must satisfy the requirement '
            'prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])')
    x = np.linalg.solve(np.reshape(a, (size, size)), np.ravel(b))
    return np.reshape(x, shape)


@implements(np.linalg.vecdot)
def linalg_vecdot(x1, x2, /, *, axis=-1):
    return np.vecdot(*(np.moveaxis(asarray(a), axis, -1) for a in (x1, x2)))


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
        return norm_sqrt_p.bind(
            np.sum(squared_size(x), axes, keepdims=keepdims))
    if len(axes) == 1:
        return vector_norm(x, ord, axes, keepdims)
    if len(axes) != 2:
        raise ValueError('Improper number of dimensions to norm.')
    if ord in (2, -2, 'nuc'):   # computed from singular values
        norm = np.linalg.matrix_norm(np.moveaxis(x, axes, (-2, -1)), ord=ord)
        return np.expand_dims(norm, axes) if keepdims else norm
    if ord not in (1, -1, np.inf, -np.inf):
        raise ValueError('Invalid norm order for matrices.')
    summed, sought = axes if abs(ord) == 1 else axes[::-1]
    sums = np.sum(np.abs(x), summed, keepdims=True)
    norm = (np.max if ord > 0 else np.min)(sums, sought, keepdims=True)
    return norm if keepdims else np.squeeze(norm, axes)


def vector_norm(x, ord, axes, keepdims):
    """Return the norm over one axis, of an order other than 2."""
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


@implements(np.linalg.matrix_power)
def linalg_matrix_power(a, n):
    a, n = square_matrices(asarray(a)), operator.index(n)
    if n == 0:
        return np.zeros_like(a) + np.eye(a.shape[-1], dtype=a.dtype)
    if n < 0:
        a, n = np.linalg.inv(a), -n
    if n == 3:
        return (a @ a) @ a
    result = None
    while True:
        if n % 2:
            result = a if result is None else result @ a
        n //= 2
        if n == 0:
            return result
        a = a @ a
