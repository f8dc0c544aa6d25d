"""The table of NumPy programs: the test data of every interpreter.

A program takes the module `np` first, so `jax.numpy` can replace NumPy, and
then its arguments. Arguments of inexact dtype are differentiated, and all
others (integers, booleans) have `float0` tangents.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib.util import find_spec

import numpy as np

import autodiff_mini as ad
from autodiff_mini.core.errors import TracerError
from tests.support.traces import spied

rng = np.random.default_rng(2)


@dataclass(frozen=True)
class Program:
    """A program and a point to run it at.

    Args:
        name: unique.
        function: takes `np` and the arguments.
        args: the point.
        step: of numerical differentiation.  If a program rounds to a narrow
            dtype, the step must be large and the program linear.
        truth: the program that has the right derivative, if `function`
            does not have it.
        jax: why `jax.numpy` cannot run it, or gives something else.
        ulps: how far from NumPy's value it can be, if ours is composed.
        double: whether NumPy has no long double for it, so that numerical
            differentiation must do without.
    """

    name: str
    function: Callable
    args: tuple
    step: float = 1e-3
    truth: Callable | None = None
    jax: str = ''
    ulps: int = 1
    double: bool = False

    def __str__(self):
        return self.name

    def perturbed(self):
        """Return the positions of the arguments that have tangents."""
        return [i for i, x in enumerate(self.args) if is_inexact(x)]

    @cached_property
    def is_smooth(self):
        """Return whether the program has a derivative at all."""
        with np.errstate(all='ignore'):
            return bool(self.perturbed()) and is_inexact(
                self.function(np, *self.args))

    @cached_property
    def primitives(self):
        """Return the names of the primitives that the program uses."""
        try:
            with np.errstate(all='ignore'):
                _, counts = spied(partial(self.function, np), *self.args)
        except Exception:   # then it is its own kind, and a test reports why
            return {self.name}
        return {primitive.name for primitive in counts}

    @cached_property
    def kind(self):
        """Return the kinds of its numbers, and what else they have in common.
        """
        return (frozenset(map(kind_of, self.args)),
                any(map(np.ndim, self.args)),
                any(np.size(x) == 0 for x in self.args),
                self.truth is None)

    @property
    def is_of_a_wing(self):
        """Return whether the program needs the wing `more_numpy`."""
        return self.function.__module__.startswith('tests.tables.more_numpy.')

    @property
    def represents(self):
        """Return whether it is the first program of its primitive and kind.
        """
        return self.name not in followers(met_in_kind)

    @property
    def leads(self):
        """Return whether it is the first of its primitive."""
        return self.name not in followers(met_in_arrays)


def kind_of(x):
    """Return the name of a Python number's type, or the kind of a dtype."""
    is_python = type(x) in (bool, int, float, complex)
    return 'python' if is_python else np.result_type(x).kind


def met_in_kind(program):
    return {(primitive, program.kind)
            for primitive in program.primitives or {None}}


def met_in_arrays(program):
    return {(primitive, any(map(np.ndim, program.args)))
            for primitive in program.primitives}


@cache
def followers(meets):
    """Return the names in the table that add nothing new.

    A program of another table is its own kind.
    """
    seen, names = set(), set()
    for program in PROGRAMS:
        if meets(program) <= seen:
            names.add(program.name)
        seen |= meets(program)
    return names


def is_inexact(x):
    return np.result_type(x).kind in 'fc'


def random(shape, dtype):
    """Return positive numbers that are well apart."""
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
    """Add a program to the table."""
    PROGRAMS.append(Program(name, function, args, **options))


# Where JAX differs on purpose.
NO_LISTS = 'JAX takes no lists and tuples for arrays'
NO_STATIC_MASK = 'a mask of static values must have the shape of the array'
HALF_CAST = 'JAX computes in a wider type, or rounds otherwise'

# Each unary function and operator, in each kind of number.

POINTS = {
    'float': 0.7, 'scalar': np.float64(0.7), 'scalar32': np.float32(0.7),
    '0d': f64(), 'array': f64(3), 'matrix': f64(2, 3), 'empty': f64(0, 2),
    'half': f16(3), 'single': f32(3), 'complex': c128(3), 'complex64': c64(2),
    'pythoncomplex': 0.7 + 0.2j, 'int': 2, 'ints': ints(3),
    'int8s': ints(3, dtype=np.int8),
}


def called(names):
    """Return programs by name, each of a NumPy function with that name."""
    return {name: lambda np, *xs, name=name, **options:
            getattr(np, name)(*xs, **options) for name in names.split()}


UNARY = called('sin cos tanh exp log sqrt negative') | {
    'neg': lambda np, x: -x}
FEW = 'float', 'array', 'half', 'single', 'complex', 'ints'

for name, function in UNARY.items():
    for point in POINTS if name in ('sin', 'neg', 'sqrt') else FEW:
        program(f'{name}_{point}', function, POINTS[point])
for name in 'sin', 'cos', 'tanh', 'exp', 'sqrt':
    program(f'{name}_bools', UNARY[name], bools(2))

# Each binary function and operator, over pairs of types and shapes.

PAIRS = {
    'float_float': (0.7, 1.5), 'array_array': (f64(3), f64(3)),
    'array_float': (f64(3), 1.5), 'float_array': (1.5, f64(3)),
    'array_int': (f64(3), 3), 'int_array': (3, f64(3)),
    'array_bool': (f64(3), True), 'array_complex': (f64(3), 1.5 + 0.5j),
    'single_float': (f32(3), 1.5), 'float_single': (1.5, f32(3)),
    'float_single0d': (1.5, f32()),
    'float_singlescalar': (1.5, np.float32(0.75)),
    'singlescalar_float': (np.float32(0.75), 1.5),
    'half_float': (f16(3), 1.5), 'half_single': (f16(3), f32(3)),
    'single_double': (f32(3), f64(3)),
    'single_scalar': (f32(3), np.float64(1.5)),
    'scalar_scalar': (np.float64(0.7), np.float64(1.5)),
    'single_ints': (f32(3), ints(3)),
    'int8s_single': (ints(3, dtype=np.int8), f32(3)),
    'bools_array': (bools(3), f64(3)), 'single_complex': (f32(3), c64(3)),
    'complex_complex': (c128(3), c128(3)), 'complex_array': (c128(3), f64(3)),
    'column_row': (f64(2, 1), f64(1, 3)), 'array_0d': (f64(2, 3), f64()),
    '0d_array': (f64(), f64(2, 3)), 'row_matrix': (f64(3), f64(2, 3)),
    'empty_row': (f64(0, 3), f64(3)), 'empty_float': (f64(0), 2.0),
    'ints_float': (ints(3), 1.5), 'ints_ints': (ints(3), ints(3)),
}

