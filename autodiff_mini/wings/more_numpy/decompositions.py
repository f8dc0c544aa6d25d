"""Decompositions of matrices: eigenvalues, singular values, QR, inverses.

When a matrix changes, its basis rotates, and the rotation is computed in that
basis.  All functions work on stacks of matrices.
Sources: M. Giles, "An extended collection of matrix derivative results for
forward and reverse mode automatic differentiation", 2008; JAX's
`jax/_src/lax/linalg.py`.  Chapter 30.

Vectors of equal eigenvalues or singular values can be any basis of a space.
A direction that mixes them has no derivative, so it gives NaN.  With 0
instead, `v * g(w) @ v.T` would have a wrong derivative.  If no direction
mixes them, or the result does not depend on them, as for sums of
eigenvalues, derivatives are finite and right.

A second derivative needs the vectors.  Each of several equal eigenvalues has
a kink, as `abs(x)` has at 0, so its second derivative is NaN, although
`sum(w**2)` has one.  The rule for `w` cannot know how `w` is used.  So norms
have rules of their own.  Write a sum of squares as `np.sum(a * a)`, and the
logarithm of a product as `np.linalg.slogdet`.  Reverse mode misses the kink
if the cotangents of equal eigenvalues are exactly 0, as for
`sum((w - 1)**2)` at the identity matrix.  If values differ only by rounding,
second derivatives lose all digits.
"""

import numpy as np

from autodiff_mini.core.trace import Primitive
from autodiff_mini.core.types import array_type, typeof
from autodiff_mini.interpreters import abstract, jvp, vmap
from autodiff_mini.interpreters.abstract import defshape, ones
from autodiff_mini.interpreters.jvp import defjvp
from autodiff_mini.interpreters.transpose import deftranspose
from autodiff_mini.interpreters.vmap import defelementwise, lengthen, spread
from autodiff_mini.numpy_functions.table import (
    asarray, implements, inexact, operand)
from autodiff_mini.primitives.elementwise import stop_gradient
from autodiff_mini.wings.more_numpy.matrices import (
    hermitian_transpose, lower_half, mirrored, square_matrices,
    stacked_matrices)


def over_gap(x, gap):
    """Return `x / gap`, but where the gap is 0, NaN, or 0 if `x` is 0."""
    is_tie = gap == 0
    y = x / np.where(is_tie, 1, gap)
    return np.where(is_tie & (x != 0), np.nan, y)


# Since 0 / 0 is 0, vectors with a zero tangent or cotangent cause no NaN.
over_gap_p = Primitive('over_gap', over_gap)
defjvp(over_gap_p,
       lambda x_dot, y, x, gap: over_gap_p.bind(x_dot, gap),
       lambda gap_dot, y, x, gap: -over_gap_p.bind(y * gap_dot, gap))
defelementwise(over_gap_p)
defshape(over_gap_p, np.broadcast_shapes)
deftranspose(over_gap_p,
             lambda ct, x, gap: over_gap_p.bind(ct, gap), None)


def hermitian_part(a):
    return (a + hermitian_transpose(a)) / 2


def diagonals(a):
    """Return the diagonal of each matrix, as real numbers."""
    return np.real(np.diagonal(a, 0, -2, -1))


def differences(w):
    """Return the matrices of all `w[j] - w[i]`."""
    return w[..., None, :] - w[..., :, None]


def sums(w):
    """Return the matrices of all `w[j] + w[i]`."""
    return w[..., None, :] + w[..., :, None]


def turned(p, gaps):
    """Return `p / gaps`, and 0 on the diagonal."""
    eye = np.eye(p.shape[-1], dtype=bool)
    return np.where(eye, 0, over_gap_p.bind(p, np.where(eye, 1, gaps)))


def defdecomposition(primitive, shapes):
    """Define how a decomposition maps, and the types of its results.

    Args:
        shapes: a function of a matrix's lengths and the parameters that
            returns the shapes of the results.
    """
    def vmap_rule(axis, vals, dims, **params):
        parts = primitive.bind(*vals, **params)
        return parts, [0] * len(parts)

    def abstract_rule(a, **params):
        kinds = map(typeof, primitive.impl(ones(a), **params))
        return [array_type((*a.shape[:-2], *shape), kind.dtype)
                for shape, kind in zip(shapes(*a.shape[-2:], **params),
                                       kinds, strict=True)]
    vmap.rules[primitive] = vmap_rule
    abstract.rules[primitive] = abstract_rule


