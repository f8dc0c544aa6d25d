"""Programs of linear algebra that is composed of primitives."""

import numpy as np

from tests.tables.more_numpy.decompositions import (
    COMPLEX, COMPLEX_64, SINGLE, decomposed, matrix)
from tests.tables.programs import c128, f32, f64, ints, program

decomposed('lstsq', lambda np, a, b: np.linalg.lstsq(a, b)[0],
           matrix(4, 2), f64(4))
decomposed('lstsq_wide', lambda np, a, b: np.linalg.lstsq(a, b)[0],
           matrix(2, 3), f64(2, 2))
decomposed('lstsq_of_rank_1', lambda np, x, b: np.linalg.lstsq(
    np.stack([x, 2 * x], -1), b, rcond=1e-8)[0], c128(3), f64(3),
    jax='its slope is NaN where rank is lost')
decomposed('lstsq_residuals', lambda np, a, b: np.linalg.lstsq(a, b)[1],
           matrix(4, 2, dtype=COMPLEX), c128(4, 2))
decomposed('lstsq_singular_values', lambda np, a, b:
           np.linalg.lstsq(a, b)[3], matrix(3, 2, dtype=SINGLE), f64(3))

decomposed('matrix_rank', lambda np, a: np.linalg.matrix_rank(
    a * np.arange(2)[:, None, None]), matrix(2, 3, 2))
decomposed('matrix_rank_hermitian', lambda np, a: np.linalg.matrix_rank(
    a + a.T, hermitian=True, rtol=0.5), matrix(3, 3),
    jax='JAX takes no hermitian=')
decomposed('cond', lambda np, a: np.linalg.cond(a), matrix(3, 2))
for p in -2, 'nuc':
    decomposed(f'cond_{p}', lambda np, a, p=p: np.linalg.cond(a, p),
               matrix(3, 3))
decomposed('cond_stack', lambda np, a: np.linalg.cond(a, 'fro'),
           matrix(2, 2, 2, dtype=COMPLEX))
for ord in 2, -2, 'nuc':
    decomposed(f'matrix_norm_{ord}', lambda np, a, ord=ord:
               np.linalg.norm(a, ord), matrix(2, 3, dtype=COMPLEX))
    decomposed(f'matrix_norm_{ord}_axes', lambda np, a, ord=ord:
               np.linalg.norm(a, ord, axis=(2, 0), keepdims=True),
               np.swapaxes(matrix(3, 2, 2), 0, 1))

decomposed('matrix_norm_stack', lambda np, a: np.linalg.matrix_norm(a),
           matrix(2, 2, 3, dtype=COMPLEX_64))
decomposed('matrix_norm_keepdims', lambda np, a: np.linalg.matrix_norm(
    a, keepdims=True, ord='nuc'), matrix(2, 2, 3))
decomposed('vector_norm', lambda np, x: np.linalg.vector_norm(x), f64(2, 3))
decomposed('vector_norm_of_axes', lambda np, x: np.linalg.vector_norm(
    x, axis=(2, 0), keepdims=True, ord=3), f64(2, 3, 2))
decomposed('vector_norm_of_an_axis', lambda np, x: np.linalg.vector_norm(
    x, axis=-1, ord=1), c128(2, 3))

decomposed('matrix_power', lambda np, a: np.linalg.matrix_power(a, 5),
           f64(2, 2, 2))
decomposed('matrix_power_0', lambda np, a: np.linalg.matrix_power(a, 0) + a,
           matrix(2, 2, dtype=COMPLEX_64))
decomposed('matrix_power_negative', lambda np, a: np.linalg.matrix_power(
    a, -3), matrix(3, 3))
decomposed('matrix_power_ints', lambda np, a: np.linalg.matrix_power(a, 10),
           ints(2, 2))
decomposed('multi_dot', lambda np, x, a, b, y: np.linalg.multi_dot(
    [x, a, b, y]), f64(3), f64(3, 2), f64(2, 4), f64(4))
decomposed('multi_dot_matrices', lambda np, a, b: np.linalg.multi_dot(
    [a, b, a]), c128(3, 2), f64(2, 3))
decomposed('multi_dot_of_two', lambda np, a, x: np.linalg.multi_dot([a, x]),
           f32(3, 2), f32(2))
decomposed('tensorinv', lambda np, a: np.linalg.tensorinv(
    np.reshape(a, (2, 2, 4))), matrix(4, 4))
decomposed('tensorinv_1', lambda np, a: np.linalg.tensorinv(
    np.reshape(a, (4, 2, 2)), ind=1), matrix(4, 4))
decomposed('tensorsolve', lambda np, a, b: np.linalg.tensorsolve(
    np.reshape(a, (2, 2, 4)), b), matrix(4, 4), f64(2, 2))
decomposed('tensorsolve_axes', lambda np, a, b: np.linalg.tensorsolve(
    np.reshape(a, (4, 2, 2)), b, axes=(0,)), matrix(4, 4), f64(2, 2))

program('linalg_outer', lambda np, x, y: np.linalg.outer(x, y),
        f64(2), c128(3))
program('linalg_cross', lambda np, x, y: np.linalg.cross(x.T, y, axis=0),
        f64(2, 3), f32(3), ulps=8)
program('linalg_vecdot', lambda np, x, y: np.linalg.vecdot(x, y, axis=0),
        c128(3, 2), f64(3, 1), ulps=8)
program('linalg_matmul', lambda np, x, y: np.linalg.matmul(x, y),
        f64(2, 3), f64(3), ulps=8)
program('linalg_tensordot', lambda np, x, y: np.linalg.tensordot(
    x, y, axes=1), f64(2, 3), f64(3, 2), ulps=8)
program('linalg_trace', lambda np, x: np.linalg.trace(x, offset=1),
        f64(2, 3, 3), ulps=8)
program('linalg_diagonal', lambda np, x: np.linalg.diagonal(x, offset=-1),
        f64(2, 3, 3))
program('linalg_matrix_transpose', lambda np, x:
        np.linalg.matrix_transpose(x), f64(2, 2, 3))