UFUNCS = called('add subtract multiply divide power less less_equal greater '
                'greater_equal equal not_equal logical_and logical_or '
                'logical_xor bitwise_and bitwise_or bitwise_xor left_shift '
                'right_shift')
BINARY = {
    'add': (lambda np, x, y: x + y, UFUNCS['add']),
    'sub': (lambda np, x, y: x - y, UFUNCS['subtract']),
    'mul': (lambda np, x, y: x * y, UFUNCS['multiply']),
    'div': (lambda np, x, y: x / y, UFUNCS['divide']),
    'pow': (lambda np, x, y: x ** y, UFUNCS['power']),
}
COMPARISONS = {
    'less': lambda np, x, y: x < y,
    'less_equal': lambda np, x, y: x <= y,
    'greater': lambda np, x, y: x > y,
    'greater_equal': lambda np, x, y: x >= y,
    'equal': lambda np, x, y: x == y,
    'not_equal': lambda np, x, y: x != y,
}

for name, (operator, ufunc) in BINARY.items():
    for pair, args in PAIRS.items():
        program(f'{name}_{pair}', operator, *args)
    for pair in 'float_float', 'array_int', 'column_row':
        program(f'{name}_ufunc_{pair}', ufunc, *PAIRS[pair])
for name, operator in COMPARISONS.items():
    for pair in 'float_float', 'float_array', 'column_row':
        program(f'{name}_{pair}', operator, *PAIRS[pair])
    program(f'{name}_ufunc_float_float', UFUNCS[name], 0.7, 1.5)
    program(f'{name}_itself', operator, *[PAIRS['array_array'][0]] * 2)

FEW_PAIRS = ('float_float', 'array_array', 'array_float', 'int_array',
             'singlescalar_float', 'single_ints', 'column_row',
             'empty_float', 'ints_ints')
for pair in FEW_PAIRS:
    program(f'maximum_{pair}', lambda np, x, y: np.maximum(x, y),
            *PAIRS[pair])
program('maximum_complex', lambda np, x, y: np.maximum(x, y),
        np.array([.6 + 1j, 1.2j]), np.array([.9 + 1j, 0.5]),
        jax='JAX orders complex numbers otherwise')

# Operators with one operand that is not traced.

ARRAY, SINGLE = f64(3), f32(3)
REFLECTED = {
    'array': (ARRAY, f64(3)), 'matrix': (f64(2, 3), f64(3)),
    'scalar32': (np.float32(1.5), 0.7), 'float': (1.5, np.float32(0.7)),
}
OPERATORS = {name: op for name, (op, _) in BINARY.items()} | COMPARISONS
for name, operator in OPERATORS.items():
    for left, (c, x) in REFLECTED.items():
        program(f'{name}_{left}_on_the_left',
                lambda np, x, c=c, op=operator: op(np, c, x), x)
    program(f'{name}_list_on_the_left',
            lambda np, x, op=operator: op(np, [1., 2., 3.], x), f64(3),
            jax=NO_LISTS)
    program(f'{name}_list_of_traced',
            lambda np, x, op=operator: op(np, x, [x[2], 1., x[0]]), f64(3),
            jax=NO_LISTS)

for n in (-2, -1, 0, 1, 2, 3, 0.5, -1.5, 2.0, 0.0, True):
    program(f'power_{n}', lambda np, x, n=n: x ** n, f32(3))
    program(f'power_{n}_of_float', lambda np, x, n=n: x ** n, 1.3)
    program(f'power_ufunc_{n}', lambda np, x, n=n: np.power(x, n), f64(3))
program('power_of_zeros', lambda np, x: x ** np.arange(4), np.zeros(4),
        jax='JAX: the second derivative of x**1 is NaN at 0')

# The tangent of a Python number is as weak as the number.

for name, (operator, _) in BINARY.items():
    for pair in 'float_float', 'array_int', 'int_array':
        x, y = [1.5 if np.ndim(x) else x for x in PAIRS[pair]]
        program(f'weak_{name}_{pair}_meets_single',
                lambda np, x, y, op=operator: op(np, x, y) * SINGLE, x, y)
program('weak_mixed_meets_single',
        lambda np, x, z: (x + 2 * x ** 2 / 3 - 1) * SINGLE + z, 0.7, 0.2j)

# where

program('where', lambda np, c, x, y: np.where(c, x, y),
        np.array([True, False, True]), f64(3), f64(3))
program('where_compares', lambda np, x, y: np.where(x > y, x, y),
        f64(2, 3), f64(3))
program('where_single_float', lambda np, x, y: np.where([True, False], x, y),
        f32(2), 1.5, jax=NO_LISTS)
program('where_ints_single', lambda np, c, x, y: np.where(c, x, y),
        np.array([[True], [False]]), ints(2), f32(2))
program('where_condition_is_perturbed', lambda np, c: np.where(c, 1., 2.),
        np.array([0., 0.5]), truth=lambda np, c: np.where(c > .2, 1., 2.))
program('where_complex', lambda np, x, y: np.where([True, False], x, y),
        f32(2), c64(2), jax=NO_LISTS)

# sum

for axis in (None, 1, -2, (-1, 0), ()):
    program(f'sum_{axis}', lambda np, x, axis=axis: np.sum(x, axis),
            f64(2, 3, 2))
    program(f'sum_{axis}_keepdims', lambda np, x, axis=axis:
            x.sum(axis=axis, keepdims=True), f64(2, 3, 2))
program('sum_0d', lambda np, x: x.sum(), f64())
program('sum_empty', lambda np, x: np.sum(x, axis=1), f64(2, 0))
program('sum_bools', lambda np, x: x.sum(), bools(3))

