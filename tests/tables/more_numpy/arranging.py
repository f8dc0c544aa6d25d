"""Programs that move elements to other places."""

import numpy as np

from tests.tables.programs import c128, f32, f64, ints, program

NO_JAX = 'jax.numpy has no such function'

program('sliding_window_view', lambda np, x: np.lib.stride_tricks.
        sliding_window_view(x, 3),
        f64(5), jax=NO_JAX)

for name, index in {'int': -1, 'slice': slice(1, None, 2),
                    'array': np.array([0, 2]),
                    'mask': np.array([True, False, False])}.items():
    program(f'delete_{name}', lambda np, x, i=index: np.delete(x, i, 0),
            f64(3, 2))
    if name != 'mask':
        program(f'insert_{name}', lambda np, x, y, i=index: np.insert(
            x, i, y, 0), f64(4, 2), f64(2))
program('insert_cast', lambda np, x, y: np.insert(x, 1, y), ints(3), f64(2),
        truth=lambda np, x, y: np.zeros(5, int))

program('block', lambda np, x, y: np.block([[x, y], [2 * y, 3 * x]]),
        f64(2, 2), f64(2, 2))
program('block_row', lambda np, x, y: np.block([x, y, 2]), f64(2), c128(2))
program('diagflat', lambda np, x: np.diagflat(x, 1), f64(2, 2))
program('ediff1d', lambda np, x: np.ediff1d(x), f64(2, 2))
program('ediff1d_ends', lambda np, x, y: np.ediff1d(
    x, to_end=y, to_begin=np.arange(2)), f64(3), f32(2, 2))

program('partition', lambda np, x: np.partition(x, 2, 0)[2], f64(5, 2))
program('argpartition', lambda np, x: np.argpartition(x, 1)[..., 1],
        f32(2, 3))
program('lexsort', lambda np, x, i: np.lexsort((x, i)), f64(5), ints(5))

program('apply_along_axis', lambda np, x: np.apply_along_axis(
    np.cumsum, 0, x), f64(3, 2))

program('choose_wrap', lambda np, i, x, y: np.choose(i, [x, y], mode='wrap'),
        ints(3), f64(3), f64(2, 3))
program('choose_clip', lambda np, i, x: np.choose(i, [x, 2 * x], mode='clip'),
        ints(3), f32(3))
program('choose', lambda np, x: np.choose(np.array([1, 0]), x),
        f64(2, 2), jax='JAX: jit must know the values')
program('compress', lambda np, x: np.compress(
    np.array([True, False, True]), x, 1), f64(2, 3))

program('array_equal', lambda np, x, y: np.array_equal(x, y) * x, f64(2),
        f64(2))
program('array_equal_itself', lambda np, x: np.array_equal(
    y := np.where(x > 1, x, np.nan), y, equal_nan=True) * x, f64(2))
program('array_equal_shapes', lambda np, x, y: np.array_equal(x, y) * x,
        f64(2), f64(3))
program('array_equiv', lambda np, x: np.array_equiv(x, [x[0], x[0]]) * x,
        f64(1))
program('array_equiv_shapes', lambda np, x, y: np.array_equiv(x, y) * y,
        f64(2), f64(3), jax='JAX: an error')
program('isin', lambda np, x, y: np.isin(
    x * np.array([[1], [9]]), np.append(x[0, 1:], y)), ints(2, 3), ints(2))
for right in True, False:
    program(f'digitize_{right}', lambda np, x, right=right: np.digitize(
        x, np.array([0.6, 1.0, 1.2]), right), f64(2, 3))
    program(f'digitize_falling_{right}', lambda np, i, right=right:
            np.digitize(i, np.array([4, 2, 1]), right), ints(5))
program('unravel_index', lambda np, x: np.stack(np.unravel_index(
    np.argmax(x) // 2 + 6, x.shape)), f64(3, 4))
program('ravel_multi_index', lambda np, i, j: np.ravel_multi_index(
    (i, j), (5, 6)), ints(3), ints(3), jax='JAX must know the values')
program('ravel_multi_index_modes', lambda np, i, j: np.ravel_multi_index(
    (i, j), (3, 2), mode=('clip', 'wrap'), order='F'), ints(3), ints(3),
    jax='JAX takes one mode')
KEPT = np.array([0, 1, 0, 2])
