"""NumPy as the language: what a NumPy call on a tracer means.

Its one idea: NumPy asks before it computes (NEP 13 for ufuncs, NEP 18 for
functions), and the answer is a primitive.  Chapter 1; most of the functions
are in the appendix.
"""

import math
import operator

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from autodiff_mini.core import (
    PYTHON_NUMBERS, Tracer, current_trace, function_table, typeof,
    ufunc_table)
from autodiff_mini.errors import refuse
from autodiff_mini.primitives import (
    OPERAND, add_p, astype_p, broadcast_to_p, cos_p, div_p, eq_p, exp_p,
    ge_p, gt_p, index_p, le_p, log_p, lt_p, matmul_p, max_p, mul_p, ne_p,
    neg_p, pow_p, reduce_sum_p, reshape_p, sin_p, sqrt_p, stack_p, sub_p,
    tanh_p, transpose_p, where_p)


def asarray(a, dtype=None):
    """Returns the array `a` as the interpreter at work sees it.

    NumPy asks no tracer about `a[i]` when only the index `i` is traced, nor
    about `np.array([x, y])`.  `asarray(a)[i]` and `asarray([x, y])` are
    traced.  Where nothing is traced, the result is a plain array.

    Args:
        a: an array, a number, a tracer, or nested lists of these, which are
            stacked.
        dtype: the dtype of the result; by default that of `a`.

    Raises:
        TypeError: `a` holds something that is no array.

    Examples:
        >>> import autodiff_mini as ad
        >>> ad.jvp(lambda x: ad.asarray([x, 2 * x]), (1.0,), (1.0,))
        (array([1., 2.]), array([1., 2.]))
    """
    a = strong(operand(a))
    if dtype is not None:
        a = convert(a, np.dtype(dtype))
    return a if isinstance(a, Tracer) else current_trace().lift(a)


def operand(x):
    """Returns `x` as something a primitive takes; lists become arrays."""
    if isinstance(x, Tracer) or type(x) in PYTHON_NUMBERS:
        return x
    if isinstance(x, (list, tuple)):
        rows = list(map(operand, x))
        traced = any(isinstance(row, Tracer) for row in rows)
        x = np.stack(rows) if traced else np.asarray(x)
    typeof(x)   # raises where it is no array
    return x


def convert(x, dtype, weak_type=False):
    """Returns `x` with this dtype; weak means as a Python number."""
    aval = typeof(x)
    if aval.dtype == dtype and aval.weak_type == weak_type:
        return x
    return astype_p.bind(x, dtype=dtype, weak_type=weak_type)


def ufunc(function, primitive):
    """Lets `primitive` stand for a ufunc."""
    def call(*args):
        return primitive.bind(*map(operand, args))
    ufunc_table[function] = primitive.bind if function.nin == 1 else call


ufunc(np.sin, sin_p)
ufunc(np.cos, cos_p)
ufunc(np.tanh, tanh_p)
ufunc(np.exp, exp_p)
ufunc(np.log, log_p)
ufunc(np.sqrt, sqrt_p)
ufunc(np.maximum, max_p)


def strong(x):
    """Returns `x` as an array where it is, or stands for, a Python number."""
    return convert(x, typeof(x).dtype)


def operator_ufunc(function, primitive, name, mirrored=None):
    """Lets `primitive` stand for a ufunc, and for the operator it is.

    Args:
        function: the ufunc.
        primitive: what stands for it.
        name: the method that Python calls for the operator.
        mirrored: the one that it calls when only the right operand has it.
    """
    def call(*args):
        args = list(map(operand, args))
        if all(typeof(x).weak_type for x in args):
            args = map(strong, args)
        return primitive.bind(*args)

    def unary(self):
        return primitive.bind(self)

    def binary(self, other):
        return primitive.bind(self, operand(other))

    def binary_mirrored(self, other):
        return primitive.bind(operand(other), self)

    ufunc_table[function] = call
    setattr(Tracer, name, unary if function.nin == 1 else binary)
    if mirrored:
        setattr(Tracer, mirrored, binary_mirrored)


operator_ufunc(np.negative, neg_p, '__neg__')
operator_ufunc(np.add, add_p, '__add__', '__radd__')
operator_ufunc(np.subtract, sub_p, '__sub__', '__rsub__')
operator_ufunc(np.multiply, mul_p, '__mul__', '__rmul__')
operator_ufunc(np.divide, div_p, '__truediv__', '__rtruediv__')
operator_ufunc(np.power, pow_p, '__pow__', '__rpow__')
operator_ufunc(np.matmul, matmul_p, '__matmul__', '__rmatmul__')
operator_ufunc(np.less, lt_p, '__lt__')
operator_ufunc(np.less_equal, le_p, '__le__')
operator_ufunc(np.greater, gt_p, '__gt__')
operator_ufunc(np.greater_equal, ge_p, '__ge__')
operator_ufunc(np.equal, eq_p, '__eq__')
operator_ufunc(np.not_equal, ne_p, '__ne__')


