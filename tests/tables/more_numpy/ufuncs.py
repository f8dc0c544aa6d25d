"""Programs of ufunc methods, and of calls with keywords."""

import numpy as np

from tests.tables.programs import f32, f64, program

LISTED = np.array([0, 2, 1])
METHODS = {
    'add_reduce_keepdims': lambda np, x: np.add.reduce(x, 1, keepdims=True),
    'multiply_reduce': lambda np, x: np.multiply.reduce(x, axis=None),
    'maximum_reduce': lambda np, x: np.maximum.reduce(x, axis=(0, 1)),
    'add_reduce_where': lambda np, x: np.add.reduce(x, where=x > 1,
                                                    initial=2.5),
    'subtract_reduce': lambda np, x: np.subtract.reduce(x, axis=1),
    'logaddexp_reduce': lambda np, x: np.logaddexp.reduce(x),
    'add_accumulate': lambda np, x: np.add.accumulate(x, axis=1),
    'maximum_accumulate': lambda np, x: np.maximum.accumulate(x, axis=1),
    'subtract_outer': lambda np, x: np.subtract.outer(x, x[0]),
    'add_reduceat': lambda np, x: np.add.reduceat(x, LISTED, axis=1),
    'multiply_out_where': lambda np, x: np.multiply(
        x, x, out=np.zeros_like(x), where=x > 1),
    'vecdot_axis': lambda np, x: np.vecdot(x, x, axis=0),
    'matmul_axes': lambda np, x: np.matmul(
        x, x, axes=[(1, 0), (0, 1), (1, 0)]),
}
for name, function in METHODS.items():
    program(name, function, f64(2, 3), ulps=4,
            jax='' if 'accumulate' in name else 'JAX has other methods')
program('add_dtype', lambda np, x: np.add(x, 1, dtype=np.float64), f32(3),
        jax='JAX has no dtype=')
program('multiply_outer_dtype', lambda np, x, y: np.multiply.outer(
    x, y, dtype=np.float64), f32(2), f32(3), jax='JAX has no dtype=')
TABLE = np.array([[0.5, 1.5, 1.25], [2.0, 0.75, 1.125]])
program('hypot_reduce_where', lambda np, x: np.hypot.reduce(
    x, where=x > 1, initial=0.5), TABLE, jax='JAX has other methods')
program('divide_reduceat', lambda np, x: np.divide.reduceat(
    x, LISTED, axis=1), TABLE, jax='JAX has other methods')