# Hermitian matrices.  NumPy reads one triangle of a matrix, and the rules
# read the same triangle of its tangent.
eigh_p = Primitive('eigh', np.linalg.eigh, multiple_results=True)

EighResult = type(np.linalg.eigh(np.eye(1)))


@implements(np.linalg.eigh)
def linalg_eigh(a, UPLO='L'):
    return EighResult(*eigh_p.bind(square_matrices(inexact(a)),
                                   UPLO=triangle_of(UPLO)))


def triangle_of(UPLO):
    """Return 'L' or 'U', or raise if it is neither."""
    if UPLO.upper() not in ('L', 'U'):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    return UPLO.upper()


def eigh_jvp(primals, tangents, UPLO):
    """Return eigenvalues and vectors, and their tangents.

    The phase of a complex vector is arbitrary.  Its tangent is orthogonal to
    the vector, as in JAX.
    """
    (a,), (a_dot,) = primals, tangents
    w, v = eigh_p.bind(a, UPLO=UPLO)
    p = hermitian_transpose(v) @ mirrored(a_dot, UPLO) @ v
    return [w, v], [diagonals(p), v @ turned(p, differences(w))]


jvp.rules[eigh_p] = eigh_jvp
defdecomposition(eigh_p, lambda n, _, UPLO: [(n,), (n, n)])

eigvalsh_p = Primitive('eigvalsh', np.linalg.eigvalsh)


@implements(np.linalg.eigvalsh)
def linalg_eigvalsh(a, UPLO='L'):
    return eigvalsh_p.bind(square_matrices(inexact(a)),
                           UPLO=triangle_of(UPLO))


def eigvalsh_rule(a_dot, w, a, UPLO):
    _, v = eigh_p.bind(a, UPLO=UPLO)
    return np.sum(np.real(np.conj(v) * (mirrored(a_dot, UPLO) @ v)), -2)


defjvp(eigvalsh_p, eigvalsh_rule)
defelementwise(eigvalsh_p)
defshape(eigvalsh_p, lambda shape, UPLO: shape[:-1])


# Any square matrix.  NumPy returns real numbers if the eigenvalues happen to
# be real.  For traced values the dtype is always complex.
def complex_eig(a):
    """Return the eigenvalues and vectors, as complex numbers."""
    dtype = np.result_type(a, np.complex64)
    return [x.astype(dtype) for x in np.linalg.eig(a)]


eig_p = Primitive('eig', complex_eig, multiple_results=True)

EigResult = type(np.linalg.eig(np.eye(1)))


@implements(np.linalg.eig)
def linalg_eig(a):
    """Return complex eigenvalues and vectors, even if all are real.

    If they are known to be real, take `np.real`, or use eigh.
    """
    return EigResult(*eig_p.bind(square_matrices(inexact(a))))


def eig_jvp(primals, tangents):
    (a,), (a_dot,) = primals, tangents
    w, v = eig_p.bind(a)
    p = in_its_basis(a_dot, w, v)
    v_dot = v @ turned(p, differences(w))
    w_dot = np.diagonal(p, 0, -2, -1)
    return [w, v], [w_dot, v_dot - v * left_free(v, v_dot)]


def in_its_basis(a_dot, w, v):
    """Return `inv(v) @ a_dot @ v`.

    Mark vectors of equal eigenvalues with `kinked` on both sides, because
    their tangents could cancel before `over_gap` divides.
    """
    left = np.matrix_transpose(np.linalg.inv(v))
    return np.matrix_transpose(kinked(left, w)) @ (a_dot @ kinked(v, w))


def kinked(v, w):
    """Return `v`, with NaN tangents for vectors of equal eigenvalues."""
    is_tied = np.sum(np.equal(differences(w), 0), -2) > 1
    turn = np.where(is_tied[..., None, :], v - stop_gradient(v), 0)
    return v + over_gap_p.bind(turn, np.zeros_like(np.real(v)))


def left_free(v, v_dot):
    """Return the multiple of each vector to remove from its tangent.

    LAPACK normalizes a vector and makes its largest element real.
    """
    sizes = np.where(np.equal(np.imag(v), 0), np.abs(v), 0)
    largest = np.argsort(sizes, -2)[..., -1:, :]
    length = np.sum(np.real(np.conj(v) * v_dot), -2, keepdims=True)
    phase = (np.take_along_axis(np.imag(v_dot), largest, -2)
             / np.take_along_axis(np.real(v), largest, -2))
    return length + 1j * phase