# Shapes

for shape in -1, (3, -1), [1, 6, 1]:
    for order in 'CF':
        program(f'reshape_{shape}_{order}', lambda np, x, s=shape, o=order:
                np.reshape(x, s, order=o), f64(2, 3))
program('reshape_method_order', lambda np, x: x.reshape(3, 2, order='F'),
        f64(2, 3))
program('reshape_to_0d', lambda np, x: np.reshape(x, ()), f64(1, 1))
program('reshape_0d', lambda np, x: np.reshape(x, (1, 1)), f64())
program('reshape_empty_unknown', lambda np, x: x.reshape(2, -1), f64(0, 2))

for axes in (None, (2, 0, 1), (-1, 0, -2), [1, 0, 2]):
    program(f'transpose_{axes}', lambda np, x, axes=axes:
            np.transpose(x, axes), f64(2, 3, 1))
program('transpose_0d', lambda np, x: x.T, f64())

program('broadcast_to_column', lambda np, x: np.broadcast_to(x, (2, 2, 3)),
        f64(2, 1))
program('broadcast_to_int', lambda np, x: np.broadcast_to(x, 3), f64())
program('broadcast_float', lambda np, x: np.broadcast_to(x, (2,)), 0.7)

# matmul

MATMULS = {
    'vector_vector': (f64(3), f64(3)), 'matrix_vector': (f64(2, 3), f64(3)),
    'vector_matrix': (f64(3), f64(3, 2)),
    'matrix_matrix': (f64(2, 3), f64(3, 2)),
    'stacks': (f64(2, 2, 3), f64(2, 3, 1)),
    'broadcast': (f64(2, 1, 2, 3), f64(4, 3, 2)),
    'stack_vector': (f64(2, 2, 3), f64(3)), 'empty': (f64(2, 0), f64(0, 3)),
    'single_double': (f32(2, 3), f64(3)), 'ints': (ints(2, 3), f32(3)),
    'complex': (c128(2, 2), f64(2)), 'int_int': (ints(2, 3), ints(3)),
}
for name, args in MATMULS.items():
    program(f'matmul_{name}', lambda np, x, y: x @ y, *args)
program('matmul_ufunc', lambda np, x, y: np.matmul(x, y), f64(2, 3), f64(3))
program('matmul_list_right', lambda np, x: x @ [1., 2, 3], f64(3),
        jax=NO_LISTS)

# stack

for axis in 0, 2, -3:
    program(f'stack_{axis}', lambda np, x, y, axis=axis:
            np.stack([x, y], axis), f64(2, 3), f64(2, 3))
program('stack_rows', lambda np, x: np.stack(x, axis=1), f64(2, 3))
program('stack_single_float', lambda np, x: np.stack([x, 2.0]), f32())
program('stack_real_complex', lambda np, x, y: np.stack([x, y]),
        f64(2), c128(2))
program('stack_ints', lambda np, x: np.stack([x, x]), ints(2))

# astype

program('astype_single', lambda np, x: x.astype(np.float32), f64(3),
        step=0.25)
program('astype_int', lambda np, x: x.astype(int) * x, f64(2) + 1)
program('astype_ints', lambda np, x: x.astype(np.float32), ints(3))

# Indexing

INDICES = {
    'int': 1, 'negative': -1, 'slice': np.s_[1:], 'step': np.s_[::-1],
    'ellipsis_int': np.s_[..., 0], 'newaxis': np.s_[None, :, None],
    'int_slice': (0, np.s_[1:]), 'empty_tuple': (),
    'empty_slice': np.s_[2:1], 'array_2d': np.array([[1, 0], [0, -1]]),
    'uints': np.array([1, 0], np.uint8), '0d_array': np.array(1),
    'repeated': np.array([0, 0, 0]), 'column': np.s_[:, [2, 0]],
    'array_and_slice': (np.array([1, 1]), np.s_[:2]),
    'apart': (np.array([1, 0]), None, np.array([0, 2])),
    'grid': np.ix_([1, 0], [2, 1]), 'mask_rows': np.array([True, False]),
    'mask': np.array([[True, False, True], [False, True, False]]),
    'nothing_masked': np.zeros((2, 3), bool),
    'mask_and_int': (np.array([True, False]), 1),
    'empty_ints': np.zeros(0, int),
}
for name, index in INDICES.items():
    program(f'index_{name}', lambda np, x, i=index: x[i], f64(2, 3))
program('flat', lambda np, x: x.flat[1] + sum(x.flat) * x.flat[2:], f64(2, 3),
        jax='jax has no flat')
program('flat_in_functions', lambda np, x: np.sum(x.flat) * np.sin(x.flat),
        f64(2, 3), jax='jax has no flat')
program('index_false', lambda np, x: x[False], f64(2), jax=NO_STATIC_MASK)
program('index_0d', lambda np, x: x[()], f64())
program('index_empty_mask', lambda np, x: x[x > 0], f64(0, 3),
        jax='the shape of x[mask] depends on values')
program('index_compares', lambda np, x: x[x > 1], f64(2, 3),
        jax='the shape of x[mask] depends on values')
program('index_ints_argument', lambda np, x, i: x[i], f64(3), ints(2) - 2)
program('index_a_constant', lambda np, i: ad.asarray(ARRAY)[i] * 2.0,
        np.array([0, 2]), jax='ours')

# Writing into arrays

IMMUTABLE = "JAX's arrays do not change"
WRITTEN = {name: INDICES[name] for name in (
    'int', 'step', 'repeated', 'column', 'grid', 'mask', 'nothing_masked',
    'mask_and_int', 'empty_ints')} | {
    'none': np.s_[:, None, 1],
    'apart': (np.array([1, 0]), slice(None), np.array([0, 2]))}
for name, index in WRITTEN.items():
    def write(np, x, index=index):
        y = x * 2
        y[index] = np.sin(x)[index]
        return y * x

    program(f'write_{name}', write, f64(2, 2, 3) if name == 'apart'
            else f64(2, 3), jax=IMMUTABLE)


def program_that_writes(*args, **options):
    """Decorate a program of `np` and its arguments that fills arrays."""
    def add(function):
        program(function.__name__, function, *args, jax=IMMUTABLE, **options)
        return function
    return add