def implements(function):
    """Returns a decorator: the decorated stands for a NumPy function."""
    def register(implementation):
        function_table[function] = implementation
        return implementation
    return register


@implements(np.sum)
def numpy_sum(a, axis=None, dtype=None, out=None, keepdims=False, *,
              initial=None, where=None):
    refuse(np.sum, out=out, initial=initial, where=where)
    a = asarray(a, dtype)
    axes = range(a.ndim) if axis is None else axis
    axes = normalize_axis_tuple(axes, a.ndim)
    return reduce_sum_p.bind(a, axis=axes, keepdims=bool(keepdims))


@implements(np.reshape)
def numpy_reshape(a, shape, order='C', *, copy=None):
    a = asarray(a)
    if order == 'F':
        return np.transpose(np.reshape(np.transpose(a), reverse(shape)))
    if order != 'C':
        raise NotImplementedError('numpy.reshape of a traced value takes '
                                  f"order 'C' or 'F', not {order!r}")
    return reshape_p.bind(a, shape=full_shape(a.shape, shape))


def reverse(shape):
    return shape[::-1] if isinstance(shape, (tuple, list)) else shape


def full_shape(old, new):
    """Returns the shape `new`, with the length that -1 stands for."""
    new = new if isinstance(new, (tuple, list)) else (new,)
    return np.empty(old, np.void).reshape(new).shape


@implements(np.transpose)
def numpy_transpose(a, axes=None):
    a = asarray(a)
    axes = range(a.ndim)[::-1] if axes is None else axes
    return transpose_p.bind(a, axes=normalize_axis_tuple(axes, a.ndim))


@implements(np.broadcast_to)
def numpy_broadcast_to(array, shape, subok=False):
    shape = tuple(shape) if np.iterable(shape) else (shape,)
    return broadcast_to_p.bind(asarray(array), shape=shape)


@implements(np.stack)
def numpy_stack(arrays, axis=0, out=None, *, dtype=None, casting=None):
    refuse(np.stack, out=out, dtype=dtype)
    arrays = [operand(a) for a in arrays]
    ndim = typeof(arrays[0]).ndim + 1
    return stack_p.bind(*arrays, axis=normalize_axis_index(axis, ndim))


@implements(np.where)
def numpy_where(condition, x, y):
    return where_p.bind(operand(condition), operand(x), operand(y))


@implements(np.astype)
def numpy_astype(x, dtype, /, *, copy=True):
    return convert(x, np.dtype(dtype))


@implements(np.shape)
def numpy_shape(a):
    return a.shape


@implements(np.ndim)
def numpy_ndim(a):
    return a.ndim


@implements(np.size)
def numpy_size(a, axis=None):
    return a.size if axis is None else a.shape[axis]


def method(name, function):
    """Gives tracers the method that arrays have for a NumPy function."""
    def call(self, *args, **kwargs):
        return function(self, *args, **kwargs)
    setattr(Tracer, name, call)


method('sum', np.sum)
method('astype', np.astype)


def shape_method(name, function):
    """As `method`, for `x.reshape(2, 3)` beside `x.reshape((2, 3))`."""
    def call(self, *args, **kwargs):
        if len(args) > 1:
            args = [args]
        return function(self, *args, **kwargs)
    setattr(Tracer, name, call)


shape_method('reshape', np.reshape)
shape_method('transpose', np.transpose)
Tracer.T = property(np.transpose)
Tracer.size = property(lambda self: math.prod(self.shape))


def getitem(x, indices):
    """Returns `x[indices]`: arrays among the indices become operands."""
    if not isinstance(indices, tuple):
        indices = (indices,)
    static, arrays = [], []
    for i in indices:
        if i is None or i is Ellipsis or isinstance(i, slice):
            static.append(i)
        elif is_static_integer(i):
            static.append(operator.index(i))
        else:
            static.append(OPERAND)
            arrays.append(index_array(i))
    return index_p.bind(x, *arrays, indices=tuple(static))


def is_static_integer(i):
    """Returns whether `i` is a Python or NumPy integer (True is a mask)."""
    return (isinstance(i, (int, np.integer)) and not isinstance(i, bool))


def index_array(i):
    """Returns `i` as an array to index with."""
    empty = isinstance(i, list) and not i
    i = asarray(i, np.intp if empty else None)
    if i.dtype.kind not in 'biu':
        raise IndexError('arrays used as indices must be of integer (or '
                         f'boolean) type, and this one is {typeof(i)}')
    return i


def length(x):
    if not x.shape:
        raise TypeError('len() of unsized object: a traced array of shape ()')
    return x.shape[0]


def iterate(x):
    """Returns an iterator over the first axis of `x`."""
    if not x.shape:
        raise TypeError('iteration over a 0-d array, which is traced')
    return (x[i] for i in range(len(x)))


Tracer.__getitem__ = getitem
Tracer.__len__ = length
Tracer.__iter__ = iterate