jvp.rules[eig_p] = eig_jvp
defdecomposition(eig_p, lambda n, _: [(n,), (n, n)])


def complex_eigvals(a):
    """Return the eigenvalues, as complex numbers."""
    return np.linalg.eigvals(a).astype(np.result_type(a, np.complex64))


eigvals_p = Primitive('eigvals', complex_eigvals)


@implements(np.linalg.eigvals)
def linalg_eigvals(a):
    return eigvals_p.bind(square_matrices(inexact(a)))


def eigvals_jvp(primals, tangents):
    """Return eigenvalues and their tangents, both in the order of eig.

    For large matrices LAPACK uses another order if it computes no vectors.
    """
    (a,), (a_dot,) = primals, tangents
    w, v = eig_p.bind(a)
    return w, np.diagonal(in_its_basis(a_dot, w, v), 0, -2, -1)


jvp.rules[eigvals_p] = eigvals_jvp
defelementwise(eigvals_p)
defshape(eigvals_p, lambda shape: shape[:-1])

svd_p = Primitive('svd', np.linalg.svd, multiple_results=True)

SVDResult = type(np.linalg.svd(np.eye(1)))


@implements(np.linalg.svd)
def linalg_svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    if hermitian:
        return hermitian_svd(a, compute_uv)
    if not compute_uv:
        return np.linalg.svdvals(a)
    return SVDResult(*svd_p.bind(stacked_matrices(inexact(a)),
                                 full_matrices=bool(full_matrices)))


def hermitian_svd(a, compute_uv):
    """Compute the SVD from eigenvalues as NumPy does, with signs in `Vh`."""
    if not compute_uv:
        return np.sort(np.abs(np.linalg.eigvalsh(a)))[..., ::-1]
    w, v = np.linalg.eigh(a)
    order = np.argsort(np.abs(w))[..., ::-1]
    w = np.take_along_axis(w, order, -1)
    u = np.take_along_axis(v, order[..., None, :], -1)
    signs = np.copysign(1.0, w)[..., None, :]
    return SVDResult(u, np.abs(w), hermitian_transpose(u * signs))


def svd_jvp(primals, tangents, full_matrices):
    """Return singular values and vectors, and their tangents.

    With `p = U^H dA V`, both bases rotate: in the same direction by the
    Hermitian part of `p`, and in opposite directions by the rest.  A common
    phase of complex vectors is kept fixed, but their relative phase changes.
    """
    (a,), (a_dot,) = primals, tangents
    check_svd_is_thin(a, full_matrices)
    u, s, vh = svd_p.bind(a, full_matrices=full_matrices)
    v = hermitian_transpose(vh)
    p = hermitian_transpose(u) @ a_dot @ v
    both, row = hermitian_part(p), s[..., None, :]
    together = turned(both, differences(s))
    apart = turned(p - both, sums(s))
    u_dot, v_dot = u @ (together + apart), v @ (together - apart)
    if p.dtype.kind == 'c':
        phase = np.imag(np.diagonal(p, 0, -2, -1))[..., None, :]
        u_dot = u_dot + u * (1j * over_gap_p.bind(phase, row))
    if u.shape[-2] > u.shape[-1]:   # outside the column space
        u_dot = u_dot + over_gap_p.bind(a_dot @ v - u @ p, row)
    if v.shape[-2] > v.shape[-1]:
        v_dot = v_dot + over_gap_p.bind(
            hermitian_transpose(a_dot) @ u - v @ hermitian_transpose(p), row)
    return [u, s, vh], [u_dot, diagonals(p), hermitian_transpose(v_dot)]


def check_svd_is_thin(a, full_matrices):
    """Raise if some vectors have no singular value."""
    if full_matrices and a.shape[-1] != a.shape[-2]:
        raise NotImplementedError(
            'numpy.linalg.svd with full_matrices=True has no derivative for '
            f'matrices of shape {a.shape[-2:]}, because the vectors without '
            'a singular value are not unique. Pass full_matrices=False, or '
            'compute_uv=False if you only need the singular values.')


jvp.rules[svd_p] = svd_jvp
defdecomposition(svd_p, lambda m, n, full_matrices: [
    (m, m if full_matrices else min(m, n)), (min(m, n),),
    (n if full_matrices else min(m, n), n)])