@program_that_writes(f64(3), ints(3) % 3)
def write_add_at_an_argument(np, x, i):
    y = np.array(x, like=x + i[0])
    np.add.at(y, i, x * 2)
    return y


@program_that_writes(f64(2, 3))
def write_out(np, x):
    z, u = np.zeros_like(x[0]), np.empty((2, 3), like=x)
    z = np.sin(x[0], out=z) + np.zeros_like(z)
    np.multiply(z, x[1], z)
    np.add(x[0], x[1], out=u)
    z = np.sum(u * u, axis=0, out=z) + np.zeros_like(z)
    w = np.ones_like(x[:, 0])
    w[:, ...] = np.dot(x[0], x[1])
    return z + u * w[1] + np.matmul(u, x[1], out=w)[:, None]


@program_that_writes(f64(3, 3))
def write_by_functions(np, x):
    y, z = x[1, :2] * 2, np.full((3, 3), 2.0, x.dtype, like=x)
    np.fill_diagonal(z, y)
    np.copyto(z, x * 2, where=x < 1)
    np.put(z, [1, -1, 1], y)
    np.putmask(z, np.eye(3, like=x)[::-1] > 0, x[0])
    np.place(z, np.tri(3, k=-2) > 0, y * 3)
    np.put_along_axis(z, np.array([[1], [0], [1]]), x[:, :1] ** 2, 1)
    np.put_along_axis(z, np.array([2]), y[:1], None)
    return z * x


@program_that_writes(f64(2, 3))
def write_add_at(np, x):
    y = x * x
    np.add.at(y, (np.array([0, 1, 1]), np.array([2, 0, 0])), x[1])
    np.subtract.at(y, np.s_[:, np.array([1, 1])], x[0, 0])
    np.add.at(y, 0, x[1] * 2)
    np.add.at(y, np.array([[True, False, True], [False, True, False]]), 1.0)
    return y * x


@program_that_writes(np.array([0.7, 0.4, 1.3]))
def write_parts(np, x):
    y, z = x * (1 + 2j), x * 1
    y.imag = np.sin(x)
    y.real[1:] *= x[0]
    z.real = y.imag * y.real
    return y * z


@program_that_writes(f64(4))
def write_by_methods(np, x):
    z, u, w = x.copy(), x.flatten(), x.astype(x.dtype)
    z.sort()
    u.fill(x[1] * x[2])
    w.put([0, 2], z[:2] * x[3])
    return z * u + w + x


LIKE = {    # with like=: the arguments
    'eye': (2, 3, 1, np.float32), 'identity': (2, np.float32),
    'tri': (3, 2, -1, np.int8), 'arange': (1, 7, 2, np.float32),
    'ones': (2, np.int8), 'zeros': (2, np.int8), 'full': (2, 1.5, np.float32),
}
for name, args in LIKE.items():
    program(f'{name}_like_traced', lambda np, x, name=name, args=args:
            getattr(np, name)(*args[:-1], dtype=args[-1], like=x) * 2
            + getattr(np, name)(*args, like=x), f64(2), jax='ours')

# Functions that are not one operation

program('python_max', lambda np, x: max(x), f64(3),
        jax='JAX: `if` needs values')
program('second_argument', lambda np, x, y: y, f64(3), f64(2))
program('control_flow', lambda np, x: np.sin(x) if x > 0.5 else -x, 0.7,
        jax='JAX: `if` needs values')
