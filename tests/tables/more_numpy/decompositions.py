"""Programs of decompositions that do not depend on signs and phases."""

import numpy as np

from autodiff_mini.wings.more_numpy.decompositions import (
    over_gap_p, singular_slope_p)
from tests.tables.programs import TRIANGLE, ints, program

rng, later_rng = np.random.default_rng(5), np.random.default_rng(6)


def matrix(*shape, dtype=np.float64, rng=rng):
    """Return matrices with distinct eigenvalues and singular values."""
    a = np.eye(*shape[-2:]) * np.arange(1, shape[-1] + 1)
    a = a + rng.uniform(-0.3, 0.3, shape)
    if np.dtype(dtype).kind == 'c':
        a = a + 1j * rng.uniform(-0.3, 0.3, shape)
    return a.astype(dtype)


def hermitian(np, a):
    return a + np.conj(np.swapaxes(a, -1, -2))


def with_vectors(np, w, v):
    """Return numbers computed from eigenvalues and vectors."""
    return np.abs(v) ** 2 * w[..., None, :]


def with_both(np, u, s, vh):
    """Return numbers computed from singular values and vectors."""
    return (np.abs(u) ** 2 * s[..., None, :]) @ np.abs(vh) ** 2


def decomposed(name, function, *args, **options):
    """Add a program that NumPy computes in double precision at best."""
    program(name, function, *args, ulps=64, double=True, **options)


SINGLE, COMPLEX_64 = np.float32, np.complex64
COMPLEX = np.complex128
TURN = np.array([[0.0, -3.0], [3.0, 0.0]])  # its eigenvalues are complex
TURN_3 = np.array([[0.0, -3, 1], [3, 0, -2], [-1, 2, 0]])
NO_VECTORS = ('JAX differentiates no eigenvectors of general matrices, and '
              'so eigenvalues only once')

decomposed('eigh', lambda np, a: with_vectors(
    np, *np.linalg.eigh(hermitian(np, a))), matrix(3, 3))
decomposed('eigh_upper', lambda np, a: np.abs(np.linalg.eigh(
    hermitian(np, a), UPLO='U').eigenvectors), matrix(2, 2, 2, dtype=SINGLE))
decomposed('eigh_complex', lambda np, a: with_vectors(
    np, *np.linalg.eigh(hermitian(np, a))), matrix(3, 3, dtype=COMPLEX))
decomposed('eigh_ints', lambda np, a: np.linalg.eigh(a * a.T)[0],
           ints(2, 2))
decomposed('eigvalsh_upper', lambda np, a: np.linalg.eigvalsh(
    hermitian(np, a), 'U'), matrix(2, 2, 2, dtype=COMPLEX_64))

decomposed('eigh_of_lower', lambda np, a: with_vectors(
    np, *np.linalg.eigh(a)), matrix(3, 3, rng=later_rng), jax=TRIANGLE)
decomposed('eigvalsh_of_upper', lambda np, a: np.linalg.eigvalsh(a, 'U'),
           matrix(2, 2, 2, dtype=COMPLEX, rng=later_rng), jax=TRIANGLE)

decomposed('eig_of_a_turn', lambda np, a: np.sum(
    np.linalg.eig(a).eigenvectors ** 2, -2) * np.linalg.eig(a)[0],
    matrix(3, 3) + TURN_3, jax=NO_VECTORS)
decomposed('eig_complex', lambda np, a: np.linalg.eig(a)[1],
           matrix(3, 3, dtype=COMPLEX), jax=NO_VECTORS)
decomposed('eigvals_complex', lambda np, a: np.linalg.eigvals(a),
           matrix(2, 2, 2, dtype=COMPLEX_64), jax=NO_VECTORS)

decomposed('svd', lambda np, a: with_both(np, *np.linalg.svd(a)),
           matrix(3, 3))
decomposed('svd_tall', lambda np, a: with_both(
    np, *np.linalg.svd(a, full_matrices=False)), matrix(2, 3, 2))
decomposed('svd_wide', lambda np, a: with_both(
    np, *np.linalg.svd(a, False)), matrix(2, 3, dtype=COMPLEX))
decomposed('svd_hermitian', lambda np, a: with_both(np, *np.linalg.svd(
    hermitian(np, a), hermitian=True)), matrix(3, 3))
decomposed('svd_values', lambda np, a: np.linalg.svd(a, compute_uv=False),
           matrix(2, 3, dtype=SINGLE))
decomposed('svdvals', lambda np, a: np.linalg.svdvals(a),
           matrix(2, 3, 2, dtype=COMPLEX))
decomposed('svdvals_ints', lambda np, a: np.linalg.svdvals(a), ints(2, 3))

for ord, *shape in ('nuc', 3, 2), (2, 2, 2, 3), (-2, 3, 3):
    decomposed(f'singular_slope_{ord}', lambda np, a, ord=ord:
               singular_slope_p.bind(a, ord=ord),
               matrix(*shape, dtype=COMPLEX, rng=later_rng),
               jax='it has no name')

decomposed('qr', lambda np, a: np.concatenate(np.linalg.qr(a), -1),
           matrix(3, 3))
decomposed('qr_complete', lambda np, a: np.concatenate(
    np.linalg.qr(a, mode='complete'), -1), matrix(4, 2, dtype=COMPLEX))
decomposed('qr_complete_wide', lambda np, a: np.concatenate(
    np.linalg.qr(a, 'complete'), -1), matrix(2, 3, dtype=SINGLE))

decomposed('pinv_square', lambda np, a: np.linalg.pinv(a),
           matrix(2, 2, dtype=SINGLE))
decomposed('pinv_of_rank_1', lambda np, x, y: np.linalg.pinv(
    x[:, None] * y, rtol=1e-8), matrix(3, 3)[0], matrix(2, 2)[0])
decomposed('pinv_hermitian', lambda np, x: np.linalg.pinv(
    x[:, None] * np.conj(x), rtol=1e-8, hermitian=True),
    matrix(3, 3, dtype=COMPLEX)[1])
decomposed('pinv_of_lower', lambda np, a: np.linalg.pinv(
    a, hermitian=True), matrix(3, 3, rng=later_rng), jax=TRIANGLE)
decomposed('over_gap', lambda np, x, y: over_gap_p.bind(x, y),
           matrix(2, 2), 5 + matrix(2, 2), jax='it has no name')