svdvals_p = Primitive('svdvals', np.linalg.svdvals)


@implements(np.linalg.svdvals)
def linalg_svdvals(x, /):
    return svdvals_p.bind(stacked_matrices(inexact(x)))


def svdvals_rule(a_dot, s, a):
    u, _, vh = svd_p.bind(a, full_matrices=False)
    moved = a_dot @ hermitian_transpose(vh)
    return np.sum(np.real(np.conj(u) * moved), -2)


defjvp(svdvals_p, svdvals_rule)
defelementwise(svdvals_p)
defshape(svdvals_p, lambda shape: (*shape[:-2], min(shape[-2:])))

# Norms that are functions of singular values.  Rules for vectors would divide
# by differences of values, which cancel here wherever the norm is smooth.
SINGULAR_NORMS = {2: np.max, -2: np.min, 'nuc': np.sum}


def singular_norm(a, ord):
    return SINGULAR_NORMS[ord](np.linalg.svdvals(a), -1)


def singular_slope(a, ord):
    """Return the gradient of a norm, shared among equal singular values."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return (u * shares(s, ord)[..., None, :]) @ vh


def shares(s, ord):
    """Return the derivative of a norm for each singular value."""
    if ord == 'nuc':
        return np.ones_like(s)
    sought = np.equal(s, SINGULAR_NORMS[ord](s, -1, keepdims=True))
    sought = np.astype(sought, s.dtype)
    return sought / np.sum(sought, -1, keepdims=True)


singular_norm_p = Primitive('singular_norm', singular_norm)
singular_slope_p = Primitive('singular_slope', singular_slope)


@implements(np.linalg.matrix_norm)
def linalg_matrix_norm(x, /, *, keepdims=False, ord='fro'):
    if ord not in SINGULAR_NORMS:
        return np.linalg.norm(asarray(x), ord, (-2, -1), keepdims)
    norm = singular_norm_p.bind(stacked_matrices(inexact(x)), ord=ord)
    return np.expand_dims(norm, (-2, -1)) if keepdims else norm


def singular_norm_rule(a_dot, y, a, ord):
    slope = np.conj(singular_slope_p.bind(a, ord=ord))
    return np.sum(np.real(slope * a_dot), (-2, -1))


def singular_slope_rule(a_dot, y, a, ord):
    """Return the tangent of `U g V^H`.

    Vectors rotate by `p / (s[j] - s[i])`, and the product changes by that
    times the difference of two shares.  That is 0 for equal shares, unless
    they are equal because singular values tie for a maximum or minimum.
    """
    u, s, vh = svd_p.bind(a, full_matrices=False)
    uh, v, g = hermitian_transpose(u), hermitian_transpose(vh), shares(s, ord)
    p = uh @ a_dot @ v
    both, row = hermitian_part(p), g[..., None, :]
    changes_hands = (row != 1) & (row * g[..., None] > 0)
    turns = np.where(changes_hands, 1, differences(g))
    moved = (both * turned(turns, differences(s))
             + (p - both) * over_gap_p.bind(sums(g), sums(s)))
    y_dot = u @ moved @ vh
    outside = over_gap_p.bind(g, s)
    if u.shape[-2] > u.shape[-1]:
        y_dot = y_dot + (a_dot @ v - u @ p) * outside[..., None, :] @ vh
    if v.shape[-2] > v.shape[-1]:
        y_dot = y_dot + u @ (outside[..., None] * (uh @ a_dot - p @ vh))
    return y_dot


defjvp(singular_norm_p, singular_norm_rule)
defelementwise(singular_norm_p)
defshape(singular_norm_p, lambda shape, ord: shape[:-2])
defjvp(singular_slope_p, singular_slope_rule)
defelementwise(singular_slope_p)
defshape(singular_slope_p, lambda shape, ord: shape)

qr_p = Primitive('qr', np.linalg.qr, multiple_results=True)

QRResult = type(np.linalg.qr(np.eye(1)))


@implements(np.linalg.qr)
def linalg_qr(a, mode='reduced'):
    if mode not in ('reduced', 'complete', 'r', 'raw'):
        raise ValueError(f"Unrecognized mode '{mode}'")
    if mode == 'raw':
        raise NotImplementedError(
            "numpy.linalg.qr of a traced value takes the modes 'reduced', "
            "'complete', and 'r', not 'raw'")
    complete = mode == 'complete'
    q, r = qr_p.bind(stacked_matrices(inexact(a)),
                     mode='complete' if complete else 'reduced')
    return r if mode == 'r' else QRResult(q, r)


def qr_jvp(primals, tangents, mode):
    (a,), (a_dot,) = primals, tangents
    q, r = qr_p.bind(a, mode=mode)
    size = min(a.shape[-2:])
    thin = q[..., :size]
    q_dot = thin_qr_tangent(thin, r[..., :size, :size], a_dot[..., :size])
    if q.shape[-1] > size:
        q_dot = np.concatenate([q_dot, rest_of_qr(thin, q_dot)], -1)
    r_dot = hermitian_transpose(q_dot) @ a + hermitian_transpose(q) @ a_dot
    return [q, r], [q_dot, np.triu(r_dot)]


def thin_qr_tangent(q, r, a_dot):
    """Return the tangent of `q` for a square `r`.

    `q^H q_dot` is skew-Hermitian, so that the diagonal of `r` stays real.
    Source: `_thin_qr_jvp` in JAX.
    """
    moved = solve_from_the_right(a_dot, r)
    p = hermitian_transpose(q) @ moved
    lower = lower_half(p)
    return q @ (lower - hermitian_transpose(lower) - p) + moved


def rest_of_qr(q, q_dot):
    """Return the tangent of the additional columns of a complete `q`.

    A complete `q` is a product of reflections, `I - Y T Y^H`.  If `C` and `D`
    are the upper and lower parts of `q - I`, the columns are
    `I + (q - I) Z^H`, where `Z = D C^-1`.
    Source: https://arxiv.org/pdf/2409.13374.
    """
    m, n = q.shape[-2:]
    moved = q - np.eye(m, n, dtype=q.dtype)
    upper, lower = moved[..., :n, :], moved[..., n:, :]
    z = solve_from_the_right(lower, upper)
    z_dot = solve_from_the_right(
        q_dot[..., n:, :] - z @ q_dot[..., :n, :], upper)
    return (q_dot @ hermitian_transpose(z)
            + moved @ hermitian_transpose(z_dot))


def solve_from_the_right(b, a):
    """Solve `x @ a = b` for `x`."""
    return np.matrix_transpose(np.linalg.solve(
        np.matrix_transpose(a), np.matrix_transpose(b)))


jvp.rules[qr_p] = qr_jvp


def qr_shapes(m, n, mode):
    """Return the shapes of `q` and `r`."""
    size = m if mode == 'complete' else min(m, n)
    return [(m, size), (size, n)]


defdecomposition(qr_p, qr_shapes)

pinv_p = Primitive('pinv', np.linalg.pinv)
NOT_GIVEN = object()


@implements(np.linalg.pinv)
def linalg_pinv(a, rcond=None, hermitian=False, *, rtol=NOT_GIVEN):
    a = asarray(a)
    if rcond is not None and rtol is not NOT_GIVEN:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    if rtol is None:
        rcond = max(a.shape[-2:]) * np.finfo(a.dtype).eps
    elif rcond is None:
        rcond = 1e-15 if rtol is NOT_GIVEN else rtol
    check = square_matrices if hermitian else stacked_matrices
    return pinv_p.bind(check(inexact(a)), operand(rcond),
                       hermitian=bool(hermitian))


def pinv_rule(a_dot, p, a, rcond, hermitian):
    """Return the tangent of `p`, for matrices of constant rank.

    Source: G. Golub and V. Pereyra, "The differentiation of pseudo-inverses
    and nonlinear least squares problems whose variables separate", 1973.
    """
    if hermitian:
        a, a_dot = mirrored(a), mirrored(a_dot)
    back = hermitian_transpose(a_dot)
    left = p @ hermitian_transpose(p) @ back
    right = back @ hermitian_transpose(p) @ p
    return (left - left @ a @ p) + (right - p @ a @ right) - p @ a_dot @ p


def pinv_vmap(axis, vals, dims, hermitian):
    a, rcond = vals
    a = spread(a, dims[0], axis.size)
    if dims[1] is not None:
        rcond = lengthen(rcond, a.ndim - 2 - rcond.ndim)
    return pinv_p.bind(a, rcond, hermitian=hermitian), 0


defjvp(pinv_p, pinv_rule, None)
vmap.rules[pinv_p] = pinv_vmap
defshape(pinv_p, lambda a, rcond, hermitian: (*a[:-2], a[-1], a[-2]))
