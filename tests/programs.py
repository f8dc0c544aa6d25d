"""The one table of NumPy programs: the test data of every interpreter.

A program takes the module `np` first, so that `jax.numpy` can stand in for
it, and then its arguments.  Arguments of inexact dtype are differentiated;
all others (integers, booleans) have `float0` tangents.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import autodiff_mini as ad

rng = np.random.default_rng(2)


@dataclass(frozen=True)
class Program:
    """A program and a point to run it at.

    Args:
        name: unique.
        function: takes `np` and the arguments.
        args: the point.
        step: of numerical differentiation.  Where a program rounds to a
            narrow dtype it must be large, and the program linear.
        truth: the program whose derivative is the right one, where it is
            not that of `function`.
        jax: why `jax.numpy` cannot run it, or gives something else.
    """

    name: str
    function: Callable
    args: tuple
    step: float = 1e-3
    truth: Callable | None = None
    jax: str = ''

    def __str__(self):
        return self.name

    def perturbed(self):
        """Returns the positions of the arguments that have tangents."""
        return [i for i, x in enumerate(self.args) if is_inexact(x)]


def is_inexact(x):
    return np.result_type(x).kind in 'fc'


def random(shape, dtype):
    """Returns positive numbers, no two equal, away from each other."""
    size = int(np.prod(shape))
    xs = (rng.permutation(size) + rng.uniform(0.4, 0.6, size)) / (size or 1)
    xs = xs + 0.5
    if np.dtype(dtype).kind == 'c':
        xs = xs + 1j * rng.uniform(0.2, 1.0, size)
    return xs.reshape(shape).astype(dtype)


def f16(*shape):
    return random(shape, np.float16)


def f32(*shape):
    return random(shape, np.float32)


def f64(*shape):
    return random(shape, np.float64)


def c64(*shape):
    return random(shape, np.complex64)


def c128(*shape):
    return random(shape, np.complex128)


def ints(*shape, dtype=np.int64):
    return rng.integers(1, 5, shape).astype(dtype)


def bools(*shape):
    return rng.integers(0, 2, shape).astype(bool)


PROGRAMS = []


def program(name, function, *args, **options):
    """Adds a program to the table."""
    PROGRAMS.append(Program(name, function, args, **options))


# What JAX does otherwise, on purpose.
NO_LISTS = 'JAX takes no lists and tuples for arrays'
NO_STATIC_MASK = 'a mask of static values must have the shape of the array'
HALF_CAST = 'JAX computes in a wider type, or rounds otherwise'

# Each unary function and operator, in each kind of number.

POINTS = {
    'float': 0.7,
    'scalar': np.float64(0.7),
    'scalar32': np.float32(0.7),
    '0d': f64(),
    'array': f64(3),
    'matrix': f64(2, 3),
    'empty': f64(0, 2),
    'half': f16(3),
    'single': f32(3),
    'complex': c128(3),
    'complex64': c64(2),
    'pythoncomplex': 0.7 + 0.2j,
    'int': 2,
    'ints': ints(3),
    'int8s': ints(3, dtype=np.int8),
}

UNARY = {
    'sin': lambda np, x: np.sin(x),
    'cos': lambda np, x: np.cos(x),
    'tanh': lambda np, x: np.tanh(x),
    'exp': lambda np, x: np.exp(x),
    'log': lambda np, x: np.log(x),
    'sqrt': lambda np, x: np.sqrt(x),
    'neg': lambda np, x: -x,
    'negative': lambda np, x: np.negative(x),
}

FEW = 'float', 'array', 'half', 'single', 'complex', 'ints'

for name, function in UNARY.items():
    for point in POINTS if name in ('sin', 'neg', 'sqrt') else FEW:
        program(f'{name}_{point}', function, POINTS[point])

for name in 'sin', 'cos', 'tanh', 'exp', 'sqrt':
    program(f'{name}_bools', UNARY[name], bools(2))

# Each binary function and operator, over pairs of types and shapes.

PAIRS = {
    'float_float': (0.7, 1.5),
    'array_array': (f64(3), f64(3)),
    'array_float': (f64(3), 1.5),
    'float_array': (1.5, f64(3)),
    'array_int': (f64(3), 3),
    'int_array': (3, f64(3)),
    'array_bool': (f64(3), True),
    'array_complex': (f64(3), 1.5 + 0.5j),
    'single_float': (f32(3), 1.5),
    'float_single': (1.5, f32(3)),
    'float_single0d': (1.5, f32()),
    'float_singlescalar': (1.5, np.float32(0.75)),
    'singlescalar_float': (np.float32(0.75), 1.5),
    'half_float': (f16(3), 1.5),
    'half_single': (f16(3), f32(3)),
    'single_double': (f32(3), f64(3)),
    'single_scalar': (f32(3), np.float64(1.5)),
    'single_ints': (f32(3), ints(3)),
    'int8s_single': (ints(3, dtype=np.int8), f32(3)),
    'bools_array': (bools(3), f64(3)),
    'single_complex': (f32(3), c64(3)),
    'complex_complex': (c128(3), c128(3)),
    'complex_array': (c128(3), f64(3)),
    'column_row': (f64(2, 1), f64(1, 3)),
    'array_0d': (f64(2, 3), f64()),
    '0d_array': (f64(), f64(2, 3)),
    'row_matrix': (f64(3), f64(2, 3)),
    'empty_row': (f64(0, 3), f64(3)),
    'empty_float': (f64(0), 2.0),
    'ints_float': (ints(3), 1.5),
    'ints_ints': (ints(3), ints(3)),
}

BINARY = {
    'add': (lambda np, x, y: x + y, lambda np, x, y: np.add(x, y)),
    'sub': (lambda np, x, y: x - y, lambda np, x, y: np.subtract(x, y)),
    'mul': (lambda np, x, y: x * y, lambda np, x, y: np.multiply(x, y)),
    'div': (lambda np, x, y: x / y, lambda np, x, y: np.divide(x, y)),
    'pow': (lambda np, x, y: x ** y, lambda np, x, y: np.power(x, y)),
}

for name, (operator, ufunc) in BINARY.items():
    for pair, args in PAIRS.items():
        program(f'{name}_{pair}', operator, *args)
    for pair in ('float_float', 'array_array', 'array_int', 'single_float',
                 'float_single', 'float_singlescalar', 'column_row'):
        program(f'{name}_ufunc_{pair}', ufunc, *PAIRS[pair])

COMPARISONS = {
    'less': (lambda np, x, y: x < y, lambda np, x, y: np.less(x, y)),
    'less_equal': (lambda np, x, y: x <= y,
                   lambda np, x, y: np.less_equal(x, y)),
    'greater': (lambda np, x, y: x > y, lambda np, x, y: np.greater(x, y)),
    'greater_equal': (lambda np, x, y: x >= y,
                      lambda np, x, y: np.greater_equal(x, y)),
    'equal': (lambda np, x, y: x == y, lambda np, x, y: np.equal(x, y)),
    'not_equal': (lambda np, x, y: x != y,
                  lambda np, x, y: np.not_equal(x, y)),
}

for name, (operator, ufunc) in COMPARISONS.items():
    for pair in 'float_float', 'float_array', 'column_row', 'empty_row':
        program(f'{name}_{pair}', operator, *PAIRS[pair])
    for pair in 'float_float', 'single_double', 'array_int':
        program(f'{name}_ufunc_{pair}', ufunc, *PAIRS[pair])
    program(f'{name}_itself', operator, *[PAIRS['array_array'][0]] * 2)

for pair in PAIRS:
    if 'complex' not in pair:
        program(f'maximum_{pair}', lambda np, x, y: np.maximum(x, y),
                *PAIRS[pair])
program('maximum_of_itself', lambda np, x: np.maximum(x, x), f64(3))
program('maximum_with_zero', lambda np, x: np.maximum(x, 0), f64(3) - 1)
program('maximum_complex', lambda np, x, y: np.maximum(x, y),
        c128(3), c128(3), jax='JAX orders complex numbers otherwise')

# Operators with something that is not traced beside them.

ARRAY, SINGLE = f64(3), f32(3)
REFLECTED = {
    'array': (ARRAY, f64(3)), 'single': (SINGLE, 0.7),
    'ints': (ints(3), f32(3)), 'matrix': (f64(2, 3), f64(3)),
    'scalar': (np.float64(1.5), f32(3)), 'scalar32': (np.float32(1.5), 0.7),
    'intscalar': (np.int32(3), 0.7), '0d': (f64(), 0.7),
    'float': (1.5, np.float32(0.7)), 'int': (2, f64(3)),
}

for name, (operator, _) in (BINARY | COMPARISONS).items():
    for left, (c, x) in REFLECTED.items():
        program(f'{name}_{left}_on_the_left',
                lambda np, x, c=c, op=operator: op(np, c, x), x)
    program(f'{name}_list_on_the_left',
            lambda np, x, op=operator: op(np, [1., 2., 3.], x), f64(3),
            jax=NO_LISTS)
    program(f'{name}_list_on_the_right',
            lambda np, x, op=operator: op(np, x, (1., 2., 3.)), f64(3),
            jax=NO_LISTS)
    program(f'{name}_list_of_traced',
            lambda np, x, op=operator: op(np, x, [x[2], 1., x[0]]), f64(3),
            jax=NO_LISTS)

for n in (-2, -1, 0, 1, 2, 3, 0.5, -1.5, 2.0, 0.0, True):
    program(f'power_{n}', lambda np, x, n=n: x ** n, f32(3))
    program(f'power_{n}_of_float', lambda np, x, n=n: x ** n, 1.3)
    program(f'power_ufunc_{n}', lambda np, x, n=n: np.power(x, n), f64(3))
program('power_of_negative', lambda np, x: x ** 3, -f64(3))
program('power_of_zero', lambda np, x: x ** 2 + x ** 1 + x ** 3.0, 0.0)
program('power_of_zeros', lambda np, x: x ** np.arange(4), np.zeros(4),
        jax='JAX: the second derivative of x**1 is NaN at 0')
program('power_zero_to_the', lambda np, y: 0.0 ** y, f64(3))
program('power_zero_and_more', lambda np, y: np.power(np.array([0., 2.]), y),
        f64(2))
program('power_int_to_the', lambda np, y: 2 ** y, 1.3)
program('power_uint8', lambda np, x, n: x ** n, f64(3),
        np.array([0, 1, 2], np.uint8))
program('power_bools', lambda np, x, n: x ** n, f64(2),
        np.array([True, False]))

# where

program('where', lambda np, c, x, y: np.where(c, x, y),
        np.array([True, False, True]), f64(3), f64(3))
program('where_compares', lambda np, x, y: np.where(x > y, x, y),
        f64(2, 3), f64(3))
program('where_float', lambda np, x: np.where(x > 1, x, 0.0), f64(3))
program('where_int', lambda np, x: np.where(x > 1, 0, x), f64(3))
program('where_floats', lambda np, x, y: np.where(True, x, y), 0.7, 1.5)
program('where_single_float', lambda np, x, y: np.where([True, False], x, y),
        f32(2), 1.5, jax=NO_LISTS)
program('where_single_double', lambda np, c, x, y: np.where(c, x, y),
        np.array([True, False]), f32(2), f64(2))
program('where_ints_single', lambda np, c, x, y: np.where(c, x, y),
        np.array([[True], [False]]), ints(2), f32(2))
program('where_broadcasts', lambda np, c, x, y: np.where(c, x, y),
        np.array([[True], [False]]), f64(), f64(3))
program('where_lists', lambda np, x: np.where([True, False], x, [1., 2]),
        0.7, jax=NO_LISTS)
program('where_condition_is_perturbed', lambda np, c: np.where(c, 1., 2.),
        np.array([0., 0.5]), truth=lambda np, c: np.where(c > .2, 1., 2.))
program('where_complex', lambda np, x, y: np.where([True, False], x, y),
        f32(2), c64(2), jax=NO_LISTS)
program('where_empty', lambda np, x: np.where(x > 0, x, -x), f64(0, 2))

# sum

for axis in (None, 0, 1, -1, -2, (0, 2), (-1, 0), ()):
    program(f'sum_{axis}', lambda np, x, axis=axis: np.sum(x, axis),
            f64(2, 3, 2))
    program(f'sum_{axis}_keepdims', lambda np, x, axis=axis:
            x.sum(axis=axis, keepdims=True), f64(2, 3, 2))
program('sum_method', lambda np, x: x.sum(), f64(3))
program('sum_positional', lambda np, x: x.sum(0), f64(3, 2))
program('sum_0d', lambda np, x: x.sum(), f64())
program('sum_float', lambda np, x: np.sum(x), 0.7)
program('sum_empty', lambda np, x: np.sum(x, axis=1), f64(2, 0))
program('sum_of_nothing', lambda np, x: np.sum(x), f64(0))
program('sum_half', lambda np, x: np.sum(x, 0), f16(3, 2), jax=HALF_CAST)
program('sum_single', lambda np, x: np.sum(x), f32(3))
program('sum_complex', lambda np, x: np.sum(x), c64(3))
program('sum_dtype', lambda np, x: np.sum(x, dtype=np.float64), f32(3))
program('sum_dtype_narrow', lambda np, x: x.sum(1, dtype=np.float32),
        f64(2, 3), step=0.25)
program('sum_ints', lambda np, x: np.sum(x), ints(3, dtype=np.int32))
program('sum_bools', lambda np, x: x.sum(), bools(3))

# Shapes

for shape in 6, -1, (3, -1), [1, 6, 1]:
    for order in 'CF':
        program(f'reshape_{shape}_{order}', lambda np, x, s=shape, o=order:
                np.reshape(x, s, order=o), f64(2, 3))
program('reshape_method', lambda np, x: x.reshape(3, 2), f64(2, 3))
program('reshape_method_tuple', lambda np, x: x.reshape((3, -1)), f64(2, 3))
program('reshape_method_int', lambda np, x: x.reshape(-1), f64(2, 3))
program('reshape_method_order', lambda np, x: x.reshape(3, 2, order='F'),
        f64(2, 3))
program('reshape_to_0d', lambda np, x: np.reshape(x, ()), f64(1, 1))
program('reshape_method_to_0d', lambda np, x: x.reshape(()), f64(1))
program('reshape_0d', lambda np, x: np.reshape(x, (1, 1)), f64())
program('reshape_float', lambda np, x: np.reshape(x, -1), 0.7)
program('reshape_empty', lambda np, x: x.reshape(3, 0, 2), f64(0, 2))
program('reshape_empty_unknown', lambda np, x: x.reshape(2, -1), f64(0, 2))
program('reshape_numpy_ints', lambda np, x:
        x.reshape(ints(1)[0] * 0 + 3, -1), f64(2, 3))
program('reshape_keyword', lambda np, x: np.reshape(x, shape=(3, 2)),
        f64(2, 3))

for axes in (None, (0, 1, 2), (2, 0, 1), (-1, 0, -2), [1, 0, 2]):
    program(f'transpose_{axes}', lambda np, x, axes=axes:
            np.transpose(x, axes), f64(2, 3, 1))
program('transpose_method', lambda np, x: x.transpose(), f64(2, 3))
program('transpose_method_args', lambda np, x: x.transpose(1, 2, 0),
        f64(2, 3, 1))
program('transpose_method_tuple', lambda np, x: x.transpose((1, 0)),
        f64(2, 3))
program('transpose_0d', lambda np, x: x.T, f64())
program('transpose_float', lambda np, x: np.transpose(x), 0.7)
program('T', lambda np, x: x.T, f64(2, 3))
program('T_single', lambda np, x: 2 * x.T, f32(2, 3))

program('broadcast_to', lambda np, x: np.broadcast_to(x, (2, 3)), f64(3))
program('broadcast_to_column', lambda np, x: np.broadcast_to(x, (2, 2, 3)),
        f64(2, 1))
program('broadcast_to_int', lambda np, x: np.broadcast_to(x, 3), f64())
program('broadcast_to_same', lambda np, x: np.broadcast_to(x, [3]), f64(3))
program('broadcast_float', lambda np, x: np.broadcast_to(x, (2,)), 0.7)
program('broadcast_empty', lambda np, x: np.broadcast_to(x, (0, 3)), f64(3))

# matmul

MATMULS = {
    'vector_vector': (f64(3), f64(3)),
    'matrix_vector': (f64(2, 3), f64(3)),
    'vector_matrix': (f64(3), f64(3, 2)),
    'matrix_matrix': (f64(2, 3), f64(3, 2)),
    'stacks': (f64(2, 2, 3), f64(2, 3, 1)),
    'stack_matrix': (f64(2, 2, 3), f64(3, 2)),
    'broadcast': (f64(2, 1, 2, 3), f64(4, 3, 2)),
    'stack_vector': (f64(2, 2, 3), f64(3)),
    'empty': (f64(2, 0), f64(0, 3)),
    'single': (f32(2, 3), f32(3)),
    'single_double': (f32(2, 3), f64(3)),
    'ints': (ints(2, 3), f32(3)),
    'complex': (c128(2, 2), f64(2)),
    'int_int': (ints(2, 3), ints(3)),
}
for name, args in MATMULS.items():
    program(f'matmul_{name}', lambda np, x, y: x @ y, *args)
    program(f'matmul_ufunc_{name}', lambda np, x, y: np.matmul(x, y), *args)
program('matmul_array_left', lambda np, x, a=f64(2, 3): a @ x, f64(3))
program('matmul_list_left', lambda np, x: [[1., 2, 3], [4, 5, 6]] @ x,
        f64(3), jax=NO_LISTS)
program('matmul_list_right', lambda np, x: x @ [1., 2, 3], f64(3),
        jax=NO_LISTS)
program('matmul_with_itself', lambda np, x: x.T @ x, f64(3, 2))

# stack

for axis in (0, 1, 2, -1, -3):
    program(f'stack_{axis}', lambda np, x, y, axis=axis:
            np.stack([x, y], axis), f64(2, 3), f64(2, 3))
program('stack_floats', lambda np, x, y: np.stack([x, y, 1.0]), 0.7, 1.5)
program('stack_one', lambda np, x: np.stack([x]), f64(3))
program('stack_tuple', lambda np, x, y: np.stack((x, y), axis=-1), 0.7, 1.5)
program('stack_rows', lambda np, x: np.stack(x, axis=1), f64(2, 3))
program('stack_constant', lambda np, x: np.stack([x, [1., 2., 3.]]), f64(3),
        jax=NO_LISTS)
program('stack_single_double', lambda np, x, y: np.stack([x, y]),
        f32(3), f64(3))
program('stack_int_single', lambda np, x, y: np.stack([x, y]),
        ints(3), f32(3), jax='JAX: int64 and float32 make float32')
program('stack_single_float', lambda np, x: np.stack([x, 2.0]), f32())
program('stack_real_complex', lambda np, x, y: np.stack([x, y]),
        f64(2), c128(2))
program('stack_empty', lambda np, x: np.stack([x, x]), f64(0))
program('stack_ints', lambda np, x: np.stack([x, x]), ints(2))

# astype

program('astype_single', lambda np, x: x.astype(np.float32), f64(3),
        step=0.25)
program('astype_double', lambda np, x: x.astype(np.float64), f32(3))
program('astype_name', lambda np, x: x.astype('float64'), f16(3))
program('astype_function', lambda np, x: np.astype(x, np.float64), f32(3))
program('astype_same', lambda np, x: x.astype(float), f64(3))
program('astype_copy', lambda np, x: x.astype(np.float64, copy=False),
        f32(3))
program('astype_complex', lambda np, x: x.astype(complex), f64(3))
program('astype_int', lambda np, x: x.astype(int) * x, f64(2) + 1)
program('astype_bool', lambda np, x: x.astype(bool), f64(3))
program('astype_scalar', lambda np, x: x.astype(np.float32), np.float64(.7),
        step=0.25)
program('astype_ints', lambda np, x: x.astype(np.float32), ints(3))
program('astype_there_and_back',
        lambda np, x: x.astype(np.float32).astype(np.float64) * 2, f64(3),
        step=0.25)

# Indexing

INDICES = {
    'int': 1, 'negative': -1, 'numpy_int': np.int64(1), 'slice': np.s_[1:],
    'step': np.s_[::-1], 'ellipsis': Ellipsis, 'ellipsis_int': np.s_[..., 0],
    'newaxis': np.s_[None, :, None], 'pair': (1, 2), 'int_slice': (0, np.s_[1:]),
    'empty_tuple': (), 'empty_slice': np.s_[2:1], 'array': np.array([1, 0]),
    'array_2d': np.array([[1, 0], [0, 0]]), 'negatives': np.array([-1, 0]),
    'uints': np.array([1, 0], np.uint8), '0d_array': np.array(1),
    'two_arrays': (np.array([0, 1]), np.array([2, 2])),
    'repeated': np.array([0, 0, 0]), 'column': np.s_[:, [2, 0]],
    'array_and_slice': (np.array([1, 1]), np.s_[:2]),
    'apart': (np.array([1, 0]), None, np.array([0, 2])),
    'grid': np.ix_([1, 0], [2, 1]),
    'mask_rows': np.array([True, False]),
    'mask': np.array([[True, False, True], [False, True, False]]),
    'nothing_masked': np.zeros((2, 3), bool),
    'mask_and_int': (np.array([True, False]), 1),
    'empty_ints': np.zeros(0, int),
}
for name, index in INDICES.items():
    program(f'index_{name}', lambda np, x, i=index: x[i], f64(2, 3))
program('index_list', lambda np, x: x[[1, 0, 1]], f64(2, 3), jax=NO_LISTS)
program('index_empty_list', lambda np, x: x[[]], f64(2, 3), jax=NO_LISTS)
program('index_list_of_bools', lambda np, x: x[[True, False]], f64(2, 3),
        jax=NO_LISTS)
program('index_true', lambda np, x: x[True], f64(2), jax=NO_STATIC_MASK)
program('index_false', lambda np, x: x[False], f64(2), jax=NO_STATIC_MASK)
program('index_numpy_true', lambda np, x: x[np.True_], f64(2),
        jax=NO_STATIC_MASK)
program('index_0d', lambda np, x: x[()], f64())
program('index_0d_ellipsis', lambda np, x: x[...], f64())
program('index_0d_newaxis', lambda np, x: x[None], f64())
program('index_empty', lambda np, x: x[:, 0], f64(0, 2))
program('index_empty_mask', lambda np, x: x[x > 0], f64(0, 3),
        jax='the shape of x[mask] depends on values')
program('index_compares', lambda np, x: x[x > 1], f64(2, 3),
        jax='the shape of x[mask] depends on values')
program('index_ints_argument', lambda np, x, i: x[i], f64(3), ints(2) - 2)
program('index_a_constant', lambda np, i: ad.asarray(ARRAY)[i] * 2.0,
        np.array([0, 2]), jax='ours')
program('index_single', lambda np, x: x[1:], f32(3))

# What is no operation, and what is several

program('shape', lambda np, x: x * np.shape(x)[1], f64(2, 3))
program('shape_attribute', lambda np, x: x * x.shape[0], f64(2, 3))
program('ndim', lambda np, x: x * np.ndim(x) + x.ndim, f64(2, 3))
program('size', lambda np, x: x * np.size(x) + x.size, f64(2, 3))
program('size_axis', lambda np, x: x * np.size(x, 1), f64(2, 3))
program('dtype', lambda np, x: x.astype(x.dtype), f32(3))
program('len', lambda np, x: x * len(x), f64(2, 3))
program('iter', lambda np, x: sum(row * i for i, row in enumerate(x)),
        f64(2, 3))
program('unpacking', lambda np, x: (lambda a, b: a * b)(*x), f64(2))
program('python_sum', lambda np, x: sum(x), f64(3))
program('python_max', lambda np, x: max(x), f64(3),
        jax='JAX: `if` needs values')
program('augmented', lambda np, x: (x := x + 1, x := x * x, x)[-1], f64(3))
program('identity', lambda np, x: x, f64(3))
program('constant', lambda np, x: np.float64(3.0), f64(3))
program('python_constant', lambda np, x: 3.0, f64(3))
program('second_argument', lambda np, x, y: y, f64(3), f64(2))
program('int_constant', lambda np, x: 3, f64(3))
program('control_flow', lambda np, x: np.sin(x) if x > 0.5 else -x, 0.7,
        jax='JAX: `if` needs values')
program('expit', lambda np, x: 1 / (1 + np.exp(-x)), f64(3))
program('softmax', lambda np, x:
        np.exp(x) / np.sum(np.exp(x), -1, keepdims=True), f64(2, 3))
program('layer', lambda np, w, b, x: np.tanh(x @ w + b).sum(0),
        f64(3, 2), f64(2), f64(4, 3))
program('layer_single', lambda np, w, b, x: np.tanh(x @ w + b).sum(0),
        f32(3, 2), f32(2), f32(4, 3))
program('rosenbrock', lambda np, x:
        np.sum(100. * (x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2), f64(4))
program('horner', lambda np, x: 1. + x * (2. + x * (3. + x * 4.)), 0.7)
program('mixed_numbers', lambda np, x, n: n * x ** n + x / n, f32(3), 3)
program('stop_gradient', lambda np, x: x * ad.stop_gradient(x), 0.7,
        truth=lambda np, x: x * 0.7, jax='ours')
program('asarray', lambda np, x: ad.asarray([x, 2 * x, 1.0]) * x, 0.7,
        truth=lambda np, x: np.stack([x, 2 * x, 1.0]) * x, jax='ours')
program('asarray_dtype', lambda np, x: ad.asarray(x, np.float64) * x, f32(2),
        truth=lambda np, x: x * x, jax='ours')