program('rosenbrock', lambda np, x:
        np.sum(100. * (x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2), f64(4))
program('mixed_numbers', lambda np, x, n: n * x ** n + x / n, f32(3), 3,
        ulps=2)     # a small power consists of products
program('stop_gradient', lambda np, x: x * ad.stop_gradient(x), 0.7,
        truth=lambda np, x: x * 0.7, jax='ours')
program('error_state', lambda np, x: ad.jit(np.errstate(over='raise')(
    lambda x, y: np.sin(x) * y))(x, x * x), ARRAY, jax='ours')
program('asarray', lambda np, x: ad.asarray([x, 2 * x, 1.0]) * x, 0.7,
        truth=lambda np, x: np.stack([x, 2 * x, 1.0]) * x, jax='ours')
program('asarray_dtype', lambda np, x: ad.asarray(x, np.float64) * x, f32(2),
        truth=lambda np, x: x * x, jax='ours')

# The other functions of one operand

COMPLEX_UNARY = called(
    'tan arctan sinh cosh arcsinh exp2 expm1 log1p log2 log10 square '
    'positive imag angle sinc isnan isfinite isinf') | {
    'arcsin': lambda np, x: np.arcsin(x / 8),
    'arccos': lambda np, x: np.arccos(x / 8),
    'arccosh': lambda np, x: np.arccosh(x + 1),
    'arctanh': lambda np, x: np.arctanh(x / 8),
    'plus': lambda np, x: +x,
    'abs': lambda np, x: abs(x),
    'absolute': lambda np, x: np.absolute(x) * x,
    'sign': lambda np, x: np.sign(x - 0.85),
    'conjugate': lambda np, x: np.conjugate(x) * x,
    'real': lambda np, x: np.real(x) * x,
    'round': lambda np, x: np.round(x * 1.28, 1),
}
REAL_UNARY = called('cbrt deg2rad rad2deg radians degrees') | {
    'floor': lambda np, x: np.floor(2 * x + 0.25),
    'ceil': lambda np, x: np.ceil(2 * x + 0.25),
    'rint': lambda np, x: np.rint(2 * x + 0.2),
    'trunc': lambda np, x: np.trunc(2 * x + 0.25) * x,
    'signbit': lambda np, x: np.signbit(0.8 - x),
    'nan_to_num': lambda np, x: np.nan_to_num(x) * x,
}
OTHER_DTYPE = 'JAX has another dtype for integers'
COMPLEX_SIGN = 'JAX: the derivative of a complex sign is 0'

for name, function in (COMPLEX_UNARY | REAL_UNARY).items():
    for point in FEW:
        if point == 'complex' and name in ('exp2', *REAL_UNARY):
            continue
        program(f'{name}_{point}', function, POINTS[point],
                ulps=8 if name in ('sinc', 'angle') else 1,
                jax=COMPLEX_SIGN if (name, point) == ('sign', 'complex')
                else '')

program('reciprocal_float', lambda np, x: np.reciprocal(x), 0.7)
program('reciprocal', lambda np, x: np.reciprocal(x), f32(3))
program('reciprocal_complex', lambda np, x: np.reciprocal(x), c128(3))
program('reciprocal_ints', lambda np, x: np.reciprocal(x), ints(3),
        jax='JAX has no reciprocal of integers')
program('abs_at_zero', lambda np, x: np.abs(x), np.zeros(2),
        truth=lambda np, x: 0 * x, jax='JAX: the derivative is 1 there')
program('abs_of_complex_zero', lambda np, x: np.abs(x), np.zeros(2, complex),
        truth=lambda np, x: 0 * np.real(x),
        jax='JAX: the second derivative there is NaN')
program('real_imag_weak', lambda np, x: (x.real + x.imag) * SINGLE,
        0.7 + 0.2j)
program('round_operator', lambda np, x: round(x, 1) * x, np.float64(0.73))
program('around', lambda np, x: np.around(x * 90, -1), f64(3))
program('round_ints_to_tens', lambda np, x: np.round(x * 3, -1), ints(3),
        jax='JAX does not round integers to tens')
program('nan_to_num_of_them', lambda np, x: np.nan_to_num(x, nan=2.5),
        np.array([np.inf, -np.inf, np.nan, 3.]),
        truth=lambda np, x: np.where(np.isfinite(x), x, 0))
program('nan_to_num_values', lambda np, x:
        np.nan_to_num(np.where(x > 1, np.inf, x), posinf=9., neginf=1.),
        f32(3))

# The other functions of two operands

OTHER_BINARY = called('arctan2 hypot logaddexp logaddexp2 minimum fmax fmin '
                      'float_power') | {
    'floor_divide': lambda np, x, y: (3.3 * x) // y,
    'remainder': lambda np, x, y: (3.3 * x) % y,
    'fmod': lambda np, x, y: np.fmod(-3.3 * x, y),
    'copysign': lambda np, x, y: np.copysign(x, -y),
    'heaviside': lambda np, x, y: np.heaviside(x - 1, y),
}
for name, function in OTHER_BINARY.items():
    for pair in FEW_PAIRS:
        program(f'{name}_{pair}', function, *PAIRS[pair])

program('fmax_nan', lambda np, x, y: np.fmax(x, y) + np.fmin(y, x),
        np.array([1., np.nan]), np.array([2., 3.]),
        truth=lambda np, x, y: np.where(np.isnan(x), 2 * y, x + y),
        jax='JAX: NaN')
program('hypot_at_origin', lambda np, x, y: np.hypot(x, y), 0.0, 0.0,
        truth=lambda np, x, y: 0 * x, jax='JAX: 1')
program('logaddexp_infinite', lambda np, x, y: np.logaddexp(x, y),
        np.array([-np.inf, 0.5]), np.array([0.5, -np.inf]),
        truth=lambda np, x, y: np.where(np.isfinite(x), x, y))
program('heaviside_at_zero', lambda np, x, y: np.heaviside(x, y),
        np.array([-1, 0., 1]), f64(3), truth=lambda np, x, y: np.where(
            np.abs(x) < 0.5, y, x > 0), jax='JAX: NaN at 0')
program('divmod', lambda np, x, y: sum(divmod(x, y)), 7.3 * f64(2), f64(2))
program('floor_divide_ufunc', lambda np, x, y: np.floor_divide(x, y),
        7.3, 2.0)
program('remainder_ufunc', lambda np, x, y: np.remainder(x, y), 7.3, -2.0)
program('divmod_reflected', lambda np, x: sum(divmod(6.3, x)), f64(2))
program('divmod_ufunc', lambda np, x, y: np.stack(
    [z / 3 for z in np.divmod(x, y)]), 7.3 * f64(2), f64(2))
program('vecdot', lambda np, x, y: np.vecdot(x, y), f64(2, 3), f64(3),
        ulps=4)
program('vecdot_complex', lambda np, x, y: np.vecdot(x, y), c128(2, 3),
        c128(2, 3), ulps=8)

BITS = {
    'and': (lambda np, x, y: x & y, UFUNCS['bitwise_and']),
    'or': (lambda np, x, y: x | y, UFUNCS['bitwise_or']),
    'xor': (lambda np, x, y: x ^ y, UFUNCS['bitwise_xor']),
    'left_shift': (lambda np, x, y: x << y, UFUNCS['left_shift']),
    'right_shift': (lambda np, x, y: x >> y, UFUNCS['right_shift']),
}
for name in 'logical_and', 'logical_or', 'logical_xor':
    program(name, UFUNCS[name], np.array([0.5, 0, 2, 0]),
            np.array([0., 0, 1, 0]))
    program(f'{name}_mixed', UFUNCS[name], f32(2), np.array([0, 1]))
    program(f'{name}_complex', UFUNCS[name], c64(2), True)
program('logical_not', lambda np, x: np.logical_not(x), np.array([0., 1]))
for name, (operator, ufunc) in BITS.items():
    program(f'{name}_ints', operator, ints(3), ints(3))
    program(f'{name}_ufunc', ufunc, ints(3), ints(3, dtype=np.int8),
            jax=OTHER_DTYPE if name.endswith('shift') else '')
    program(f'{name}_python_int', operator, ints(3), 2)
    program(f'{name}_numbers', operator, 6, 3)
    program(f'{name}_reflected', lambda np, x, op=operator: op(np, 2, x),
            ints(3, dtype=np.int32))
    if not name.endswith('shift'):
        program(f'{name}_bools', operator, bools(3), bools(3))
program('invert', lambda np, x: np.invert(x), ints(3))
program('mask_algebra', lambda np, x: np.where(
    ~((x > 0.7) & (x < 1.2)) | (x == 1), x, -x), f64(4))

# The other reductions

REDUCTIONS = called('max min prod mean var std any all count_nonzero')
for name, function in REDUCTIONS.items():
    ulps = 4 if name in ('var', 'std') else 1
    for axis, keep in (None, False), (-2, True), ((0, 2), False):
        program(f'{name}_{axis}{"_keepdims" * keep}',
                lambda np, x, f=function, kw=dict(axis=axis, keepdims=keep):
                f(np, x, **kw), f64(2, 3, 2), ulps=ulps)
    if name not in ('var', 'std'):      # of one number, they are 0
        program(f'{name}_float', function, 0.7)
    program(f'{name}_half', function, f16(3), ulps=ulps, jax=HALF_CAST)
    program(f'{name}_ints', function, ints(3), ulps=ulps)
    if name not in ('max', 'min'):
        program(f'{name}_complex', function, c128(3), ulps=ulps)
        program(f'{name}_empty', lambda np, x, f=function: f(np, x, axis=1),
                f64(0, 2), ulps=ulps)
program('prod_of_zeros', REDUCTIONS['prod'],
        np.array([[1., 0., 2.], [0., 0., 3.]]))
for name, function in called('amax amin').items():
    program(name, function, f64(2, 3))

TIES = np.array([[1., 2., 2.], [2., 1., 0.]])
program('max_of_ties', lambda np, x: np.max(x, 1), TIES,
        truth=lambda np, x: np.stack([(x[0, 1] + x[0, 2]) / 2, x[1, 0]]))
program('min_of_ties', lambda np, x: np.min(x), np.array([0., 1., 0., 0.]),
        truth=lambda np, x: (x[0] + x[2] + x[3]) / 3)
HUNDREDS = np.array([[100, 100], [3, 100]])
for name in 'sum', 'prod', 'cumsum', 'cumprod':
    for dtype in np.int8, np.uint16, bool:
        program(f'{name}_as_{np.dtype(dtype)}',
                lambda np, x, name=name, dtype=dtype: getattr(np, name)(
                    x, axis=0, dtype=dtype), HUNDREDS)
program('trace_as_int8', lambda np, x: np.trace(x, dtype=np.int8), HUNDREDS)
program('average', lambda np, x: np.average(x, axis=1), f64(2, 3))
program('average_weights', lambda np, x, w: np.average(x, weights=w),
        f64(2, 3), f64(2, 3), ulps=4)
program('average_total', lambda np, x: x * np.average(
    x, 0, np.array([1.0, 2.5]), returned=True)[1], f64(2, 3))
program('average_axis', lambda np, x, w:
        np.average(x, axis=1, weights=w, keepdims=True), f32(2, 3), f64(3),
        ulps=4)

for name in 'argmax', 'argmin':
    for axis, keep in (None, False), (0, True), (-1, False):
        program(f'{name}_{axis}{"_keepdims" * keep}',
                lambda np, x, name=name, axis=axis, keep=keep:
                getattr(np, name)(x, axis=axis, keepdims=keep), f64(2, 3))

for name in 'sort', 'argsort', 'cumsum', 'cumprod':
    for axis in None, 0, -1:
        program(f'{name}_{axis}', lambda np, x, name=name, axis=axis:
                getattr(np, name)(x, axis=axis), f64(2, 3))
for name in 'cumsum', 'cumprod':
    for kind, x in {'half': f16(3), 'complex': c128(3), 'bools': bools(3),
                    '0d': f64(), 'int8s': ints(3, dtype=np.int8),
                    'empty': f64(0, 2),
                    'float': 0.7}.items():
        program(f'{name}_{kind}', lambda np, x, name=name:
                getattr(np, name)(x), x,
                jax=OTHER_DTYPE if kind in ('bools', 'int8s') else '')

for n in 0, 2:
    program(f'diff_{n}', lambda np, x, n=n: np.diff(x, n), f64(4))
program('diff_ends', lambda np, x: np.diff(x, prepend=0., append=x[:, :2]),
        f64(2, 3))

# clip, select, and similar functions

program('clip_arrays', lambda np, x, low, high: np.clip(x, low, high),
        f32(3), f64(2, 1) - 0.3, 1.2)
program('clip_float', lambda np, x: np.clip(x, 0, 1), 0.7)
program('clip_ints', lambda np, x: np.clip(x, -300, 300),
        ints(3, dtype=np.int8), jax='JAX: 300 is no int8')
program('select', lambda np, x, y: np.select([x > 1.2, x > 0.8], [x, y]),
        f64(4), f64(4))
program('isclose', lambda np, x, y: np.isclose(x, y), f64(3),
        np.array([0.5, np.inf, np.nan]))
program('isclose_ints', lambda np, x, y: np.isclose(x, y, atol=2), ints(3), 2)
program('allclose', lambda np, x: x * (1 + np.allclose(0.8 * x, x, 0.22)),
        f64(3))
program('allclose_of_nan', lambda np, x: np.allclose(
    x, x + 1e-12, equal_nan=True) * x[1], np.array([np.nan, 1.5]))
program('searchsorted', lambda np, x:
        np.searchsorted(np.array([0.6, 0.9, 1.1]), x), f64(2, 3))
program('searchsorted_right', lambda np, x:
        np.searchsorted(x, np.array([0.1, 0.9, 9.]), side='right'),
        np.array([0.1, 0.9, 0.9]))
program('searchsorted_sorter', lambda np, x: np.searchsorted(
    x, 0.5, sorter=np.argsort(x)), np.array([0.9, 0.1, 0.2]))
KNOTS = np.array([0.5, 0.8, 1.3])
program('interp', lambda np, x, y: np.interp(x, KNOTS, y), f64(4), f64(3),
        ulps=4, double=True)
program('interp_at_knots', lambda np, x, y: np.interp(x, KNOTS, y), KNOTS,
        f64(3), truth=lambda np, x, y: y + np.array(
            [y[1] - y[0], y[2] - y[1], 0]) / np.array([0.3, 0.5, 1])
        * (x - KNOTS), ulps=4, jax='JAX: other sides of the knots')
program('linspace', lambda np, x, y: np.linspace(x, y, 5), 0.7, 2.5, ulps=2)
program('linspace_arrays', lambda np, x, y: np.linspace(x, y, 3, axis=-1),
        f32(2), f64(3, 1), ulps=2)
program('linspace_open', lambda np, x: np.linspace(0, x, 4, endpoint=False),
        f64(2), ulps=2)

# The other functions of the shape

SHAPES = {
    'ravel_columns': (lambda np, x: x.ravel('F'), f64(2, 3)),
    'squeeze': (lambda np, x: np.squeeze(x, 2) * np.squeeze(x), f64(1, 2, 1)),
    'swapaxes': (lambda np, x: np.swapaxes(x, 0, -1), f64(2, 3, 1)),
    'matrix_transpose': (lambda np, x: np.matrix_transpose(x) * x.mT,
                         f64(2, 3, 1)),
    'atleast_1d': (lambda np, x: np.atleast_1d(x), f64()),
    'atleast_2d': (lambda np, x: np.atleast_2d(x), f64(3)),
    'fliplr': (lambda np, x: np.fliplr(x), f64(2, 3)),
    'flip': (lambda np, x: np.flip(x, 1), f64(2, 3)),
    'flipud': (lambda np, x: np.flipud(x), f64(2, 3)),
    'rot90': (lambda np, x: np.rot90(x), f64(2, 3)),
    'roll': (lambda np, x: np.roll(x, 2), f64(2, 3)),
    'roll_axes': (lambda np, x: np.roll(x, (1, 2), (0, 1)), f64(2, 3)),
    'tile': (lambda np, x: np.tile(x, 2), f64(2, 3)),
    'repeat': (lambda np, x: np.repeat(x, 2), f64(2, 2)),
    'take': (lambda np, x: np.take(x, [4, 0]), f64(2, 3)),
    'take_wrap': (lambda np, x: np.take(x, np.array([-3, 7]), mode='wrap'),
                  f64(5)),
    'take_clip': (lambda np, x: np.take(x, np.array([-3, 7]), mode='clip'),
                  f64(5)),
    'tril': (lambda np, x: np.tril(x), f64(3, 3)),
    'triu': (lambda np, x: np.triu(x, 1), f64(2, 3, 3)),
    'diag': (lambda np, x: np.diag(x), f64(3)),
    'diag_above': (lambda np, x: np.diag(x, 2), f32(2)),
    'diagonal': (lambda np, x: np.diagonal(x), f64(2, 3)),
    'trace': (lambda np, x: np.trace(x), f64(3, 3)),
    'meshgrid': (lambda np, x: np.stack(np.meshgrid(x, x[:2] * 2)), f64(3)),
    'meshgrid_ij': (lambda np, x: np.stack(
        np.meshgrid(x, x[:1], np.ones(2), indexing='ij')), f64(2)),
    'full_like': (lambda np, x: np.full_like(x, 2.5, dtype=np.float64) * x,
                  f32(3)),
    'empty_like': (lambda np, x: 0 * np.empty_like(x) + x, f32(3)),
    'copy': (lambda np, x: np.copy(x) * x.copy(), f32(3)),
    'result_type': (lambda np, x: np.ones(3, np.result_type(x, np.float64))
                    * x, f32(3)),
    'itemsize': (lambda np, x: x * x.itemsize + x.nbytes, f32(3)),
}
TRUTHS = {'itemsize': lambda np, x: 4 * x + 12}
NO_JAX = {'take': NO_LISTS, 'take_axis': NO_LISTS, 'repeat_axis': NO_LISTS}
for name, (function, x) in SHAPES.items():
    program(name, function, x, truth=TRUTHS.get(name),
            jax=NO_JAX.get(name, ''))

JOINS = called('concatenate vstack hstack column_stack') | {
    'concatenate_axis': lambda np, xs: np.concatenate(xs, axis=-1),
    'concatenate_flat': lambda np, xs: np.concatenate(xs, axis=None),
}
for name, function in JOINS.items():
    for kind, args in {'matrices': (f64(2, 2), f64(2, 2)),
                       'ints_single': (ints(2), f32(2))}.items():
        program(f'{name}_{kind}', lambda np, *xs, f=function: f(np, xs),
                *args, jax='' if kind != 'ints_single' else
                'JAX: int64 and float32 make float32')
for name, cuts in {'two': 2, 'at': [1, 3], 'past': [-1, 9]}.items():
    program(f'split_{name}', lambda np, x, cuts=cuts: sum(
        part.sum() * (i + 1) for i, part in enumerate(np.split(x, cuts))),
        f64(4), jax='JAX: no cuts past the end' if name == 'past' else '')
program('array_split', lambda np, x: np.array_split(x, 3)[1], f64(5, 2))

PADS = {
    'edge': lambda np, x: np.pad(x, 2, 'edge'),
    'wrap': lambda np, x: np.pad(x, ((0, 0), (2, 1)), mode='wrap'),
}
for name, function in PADS.items():
    program(f'pad_{name}', function, f64(2, 3))
program('pad_ints', lambda np, x: np.pad(x, 1, constant_values=2.5), ints(3))

# Products

PRODUCTS = called('dot outer') | {
    'inner': lambda np, x, y: np.inner(x, y.T),
    'tensordot_1': lambda np, x, y: np.tensordot(x, y, 1),
    'tensordot_0': lambda np, x, y: np.tensordot(x, y, 0),
}
for name, function in PRODUCTS.items():
    for pair in ('vector_vector', 'matrix_matrix', 'empty', 'ints',
                 'complex', 'int_int'):
        program(f'{name}_{pair}', function, *MATMULS[pair], ulps=4)
program('dot_scalars', lambda np, x, y: np.dot(x, y), f64(2), 3.0)
program('dot_stacks', lambda np, x, y: np.dot(x, y), f64(2, 3), f64(2, 3, 2),
        ulps=4)

EINSUMS = {
    'ij,jk->ik': (f64(2, 3), f64(3, 2)),
    'ii->i': (f64(3, 3),),
    'ii': (f64(3, 3),),
    'i,i->': (c64(3), f32(3)),
    'ij,jk->i': (f64(2, 0), f64(0, 2)),
}
for subscripts, args in EINSUMS.items():
    program(f'einsum_{subscripts}', lambda np, *xs, s=subscripts:
            np.einsum(s, *xs), *args, ulps=8,
            jax='JAX refuses 1 against 2' if args[0].shape == (1, 3) else '')

# Linear algebra

SQUARE = f64(3, 3) + 2 * np.eye(3)
STACK = f64(2, 3, 3) + 2 * np.eye(3)
COMPLEX = c128(2, 2) + 2 * np.eye(2)
LINALG = {
    'inv': (lambda np, a: np.linalg.inv(a), SQUARE),
    'inv_stack': (lambda np, a: np.linalg.inv(a), STACK),
    'inv_complex': (lambda np, a: np.linalg.inv(a), COMPLEX),
    'inv_ints': (lambda np, a: np.linalg.inv(a), np.array([[2, 1], [1, 3]])),
    'solve': (lambda np, a, b: np.linalg.solve(a, b), SQUARE, f64(3)),
    'solve_stack': (lambda np, a, b: np.linalg.solve(a, b), STACK,
                    f64(2, 3, 1)),
    'solve_one_stack': (lambda np, a, b: np.linalg.solve(a, b), SQUARE,
                        f64(2, 3, 2)),
    'solve_complex': (lambda np, a, b: np.linalg.solve(a, b), COMPLEX,
                      f64(2)),
    'det': (lambda np, a: np.linalg.det(a), SQUARE),
    'det_stack': (lambda np, a: np.linalg.det(a), STACK),
    'det_complex': (lambda np, a: np.linalg.det(a), COMPLEX),
    'slogdet': (lambda np, a: np.linalg.slogdet(a)[1], SQUARE),
    'slogdet_complex': (lambda np, a: (lambda s, d: s * np.exp(d))(
        *np.linalg.slogdet(a)), COMPLEX),
    'cholesky': (lambda np, a: np.linalg.cholesky(a @ np.swapaxes(a, -1, -2)),
                 SQUARE),
    'cholesky_upper': (lambda np, a: np.linalg.cholesky(a @ a.T, upper=True),
                       SQUARE),
    'cholesky_complex': (lambda np, a: np.linalg.cholesky(a @ a.conj().T),
                         COMPLEX),
}
for name, (function, *args) in LINALG.items():
    program(name, function, *args, double=True, ulps=8)
TRIANGLE = 'JAX 0.10.2 reads the mean of both triangles'
for ord in (None, 0, 1, 2, 0.5, np.inf, -np.inf, -1):
    program(f'norm_{ord}', lambda np, x, ord=ord: np.linalg.norm(x, ord),
            f64(4), ulps=4)
program('norm_3_axis', lambda np, x: np.linalg.norm(x, 3, axis=0),
        f32(2, 3), ulps=4)
for ord in ('fro', 1, -1, np.inf, -np.inf):
    program(f'matrix_norm_{ord}_axes', lambda np, x, ord=ord:
            np.linalg.norm(x, ord, axis=(2, 0), keepdims=True),
            f64(2, 3, 2), ulps=4)
program('matrix_norm', lambda np, x: np.linalg.norm(x), f64(2, 3), ulps=4)

# Reductions with where= and initial=

MASK = np.array([True, False, True])
MASKED = {
    'sum_where': lambda np, x: np.sum(x, 1, where=MASK) * np.sum(
        x > 0, 1, bool, where=MASK),
    'max_initial': lambda np, x: np.max(x, 0, initial=1.1),
    'mean_where': lambda np, x: np.mean(x, 1, where=MASK),
    'min_where': lambda np, x: np.min(x, 1, where=MASK, initial=2.0),
    'prod_where': lambda np, x: np.prod(x, 1, where=MASK),
}
for name, function in MASKED.items():
    program(name, function, np.array([[0.7, 1.35, 0.9], [1.45, 0.6, 0.8]]),
            ulps=4)
program('var_mean', lambda np, x: np.var(x, 0, mean=np.mean(
    x, 0, keepdims=True)), f64(2, 3), ulps=4)
program('max_initial_of_nothing', lambda np, x: np.max(x, 1, initial=2.0),
        f64(3, 0), jax='its slope by nothing is NaN')

# Joining in a dtype, and extra results

program('stack_dtype', lambda np, x: np.stack([x, x], dtype=np.float32),
        f64(3), step=0.25, jax='JAX warns')
program('interp_period', lambda np, x, y: np.interp(
    x, [5.0, 1.0, 2.0], y, period=4), 3 * f64(4), f64(3), ulps=4,
    jax='JAX takes no lists')

# Functions that no other program calls.

KEPT = np.array([True, False, True, True])
ONCE = {
    'argwhere': lambda np, x: x[np.argwhere(KEPT)],
    'nonzero': lambda np, x: x[np.nonzero(KEPT)],
    'flatnonzero': lambda np, x: x[np.flatnonzero(KEPT)],
    'histogram_bin_edges': lambda np, x: np.histogram_bin_edges(x) * x[0],
    'broadcast_arrays': lambda np, x: np.stack(
        np.broadcast_arrays(x, x[0])),
    'take_along_axis': lambda np, x: np.take_along_axis(
        x, np.array([2, 0]), 0),
    'astype_function': lambda np, x: np.astype(x, np.float32),
    'moved': lambda np, x: np.moveaxis(np.expand_dims(x, 1), 0, -1),
    'raveled': lambda np, x: np.ravel(x) * np.shape(x)[0],
    'counted': lambda np, x: x * np.ndim(x) + np.size(x)}
for name, function in ONCE.items():
    program(name, function, f64(4), **(
        {'jax': 'its edges are constants'} if 'edges' in name else
        {'step': 0.25} if 'astype' in name else {}))

NOT_STAGED = {    # Python or NumPy asks for values
    'index_compares': TypeError,
    'index_empty_mask': TypeError,
    'python_max': ad.TracerBoolConversionError,
    'control_flow': ad.TracerBoolConversionError,
}


def is_of_the_core(program):
    """Return whether the core has all functions that a program calls."""
    try:
        with np.errstate(all='ignore'):
            spied(partial(program.function, np), *program.args)
    except (NotImplementedError, TracerError):
        return False
    return True


if find_spec('autodiff_mini.wings.more_numpy'):     # a wing, and the programs that it runs
    import tests.tables.more_numpy.programs  # noqa: F401
else:
    PROGRAMS[:] = filter(is_of_the_core, PROGRAMS)
