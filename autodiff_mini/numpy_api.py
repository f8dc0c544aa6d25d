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
    NUMBERS, PYTHON_NUMBERS, Tracer, current_trace, function_table, is_array,
    typeof, ufunc_table)
from autodiff_mini.errors import refuse
from autodiff_mini.primitives import (
    OPERAND, abs_p, add_p, and_p, arccos_p, arccosh_p, arcsin_p, arcsinh_p,
    arctan2_p, arctan_p, arctanh_p, argmax_p, argmin_p, argsort_p, astype_p,
    broadcast_to_p, cbrt_p, ceil_p, cholesky_p, concatenate_p, conj_p, cos_p,
    cosh_p, cumprod_p, cumsum_p, det_p, div_p, eq_p, exp2_p, exp_p, expm1_p,
    floor_divide_p, floor_p, fmod_p, ge_p, gt_p, heaviside_p, hypot_p, imag_p,
    index_p, invert_p, isfinite_p, le_p, left_shift_p, log10_p, log1p_p,
    log2_p, log_p, logaddexp2_p, logaddexp_p, lt_p, matmul_p, max_p, min_p,
    mul_p, ne_p, neg_p, or_p, pow_p, real_p, reciprocal_p, reduce_max_p,
    reduce_min_p, reduce_prod_p, reduce_sum_p, remainder_p, reshape_p,
    right_shift_p, rint_p, sign_p, signbit_p, sin_p, sinh_p, slogdet_p,
    solve_p, sqrt_p, stack_p, sub_p, tan_p, tanh_p, transpose_p, trunc_p,
    where_p, xor_p)


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

ufunc(np.exp2, exp2_p)
ufunc(np.expm1, expm1_p)
ufunc(np.log2, log2_p)
ufunc(np.log10, log10_p)
ufunc(np.log1p, log1p_p)
ufunc(np.cbrt, cbrt_p)
ufunc(np.reciprocal, reciprocal_p)

ufunc(np.tan, tan_p)
ufunc(np.arcsin, arcsin_p)
ufunc(np.arccos, arccos_p)
ufunc(np.arctan, arctan_p)
ufunc(np.sinh, sinh_p)
ufunc(np.cosh, cosh_p)
ufunc(np.arcsinh, arcsinh_p)
ufunc(np.arccosh, arccosh_p)
ufunc(np.arctanh, arctanh_p)

ufunc(np.sign, sign_p)
ufunc(np.floor, floor_p)
ufunc(np.ceil, ceil_p)
ufunc(np.rint, rint_p)
ufunc(np.trunc, trunc_p)
ufunc(np.conjugate, conj_p)
ufunc(np.isfinite, isfinite_p)
ufunc(np.signbit, signbit_p)

ufunc(np.minimum, min_p)
ufunc(np.fmod, fmod_p)
ufunc(np.arctan2, arctan2_p)
ufunc(np.hypot, hypot_p)
ufunc(np.logaddexp, logaddexp_p)
ufunc(np.logaddexp2, logaddexp2_p)
ufunc(np.heaviside, heaviside_p)


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
operator_ufunc(np.absolute, abs_p, '__abs__')
operator_ufunc(np.floor_divide, floor_divide_p,
               '__floordiv__', '__rfloordiv__')
operator_ufunc(np.remainder, remainder_p, '__mod__', '__rmod__')
operator_ufunc(np.bitwise_and, and_p, '__and__', '__rand__')
operator_ufunc(np.bitwise_or, or_p, '__or__', '__ror__')
operator_ufunc(np.bitwise_xor, xor_p, '__xor__', '__rxor__')
operator_ufunc(np.invert, invert_p, '__invert__')
operator_ufunc(np.left_shift, left_shift_p, '__lshift__', '__rlshift__')
operator_ufunc(np.right_shift, right_shift_p, '__rshift__', '__rrshift__')


def stand_in(x):
    """Returns what NumPy's promotion has to see of `x`."""
    aval = typeof(x)
    if aval.weak_type and aval.dtype != bool:
        return aval.dtype.type(0).item()
    return aval.dtype


def promote(*arrays):
    """Returns the arrays in the one dtype that NumPy has for them all."""
    dtype = np.result_type(*map(stand_in, arrays))
    return [convert(a, dtype) for a in arrays]


def composed_ufunc(function):
    """Returns a decorator: the decorated stands for a ufunc.

    It gets its operands in the dtypes in which the ufunc would compute.
    """
    def register(implementation):
        def call(*args):
            args = list(map(operand, args))
            types = [t if isinstance(t, np.dtype) else type(t)
                     for t in map(stand_in, args)]
            types = function.resolve_dtypes((*types, *[None] * function.nout))
            return implementation(*map(convert, args, types))
        ufunc_table[function] = call
        return implementation
    return register


@composed_ufunc(np.positive)
def numpy_positive(x):
    return x


@composed_ufunc(np.square)
def numpy_square(x):
    return x * x


@composed_ufunc(np.deg2rad)
def numpy_deg2rad(x):
    return x * (math.pi / 180)


@composed_ufunc(np.rad2deg)
def numpy_rad2deg(x):
    return x * (180 / math.pi)


ufunc_table[np.radians] = ufunc_table[np.deg2rad]
ufunc_table[np.degrees] = ufunc_table[np.rad2deg]


@composed_ufunc(np.isnan)
def numpy_isnan(x):
    return x != x


@composed_ufunc(np.isinf)
def numpy_isinf(x):
    return ~(np.isfinite(x) | np.isnan(x))


@composed_ufunc(np.logical_not)
def numpy_logical_not(x):
    return x == 0


@composed_ufunc(np.logical_and)
def numpy_logical_and(x, y):
    return (x != 0) & (y != 0)


@composed_ufunc(np.logical_or)
def numpy_logical_or(x, y):
    return (x != 0) | (y != 0)


@composed_ufunc(np.logical_xor)
def numpy_logical_xor(x, y):
    return (x != 0) ^ (y != 0)


@composed_ufunc(np.float_power)
def numpy_float_power(x, y):
    return x ** y


@composed_ufunc(np.copysign)
def numpy_copysign(x, y):
    return np.where(np.signbit(x) == np.signbit(y), x, -x)


@composed_ufunc(np.fmax)
def numpy_fmax(x, y):
    return np.where(np.isnan(x), y, np.where(np.isnan(y), x,
                                             np.maximum(x, y)))


@composed_ufunc(np.fmin)
def numpy_fmin(x, y):
    return np.where(np.isnan(x), y, np.where(np.isnan(y), x,
                                             np.minimum(x, y)))


@composed_ufunc(np.divmod)
def numpy_divmod(x, y):
    return x // y, x % y


@composed_ufunc(np.vecdot)
def numpy_vecdot(x, y):
    return (np.conj(x)[..., None, :] @ y[..., :, None])[..., 0, 0]


Tracer.__pos__ = lambda x: x if x.aval.weak_type else np.positive(x)
Tracer.__divmod__ = lambda x, y: (x // y, x % y)
Tracer.__rdivmod__ = lambda y, x: (x // y, x % y)


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


def reduction(function, primitive):
    """Lets `primitive` stand for a function that reduces axes."""
    @implements(function)
    def call(a, axis=None, out=None, keepdims=False, initial=None,
             where=None):
        refuse(function, out=out, initial=initial, where=where)
        a = asarray(a)
        axes = range(a.ndim) if axis is None else axis
        return primitive.bind(a, axis=normalize_axis_tuple(axes, a.ndim),
                              keepdims=bool(keepdims))


reduction(np.max, reduce_max_p)
reduction(np.min, reduce_min_p)
reduction(np.amax, reduce_max_p)
reduction(np.amin, reduce_min_p)


@implements(np.prod)
def numpy_prod(a, axis=None, dtype=None, out=None, keepdims=False, *,
               initial=None, where=None):
    refuse(np.prod, out=out, initial=initial, where=where)
    a = asarray(a, dtype)
    axes = range(a.ndim) if axis is None else axis
    axes = normalize_axis_tuple(axes, a.ndim)
    return reduce_prod_p.bind(a, axis=axes, keepdims=bool(keepdims))


def count_of(a, axis):
    """Returns how many elements a reduction over `axis` makes into one."""
    axes = range(a.ndim) if axis is None else axis
    return math.prod(a.shape[i] for i in normalize_axis_tuple(axes, a.ndim))


@implements(np.mean)
def numpy_mean(a, axis=None, dtype=None, out=None, keepdims=False, *,
               where=None):
    refuse(np.mean, out=out, where=where)
    a = asarray(a)
    if dtype is None:
        dtype = a.dtype if a.dtype.kind in 'fc' else np.float64
        wide = np.float32 if dtype == np.float16 else dtype
    else:
        wide = dtype
    total = np.sum(a, axis, wide, keepdims=keepdims)
    return convert(np.divide(total, count_of(a, axis)), np.dtype(dtype))


@implements(np.var)
def numpy_var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *,
              where=None, mean=None, correction=None):
    refuse(np.var, out=out, where=where, mean=mean)
    a, count = asarray(a), count_of(a, axis)
    if dtype is None and a.dtype.kind in 'biu':
        dtype = np.float64
    total = np.sum(a, axis, dtype, keepdims=True)
    error = a - convert(np.divide(total, count), total.dtype)
    squares = np.square(np.real(error))
    if error.dtype.kind == 'c':
        squares = squares + np.square(np.imag(error))
    total = np.sum(squares, axis, dtype, keepdims=keepdims)
    free = max(count - (ddof if correction is None else correction), 0)
    return convert(np.divide(total, free), total.dtype)


@implements(np.std)
def numpy_std(a, *args, **kwargs):
    return np.sqrt(np.var(a, *args, **kwargs))


@implements(np.average)
def numpy_average(a, axis=None, weights=None, returned=False, *,
                  keepdims=False):
    refuse(np.average, returned=returned or None)
    if weights is None:
        return np.mean(a, axis, keepdims=keepdims)
    a, weights = asarray(a), asarray(weights)
    if weights.shape != a.shape:
        if axis is None:
            raise TypeError('Axis must be specified when shapes of a and '
                            'weights differ.')
        axes = normalize_axis_tuple(axis, a.ndim)
        shape = [a.shape[i] if i in axes else 1 for i in range(a.ndim)]
        weights = np.transpose(weights, np.argsort(axes)).reshape(shape)
        weights = np.broadcast_to(weights, a.shape)
    dtype = np.result_type(a.dtype, weights.dtype,
                           a.dtype if a.dtype.kind in 'fc' else np.float64)
    total = np.sum(weights, axis, dtype, keepdims=keepdims)
    return np.sum(convert(a, dtype) * convert(weights, dtype), axis,
                  keepdims=keepdims) / total


@implements(np.count_nonzero)
def numpy_count_nonzero(a, axis=None, *, keepdims=False):
    return np.sum(np.not_equal(a, 0), axis, np.intp, keepdims=keepdims)


@implements(np.any)
def numpy_any(a, axis=None, out=None, keepdims=False, *, where=None):
    refuse(np.any, out=out, where=where)
    return np.count_nonzero(a, axis, keepdims=keepdims) > 0


@implements(np.all)
def numpy_all(a, axis=None, out=None, keepdims=False, *, where=None):
    refuse(np.all, out=out, where=where)
    return np.count_nonzero(np.equal(a, 0), axis, keepdims=keepdims) == 0


def arg_reduction(function, primitive):
    """Lets `primitive` stand for a function that finds an element."""
    @implements(function)
    def call(a, axis=None, out=None, *, keepdims=False):
        refuse(function, out=out)
        a = asarray(a)
        if axis is None:
            place = primitive.bind(np.reshape(a, -1), axis=0)
            return np.reshape(place, [1] * a.ndim) if keepdims else place
        axis = normalize_axis_index(axis, a.ndim)
        place = primitive.bind(a, axis=axis)
        return np.expand_dims(place, axis) if keepdims else place


arg_reduction(np.argmax, argmax_p)
arg_reduction(np.argmin, argmin_p)


def along_one(a, axis):
    """Returns `a` and `axis`; flat, where the axis is None."""
    a = asarray(a if axis is not None else np.reshape(a, -1))
    return a, normalize_axis_index(axis or 0, a.ndim)


def cumulation(function, primitive):
    """Lets `primitive` stand for a function that runs along an axis."""
    @implements(function)
    def call(a, axis=None, dtype=None, out=None):
        refuse(function, out=out)
        a, axis = along_one(asarray(a, dtype), axis)
        return primitive.bind(a, axis=axis)


cumulation(np.cumsum, cumsum_p)
cumulation(np.cumprod, cumprod_p)


@implements(np.argsort)
def numpy_argsort(a, axis=-1, kind=None, order=None, *, stable=None):
    refuse(np.argsort, order=order)
    a, axis = along_one(a, axis)
    return argsort_p.bind(a, axis=axis, kind='stable' if stable else kind)


@implements(np.sort)
def numpy_sort(a, axis=-1, kind=None, order=None, *, stable=None):
    refuse(np.sort, order=order)
    a, axis = along_one(a, axis)
    places = np.argsort(a, axis, kind, stable=stable)
    return np.take_along_axis(a, places, axis)


@implements(np.diff)
def numpy_diff(a, n=1, axis=-1, prepend=None, append=None):
    if n < 0:
        raise ValueError(f'order must be non-negative but got {n}')
    a = asarray(a)
    axis = normalize_axis_index(axis, a.ndim)
    if n and (prepend is not None or append is not None):
        ends = [np.broadcast_to(end, (*a.shape[:axis], 1,
                                      *a.shape[axis + 1:]))
                if np.ndim(end) == 0 else operand(end)
                for end in (prepend, append) if end is not None]
        ends.insert(prepend is not None, a)
        a = np.concatenate(ends, axis)
    subtract = np.not_equal if a.dtype == bool else np.subtract
    for _ in range(n):
        a = subtract(a[along(axis, slice(1, None))],
                     a[along(axis, slice(None, -1))])
    return a


def along(axis, i):
    """Returns the index that is `i` on this axis."""
    return (*[slice(None)] * axis, i)


@implements(np.clip)
def numpy_clip(a, a_min=None, a_max=None, out=None, *, min=None, max=None):
    refuse(np.clip, out=out)
    a = strong(operand(a))
    low, high = [x if x is None else operand(x) for x in (
        min if a_min is None else a_min, max if a_max is None else a_max)]
    if a.dtype.kind in 'iu':   # NumPy lets a Python int exceed the dtype
        limits = np.iinfo(a.dtype)
        low = None if type(low) is int and low <= limits.min else low
        high = None if type(high) is int and high >= limits.max else high
    a = a if low is None else np.maximum(a, low)
    return a if high is None else np.minimum(a, high)


@implements(np.round)
def numpy_round(a, decimals=0, out=None):
    refuse(np.round, out=out)
    a, scale = asarray(a), 10.0 ** abs(decimals)
    if a.dtype.kind in 'iu':
        return a if decimals >= 0 else convert(
            np.rint(a / scale) * scale, a.dtype)
    if decimals >= 0:
        return np.rint(a * scale) / scale if decimals else np.rint(a)
    return np.rint(a / scale) * scale


implements(np.around)(numpy_round)


@implements(np.real)
def numpy_real(val):
    val = operand(val)
    return real_p.bind(val) if typeof(val).dtype.kind == 'c' else val


@implements(np.imag)
def numpy_imag(val):
    val = operand(val)
    aval = typeof(val)
    if aval.dtype.kind == 'c':
        return imag_p.bind(val)
    return convert(np.zeros_like(val), aval.dtype, aval.weak_type)


@implements(np.angle)
def numpy_angle(z, deg=False):
    z = asarray(z)
    angle = np.arctan2(np.imag(z) if z.dtype.kind == 'c' else 0, np.real(z))
    return angle * (180 / math.pi) if deg else angle


@implements(np.sinc)
def numpy_sinc(x):
    y = asarray(x) * math.pi
    small = np.less(np.abs(y), 0.5)
    safe = np.where(small, 1, y)
    # The series has all derivatives at zero, which the quotient has not.
    series, square = 1, y * y
    for k in range(20, 0, -2):
        series = 1 - series * square / (k * (k + 1))
    return np.where(small, series, np.sin(safe) / safe)


@implements(np.nan_to_num)
def numpy_nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    x = asarray(x)
    if x.dtype.kind in 'biu':
        return x
    if x.dtype.kind == 'c':
        parts = np.real(x), np.imag(x)
        real, imag = [np.nan_to_num(part, copy, nan, posinf, neginf)
                      for part in parts]
        return real + 1j * imag
    limits = np.finfo(x.dtype)
    posinf = limits.max if posinf is None else posinf
    neginf = limits.min if neginf is None else neginf
    y = np.where(np.isnan(x), x.dtype.type(nan), x)
    y = np.where(np.equal(x, np.inf), x.dtype.type(posinf), y)
    return np.where(np.equal(x, -np.inf), x.dtype.type(neginf), y)


@implements(np.isclose)
def numpy_isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    x, y = operand(a), operand(b)
    y = y * 1.0 if typeof(y).dtype.kind in 'biu' else y
    with np.errstate(invalid='ignore'):
        near = np.abs(np.subtract(x, y)) <= atol + rtol * np.abs(y)
        close = near & np.isfinite(y) | np.equal(x, y)
    return close | np.isnan(x) & np.isnan(y) if equal_nan else close


@implements(np.allclose)
def numpy_allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return np.all(np.isclose(a, b, rtol, atol, equal_nan))


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
    return tuple(shape)[::-1] if np.iterable(shape) else shape


def full_shape(old, new):
    """Returns the shape `new`, with the length that -1 stands for."""
    new = tuple(new) if np.iterable(new) else (new,)
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


@implements(np.concatenate)
def numpy_concatenate(arrays, axis=0, out=None, *, dtype=None, casting=None):
    refuse(np.concatenate, out=out, dtype=dtype)
    arrays = [strong(operand(a)) for a in arrays]
    if axis is None:
        arrays, axis = [np.reshape(a, -1) for a in arrays], 0
    axis = normalize_axis_index(axis, arrays[0].ndim)
    return concatenate_p.bind(*arrays, axis=axis)


def each(function, arrays):
    """Returns `function` of each array: one result, or a tuple of them."""
    results = tuple(map(function, map(asarray, arrays)))
    return results[0] if len(results) == 1 else results


@implements(np.atleast_1d)
def numpy_atleast_1d(*arys):
    return each(lambda a: a if a.ndim else np.reshape(a, 1), arys)


@implements(np.atleast_2d)
def numpy_atleast_2d(*arys):
    return each(lambda a: a if a.ndim > 1 else np.reshape(a, (1, -1)), arys)


@implements(np.vstack)
def numpy_vstack(tup, *, dtype=None, casting=None):
    refuse(np.vstack, dtype=dtype)
    return np.concatenate([np.atleast_2d(a) for a in tup])


@implements(np.hstack)
def numpy_hstack(tup, *, dtype=None, casting=None):
    refuse(np.hstack, dtype=dtype)
    arrays = [np.atleast_1d(a) for a in tup]
    return np.concatenate(arrays, min(arrays[0].ndim - 1, 1))


@implements(np.column_stack)
def numpy_column_stack(tup):
    return np.concatenate(
        [a if a.ndim > 1 else np.reshape(a, (-1, 1))
         for a in map(asarray, tup)], 1)


@implements(np.array_split)
def numpy_array_split(ary, indices_or_sections, axis=0):
    a = asarray(ary)
    axis = normalize_axis_index(axis, a.ndim)
    if np.iterable(indices_or_sections):
        cuts = list(indices_or_sections)
    else:
        number = operator.index(indices_or_sections)
        if number < 1:
            raise ValueError('number sections must be larger than 0.')
        size, longer = divmod(a.shape[axis], number)
        cuts = [size * i + min(i, longer) for i in range(1, number)]
    return [a[along(axis, slice(start, end))]
            for start, end in zip([0, *cuts], [*cuts, a.shape[axis]])]


@implements(np.split)
def numpy_split(ary, indices_or_sections, axis=0):
    if not np.iterable(indices_or_sections):
        if np.shape(ary)[axis] % indices_or_sections:
            raise ValueError(
                'array split does not result in an equal division')
    return np.array_split(ary, indices_or_sections, axis)


@implements(np.ravel)
def numpy_ravel(a, order='C'):
    return np.reshape(asarray(a), -1, order)


@implements(np.squeeze)
def numpy_squeeze(a, axis=None):
    a = asarray(a)
    if axis is None:
        axis = [i for i, size in enumerate(a.shape) if size == 1]
    axes = normalize_axis_tuple(axis, a.ndim)
    if any(a.shape[i] != 1 for i in axes):
        raise ValueError('cannot select an axis to squeeze out which has '
                         'size not equal to one')
    return np.reshape(a, [size for i, size in enumerate(a.shape)
                          if i not in axes])


@implements(np.expand_dims)
def numpy_expand_dims(a, axis):
    a = asarray(a)
    axis = axis if np.iterable(axis) else (axis,)
    ndim = a.ndim + len(axis)
    axes, sizes = normalize_axis_tuple(axis, ndim), iter(a.shape)
    return np.reshape(a, [1 if i in axes else next(sizes)
                          for i in range(ndim)])


@implements(np.moveaxis)
def numpy_moveaxis(a, source, destination):
    a = asarray(a)
    source = normalize_axis_tuple(source, a.ndim, 'source')
    destination = normalize_axis_tuple(destination, a.ndim, 'destination')
    if len(source) != len(destination):
        raise ValueError('`source` and `destination` arguments must have '
                         'the same number of elements')
    axes = [i for i in range(a.ndim) if i not in source]
    for place, axis in sorted(zip(destination, source)):
        axes.insert(place, axis)
    return np.transpose(a, axes)


@implements(np.swapaxes)
def numpy_swapaxes(a, axis1, axis2):
    a = asarray(a)
    i = normalize_axis_index(axis1, a.ndim)
    j = normalize_axis_index(axis2, a.ndim)
    swap = {i: j, j: i}
    return np.transpose(a, [swap.get(k, k) for k in range(a.ndim)])


@implements(np.matrix_transpose)
def numpy_matrix_transpose(x, /):
    return np.swapaxes(x, -1, -2)


@implements(np.flip)
def numpy_flip(m, axis=None):
    m = asarray(m)
    axes = range(m.ndim) if axis is None else axis
    axes = normalize_axis_tuple(axes, m.ndim)
    return m[tuple(slice(None, None, -1 if i in axes else None)
                   for i in range(m.ndim))]


@implements(np.fliplr)
def numpy_fliplr(m):
    return np.flip(m, 1)


@implements(np.flipud)
def numpy_flipud(m):
    return np.flip(m, 0)


@implements(np.rot90)
def numpy_rot90(m, k=1, axes=(0, 1)):
    if k % 4 == 0:
        return asarray(m)
    if k % 4 == 2:
        return np.flip(m, axes)
    if k % 4 == 1:
        return np.swapaxes(np.flip(m, axes[1]), *axes)
    return np.flip(np.swapaxes(m, *axes), axes[1])


@implements(np.take)
def numpy_take(a, indices, axis=None, out=None, mode='raise'):
    refuse(np.take, out=out)
    a, axis = along_one(a, axis)
    i, size = operand(indices), a.shape[axis]
    i = convert(i, np.dtype(np.intp)) if typeof(i).dtype == bool else i
    if mode == 'wrap':
        i = np.remainder(i, size)
    if mode == 'clip':
        i = np.clip(i, 0, size - 1)
    return a[along(axis, i)]


@implements(np.take_along_axis)
def numpy_take_along_axis(arr, indices, axis=-1):
    a, axis = along_one(arr, axis)
    indices = asarray(indices)
    if indices.ndim != a.ndim:
        raise ValueError(
            '`indices` and `arr` must have the same number of dimensions')
    if indices.dtype.kind not in 'iu':
        raise IndexError('`indices` must be an integer array')
    places = [np.arange(size).reshape(-1, *[1] * (a.ndim - i - 1))
              for i, size in enumerate(a.shape)]
    places[axis] = indices
    return a[tuple(places)]


@implements(np.roll)
def numpy_roll(a, shift, axis=None):
    a = asarray(a)
    if axis is None:
        return np.reshape(np.roll(np.reshape(a, -1), shift, 0), a.shape)
    for distance, i in np.broadcast(shift, axis):
        size = a.shape[i]
        a = np.take(a, (np.arange(size) - distance) % max(size, 1), i)
    return a


@implements(np.repeat)
def numpy_repeat(a, repeats, axis=None):
    a, axis = along_one(a, axis)
    return np.take(a, np.repeat(np.arange(a.shape[axis]), repeats), axis)


@implements(np.tile)
def numpy_tile(A, reps):
    reps = tuple(reps) if np.iterable(reps) else (reps,)
    a = asarray(A)
    shape = (1,) * (len(reps) - a.ndim) + a.shape
    reps = (1,) * (a.ndim - len(reps)) + reps
    pairs = list(zip(reps, shape))
    a = np.reshape(a, [n for _, size in pairs for n in (1, size)])
    a = np.broadcast_to(a, [n for pair in pairs for n in pair])
    return np.reshape(a, [rep * size for rep, size in pairs])


@implements(np.pad)
def numpy_pad(array, pad_width, mode='constant', *, constant_values=0,
              **kwargs):
    if kwargs:
        refuse(np.pad, **kwargs)
    a = asarray(array)
    if mode not in ('constant', 'edge', 'reflect', 'symmetric', 'wrap'):
        raise NotImplementedError(
            "numpy.pad of a traced value takes the modes 'constant', 'edge', "
            f"'reflect', 'symmetric' and 'wrap', not {mode!r}")
    widths = np.broadcast_to(pad_width, (a.ndim, 2)).tolist()
    values = np.broadcast_to(operand(constant_values), (a.ndim, 2))
    for axis, width in enumerate(widths):
        if mode == 'constant':
            a = pad_constant(a, axis, width, values[axis])
        elif any(width):
            places = np.pad(np.arange(a.shape[axis]), width, mode)
            a = np.take(a, places, axis)
    return a


def pad_constant(a, axis, width, values):
    """Returns `a`, longer on one axis, at the beginning and at the end."""
    shapes = [(*a.shape[:axis], n, *a.shape[axis + 1:]) for n in width]
    ends = [[np.broadcast_to(convert(values[i], a.dtype), shapes[i])]
            if width[i] else [] for i in (0, 1)]
    if not any(width):
        return a
    return np.concatenate([*ends[0], a, *ends[1]], axis)


@implements(np.tril)
def numpy_tril(m, k=0):
    m = asarray(m)
    mask = np.tri(*m.shape[-2:], k=k, dtype=bool)
    return np.where(mask, m, m.dtype.type(0))


@implements(np.triu)
def numpy_triu(m, k=0):
    m = asarray(m)
    mask = np.tri(*m.shape[-2:], k=k - 1, dtype=bool)
    return np.where(mask, m.dtype.type(0), m)


@implements(np.diagonal)
def numpy_diagonal(a, offset=0, axis1=0, axis2=1):
    a = np.moveaxis(a, (axis1, axis2), (-2, -1))
    rows, columns = a.shape[-2:]
    above, below = max(offset, 0), max(-offset, 0)
    i = np.arange(max(min(rows - below, columns - above), 0))
    return a[..., i + below, i + above]


@implements(np.diag)
def numpy_diag(v, k=0):
    v = asarray(v)
    if v.ndim == 2:
        return np.diagonal(v, k)
    if v.ndim != 1:
        raise ValueError('Input must be 1- or 2-d.')
    v = np.pad(v, (0, abs(k)))
    return np.where(np.eye(len(v), k=k, dtype=bool),
                    v[:, None] if k > 0 else v, v.dtype.type(0))


@implements(np.trace)
def numpy_trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    refuse(np.trace, out=out)
    return np.sum(np.diagonal(a, offset, axis1, axis2), -1, dtype)


@implements(np.broadcast_arrays)
def numpy_broadcast_arrays(*args, subok=False):
    arrays = list(map(asarray, args))
    shape = np.broadcast_shapes(*[a.shape for a in arrays])
    return tuple(np.broadcast_to(a, shape) for a in arrays)


@implements(np.meshgrid)
def numpy_meshgrid(*xi, copy=True, sparse=False, indexing='xy'):
    if indexing not in ('xy', 'ij'):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    places = list(range(len(xi)))
    if indexing == 'xy':
        places[:2] = reversed(places[:2])
    grids = [np.reshape(x, [-1 if i == place else 1 for i in range(len(xi))])
             for x, place in zip(xi, places)]
    return tuple(grids) if sparse else np.broadcast_arrays(*grids)


@implements(np.full_like)
def numpy_full_like(a, fill_value, dtype=None, order='K', subok=True,
                    shape=None, *, device=None):
    shape = np.shape(a) if shape is None else shape
    dtype = typeof(a).dtype if dtype is None else np.dtype(dtype)
    if isinstance(fill_value, Tracer):
        return np.broadcast_to(convert(fill_value, dtype), shape)
    return asarray(full(a, shape, fill_value, dtype))


@implements(np.zeros_like)
def numpy_zeros_like(a, *args, **kwargs):
    return np.full_like(a, 0, *args, **kwargs)


@implements(np.ones_like)
def numpy_ones_like(a, *args, **kwargs):
    return np.full_like(a, 1, *args, **kwargs)


implements(np.empty_like)(numpy_zeros_like)


@implements(np.copy)
def numpy_copy(a, order='K', subok=False):
    return asarray(a)


def full(like, shape, value, dtype):
    """Returns an array of one value, in the library that `like` is of.

    While a program is written down, nobody knows it.  Then it is NumPy.
    """
    like = inside(like)
    if not is_foreign(like):
        return np.full(shape, value, dtype)
    if shape == np.shape(like):     # with its chunks, if it has some
        return np.full_like(like, value, dtype=dtype)
    return np.full_like(like, value, dtype=dtype, shape=shape)


def inside(x):
    """Returns the array in a tracer, and None where nobody knows it."""
    while isinstance(x, Tracer):
        x = getattr(x, 'primal', getattr(x, 'val', None))
    return x


def is_foreign(x) -> bool:
    """Returns whether `x` is an array of another library than NumPy."""
    return not isinstance(x, (np.ndarray, np.generic)) and is_array(x)


def foreign_one(xs):
    """Returns the first array that is of another library, or None.

    It may be in a tracer; what is returned is the array.
    """
    for x in xs:
        if type(x) not in ORDINARY and is_foreign(inside(x)):
            return inside(x)
    return None


ORDINARY = {np.ndarray, *NUMBERS}   # most often it is one of these


def brought(x, like):
    """Returns `x`, in the library of `like` if it is one number of NumPy's.

    It may have been broadcast.  If `like` is None, there is only NumPy.
    """
    if like is None or not isinstance(x, (np.ndarray, np.generic)):
        return x
    if x.dtype.kind not in 'fc' or x.size and any(x.strides):
        return x
    return full(like, x.shape, x.flat[0] if x.size else 0, x.dtype)


@implements(np.linspace)
def numpy_linspace(start, stop, num=50, endpoint=True, retstep=False,
                   dtype=None, axis=0, *, device=None):
    refuse(np.linspace, retstep=retstep or None)
    start, stop = promote(operand(start), operand(stop), 1.0)[:2]
    start, stop = np.broadcast_arrays(start, stop)
    count = num - 1 if endpoint else num
    i = np.arange(num).reshape(-1, *[1] * start.ndim)
    y = i.astype(start.dtype) * ((stop - start) / max(count, 1)) + start
    if endpoint and num > 1:
        y = np.where(i == count, stop, y)
    if dtype is not None:
        dtype = np.dtype(dtype)
        y = convert(np.floor(y) if dtype.kind in 'iu' else y, dtype)
    return np.moveaxis(y, 0, axis)


@implements(np.searchsorted)
def numpy_searchsorted(a, v, side='left', sorter=None):
    a, v = asarray(a), np.expand_dims(v, -1)
    a = a if sorter is None else np.take(a, sorter)
    if side == 'left':
        before = np.less(a, v) | (np.isnan(v) & ~np.isnan(a))
    else:
        before = np.less_equal(a, v) | np.isnan(v)
    return np.sum(before, -1)


@implements(np.interp)
def numpy_interp(x, xp, fp, left=None, right=None, period=None):
    refuse(np.interp, period=period)
    x, xp, fp = [convert(a, np.result_type(a.dtype, np.float64))
                 for a in map(asarray, (x, xp, fp))]
    i = np.clip(np.searchsorted(xp, x, 'right') - 1, 0, len(xp) - 2)
    x0, y0 = np.take(xp, i), np.take(fp, i)
    slope = (np.take(fp, i + 1) - y0) / (np.take(xp, i + 1) - x0)
    y = slope * (x - x0) + y0
    y = np.where(np.less(x, xp[0]), fp[0] if left is None else left, y)
    y = np.where(np.equal(x, xp[-1]), fp[-1], y)
    return np.where(np.greater(x, xp[-1]),
                    fp[-1] if right is None else right, y)


@implements(np.where)
def numpy_where(condition, *choices):
    if not choices:
        raise NotImplementedError(
            'numpy.where(condition) of a traced value: how many indices it '
            'returns would depend on values. Use all three arguments, '
            'numpy.where(condition, x, y).')
    x, y = map(operand, choices)
    return where_p.bind(operand(condition), x, y)


@implements(np.select)
def numpy_select(condlist, choicelist, default=0):
    if not 0 < len(condlist) == len(choicelist):
        raise ValueError(
            'list of cases must be same length as list of conditions')
    conditions = list(map(asarray, condlist))
    if any(condition.dtype != bool for condition in conditions):
        raise TypeError('invalid entry in condlist: should be boolean '
                        'ndarray')
    *choices, out = promote(*map(operand, [*choicelist, default]))
    for condition, choice in zip(conditions[::-1], choices[::-1]):
        out = np.where(condition, choice, out)
    return out


@implements(np.result_type)
def numpy_result_type(*arrays_and_dtypes):
    return np.result_type(*[stand_in(x) if isinstance(x, Tracer) else x
                            for x in arrays_and_dtypes])


@implements(np.dot)
def numpy_dot(a, b, out=None):
    refuse(np.dot, out=out)
    a, b = asarray(a), asarray(b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    if a.ndim > 1 and b.ndim > 2:
        return np.tensordot(a, b, (-1, -2))
    return a @ b


@implements(np.inner)
def numpy_inner(a, b):
    a, b = asarray(a), asarray(b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    return np.tensordot(a, b, (-1, -1))


@implements(np.outer)
def numpy_outer(a, b, out=None):
    refuse(np.outer, out=out)
    return np.ravel(a)[:, None] * np.ravel(b)


@implements(np.tensordot)
def numpy_tensordot(a, b, axes=2):
    a, b = asarray(a), asarray(b)
    if not np.iterable(axes):
        axes = range(a.ndim - axes, a.ndim), range(axes)
    axes_a = normalize_axis_tuple(axes[0], a.ndim)
    axes_b = normalize_axis_tuple(axes[1], b.ndim)
    if [a.shape[i] for i in axes_a] != [b.shape[i] for i in axes_b]:
        raise ValueError('shape-mismatch for sum')
    free_a = [i for i in range(a.ndim) if i not in axes_a]
    free_b = [i for i in range(b.ndim) if i not in axes_b]
    size = math.prod(a.shape[i] for i in axes_a)
    rows = [a.shape[i] for i in free_a]
    columns = [b.shape[i] for i in free_b]
    a = np.transpose(a, (*free_a, *axes_a))
    b = np.transpose(b, (*axes_b, *free_b))
    product = (np.reshape(a, (math.prod(rows), size))
               @ np.reshape(b, (size, math.prod(columns))))
    return np.reshape(product, (*rows, *columns))


@implements(np.einsum)
def numpy_einsum(subscripts, *operands, out=None, optimize=False, **kwargs):
    refuse(np.einsum, out=out, **kwargs)
    if not isinstance(subscripts, str):
        raise NotImplementedError('numpy.einsum of traced values takes its '
                                  "subscripts as a string, such as 'ij,j'")
    arrays = promote(*map(asarray, operands))
    terms, result = einsum_terms(subscripts, [a.ndim for a in arrays])
    parts = [einsum_diagonal(*part) for part in zip(arrays, terms)]
    while len(parts) > 1:
        needed = {*result, *''.join(letters for _, letters in parts[2:])}
        parts[:2] = [einsum_pair(*parts[0], *parts[1], needed)]
    (a, letters), = parts
    a, letters = einsum_sum(a, letters, result)
    return np.transpose(a, [letters.index(i) for i in result])


def einsum_terms(subscripts, ndims):
    """Returns a letter for each axis of each operand, and of the result."""
    inputs, arrow, result = subscripts.replace(' ', '').partition('->')
    terms = inputs.split(',')
    unused = [chr(i) for i in range(97, 1000) if chr(i) not in subscripts]
    hidden = [ndim - len(term) + 3 if '...' in term else 0
              for ndim, term in zip(ndims, terms, strict=True)]
    dots = ''.join(unused[:max(hidden)])
    if not arrow:
        letters = inputs.replace(',', '').replace('.', '')
        result = '...' + ''.join(sorted(i for i in set(letters)
                                        if letters.count(i) == 1))
    terms = [term.replace('...', dots[len(dots) - count:])
             for term, count in zip(terms, hidden)]
    result = result.replace('...', dots)
    if [len(term) for term in terms] != ndims:
        raise ValueError(f'einsum subscripts {subscripts!r} do not fit '
                         f'operands with {ndims} dimensions')
    if len({*result}) < len(result) or not {*result} <= {*''.join(terms)}:
        raise ValueError(f'einsum subscripts {subscripts!r}: each letter of '
                         'the output must be there once, and in the input')
    return terms, result


def einsum_diagonal(a, letters):
    """Returns `a` without the axes whose letters are there before."""
    for i in letters:
        while letters.count(i) > 1:
            first, second = letters.index(i), letters.rindex(i)
            if a.shape[first] != a.shape[second]:
                raise ValueError(f'einsum: the axes {i!r} differ in length')
            a = np.diagonal(a, 0, first, second)
            letters = (letters[:first] + letters[first + 1:second]
                       + letters[second + 1:] + i)
    return a, letters


def einsum_sum(a, letters, needed):
    """Returns `a` summed over the axes whose letters are not needed."""
    axes = tuple(k for k, i in enumerate(letters) if i not in needed)
    if not axes:
        return a, letters
    return (np.sum(a, axes, a.dtype),
            ''.join(i for i in letters if i in needed))


def einsum_pair(a, a_letters, b, b_letters, needed):
    """Returns the product of two operands, as one stack of matrices."""
    a, a_letters = einsum_sum(a, a_letters, {*b_letters, *needed})
    b, b_letters = einsum_sum(b, b_letters, {*a_letters, *needed})
    both = [i for i in a_letters if i in b_letters]
    batch = [i for i in both if i in needed]
    inner = [i for i in both if i not in needed]
    rows = [i for i in a_letters if i not in both]
    columns = [i for i in b_letters if i not in both]
    sizes = dict(zip(a_letters, a.shape))
    for i, size in zip(b_letters, b.shape):
        sizes[i] = size if sizes.get(i, 1) == 1 else sizes[i]
    a = einsum_matrices(a, a_letters, sizes, batch, rows, inner)
    b = einsum_matrices(b, b_letters, sizes, batch, inner, columns)
    product = np.matmul(a, b) if inner else np.multiply(a, b)
    letters = [*batch, *rows, *columns]
    return (np.reshape(product, [sizes[i] for i in letters]),
            ''.join(letters))


def einsum_matrices(a, letters, sizes, *groups):
    """Returns `a` with the axes in this order, the last groups made one."""
    order = [i for group in groups for i in group]
    a = np.transpose(a, [letters.index(i) for i in order])
    a = np.broadcast_to(a, [sizes[i] for i in order])
    batch, *ends = [[sizes[i] for i in group] for group in groups]
    return np.reshape(a, [*batch, *map(math.prod, ends)])


def inexact(a):
    """Returns `a` as an array of floats, or of complex numbers."""
    a = asarray(a)
    return a if a.dtype.kind in 'fc' else convert(a, np.dtype(np.float64))


@implements(np.linalg.solve)
def linalg_solve(a, b):
    a, b = promote(inexact(a), inexact(b))
    if b.ndim == 1:
        return solve_p.bind(a, b[:, None])[..., 0]
    return solve_p.bind(a, b)


@implements(np.linalg.inv)
def linalg_inv(a):
    a = inexact(a)
    return solve_p.bind(a, np.eye(a.shape[-1], dtype=a.dtype))


@implements(np.linalg.det)
def linalg_det(a):
    return det_p.bind(inexact(a))


SlogdetResult = type(np.linalg.slogdet(np.eye(1)))


@implements(np.linalg.slogdet)
def linalg_slogdet(a):
    return SlogdetResult(*slogdet_p.bind(inexact(a)))


@implements(np.linalg.cholesky)
def linalg_cholesky(a, /, *, upper=False):
    a = inexact(a)
    if upper:
        return np.conj(np.matrix_transpose(cholesky_p.bind(
            np.conj(np.matrix_transpose(a)))))
    return cholesky_p.bind(a)


@implements(np.linalg.norm)
def linalg_norm(x, ord=None, axis=None, keepdims=False):
    x = inexact(x)
    axes = range(x.ndim) if axis is None else axis
    axes = normalize_axis_tuple(axes, x.ndim)
    if ord is None or (ord == 2 and len(axes) == 1) or (
            ord in ('fro', 'f') and len(axes) == 2):
        squares = np.square(np.real(x))
        if x.dtype.kind == 'c':
            squares = squares + np.square(np.imag(x))
        return np.sqrt(np.sum(squares, axes, keepdims=keepdims))
    if len(axes) == 1:
        return vector_norm(x, ord, axes, keepdims)
    if len(axes) != 2 or ord not in (1, -1, np.inf, -np.inf):
        raise NotImplementedError(
            f'numpy.linalg.norm of order {ord!r} over {len(axes)} axes is '
            'not supported on traced values')
    summed, sought = axes if abs(ord) == 1 else axes[::-1]
    sums = np.sum(np.abs(x), summed, keepdims=True)
    norm = (np.max if ord > 0 else np.min)(sums, sought, keepdims=True)
    return norm if keepdims else np.squeeze(norm, axes)


def vector_norm(x, ord, axes, keepdims):
    """Returns the norm over one axis, of an order other than 2."""
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
    return powers ** (1 / ord)


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
method('prod', np.prod)
method('max', np.max)
method('min', np.min)
method('mean', np.mean)
method('var', np.var)
method('std', np.std)
method('any', np.any)
method('all', np.all)
method('argmax', np.argmax)
method('argmin', np.argmin)
method('argsort', np.argsort)
method('cumsum', np.cumsum)
method('cumprod', np.cumprod)
method('clip', np.clip)
method('round', np.round)
method('conj', np.conjugate)
method('conjugate', np.conjugate)
method('ravel', np.ravel)
method('flatten', np.ravel)
method('squeeze', np.squeeze)
method('swapaxes', np.swapaxes)
method('take', np.take)
method('repeat', np.repeat)
method('diagonal', np.diagonal)
method('dot', np.dot)
method('copy', np.copy)
method('searchsorted', np.searchsorted)
method('__round__', np.round)


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
Tracer.mT = property(lambda self: np.matrix_transpose(self))
Tracer.real = property(lambda self: np.real(self))
Tracer.imag = property(lambda self: np.imag(self))
Tracer.size = property(lambda self: math.prod(self.shape))
Tracer.itemsize = property(lambda self: self.dtype.itemsize)
Tracer.nbytes = property(lambda self: self.size * self.itemsize)


def in_place(name, instead):
    """Lets tracers refuse a method that would change them."""
    def refuse_to_change(self, *args, **kwargs):
        raise TypeError(f'{self.describe()} cannot be changed in place by '
                        f'.{name}(): traced programs are pure. {instead}')
    setattr(Tracer, name, refuse_to_change)


in_place('sort', 'Use np.sort(x), which returns a new array.')
in_place('fill', 'Use np.full_like(x, value).')
in_place('resize', 'Use np.reshape or np.pad.')


def getitem(x, indices):
    """Returns `x[indices]`: arrays among the indices become operands."""
    if not isinstance(indices, tuple):
        indices = (indices,)
    indices = [operand(i) if isinstance(i, (list, tuple)) and i else i
               for i in indices]
    if any(map(is_mask, indices)):
        x, indices = replace_masks(x, indices)
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


def is_mask(i):
    """Returns whether `i` is a mask of NumPy's, whose values are known."""
    return (type(i) in (bool, np.bool_)
            or type(i) is np.ndarray and i.dtype == bool)


def replace_masks(x, indices):
    """Returns `x`, and indices that select from it what the masks do.

    Integers stand for where a mask is True.  A mask without axes selects
    from an axis of length 1, which `x` gets for it.
    """
    chosen = [i if is_mask(i) or i is Ellipsis else slice(None)
              for i in indices if i is not None]
    np.empty(x.shape, np.void)[tuple(chosen)]   # raises if one does not fit
    axes, places = [], []
    for i in indices:
        if is_mask(i):
            axes += [slice(None)] * np.ndim(i) or [None]
            places += np.nonzero(np.atleast_1d(i))
        else:
            axes += [] if i is None else [i if i is Ellipsis else slice(None)]
            places.append(i)
    return (x[tuple(axes)] if None in axes else x), places


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
