"""NumPy as the language: how a NumPy call on a tracer becomes a primitive.

NumPy asks its operands before it computes (NEP 13 for ufuncs, NEP 18 for
functions), and a tracer answers from a table.  The primitives are in
`primitives`, the functions composed of them in `numpy_functions`.  Chapter 1.
"""

import operator
from functools import partial

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from autodiff_mini.core import seams
from autodiff_mini.core.errors import refuse
from autodiff_mini.core.memory import ONLY_SEEN, as_new_result
from autodiff_mini.core.trace import (
    Tracer, current_trace, function_table, ufunc_table, unwrapped)
from autodiff_mini.core.types import (
    NUMBERS, array_type, as_number, convert, strong, typeof)


def operand(x):
    """Return `x` as an operand of a primitive; lists become arrays."""
    if isinstance(x, Tracer) or type(x) in NUMBERS:
        return x
    if type(x) is np.ndarray:
        array_type(x.shape, x.dtype)    # raises for object arrays
        return x
    x = unwrapped(x)
    if isinstance(x, (list, tuple, range)):
        rows = list(map(operand, x))
        traced = any(isinstance(row, Tracer) for row in rows)
        x = np.stack(rows) if traced else np.asarray(x)
    if isinstance(x, np.flatiter):
        x = x[:]
    x = as_number(x)
    typeof(x)   # raises if it is not an array
    return x


def asarray(a, dtype=None):
    """Return `a` as an array that the current transformation can trace.

    NumPy does not ask a tracer about `a[i]` if only the index `i` is traced,
    or about `np.array([x, y])`, but `asarray(a)[i]` and `asarray([x, y])` are
    traced.  Outside of transformations, the result is a plain array.

    Args:
        a: an array, a number, a tracer, or nested lists of these, which are
            stacked.
        dtype: the dtype of the result, by default the dtype of `a`.

    Raises:
        TypeError: `a` holds a value that is not an array or a number.

    Examples:
        >>> import autodiff_mini as ad
        >>> ad.jvp(lambda x: ad.asarray([x, 2 * x]), (1.0,), (1.0,))
        (array([1., 2.]), array([1., 2.]))
    """
    if dtype is not None:
        dtype = array_type((), np.dtype(dtype)).dtype
        check_real(a, dtype)
    is_strong = isinstance(a, Tracer) and a.aval.weak_type is False
    a = a if is_strong else operand(a)
    if dtype is not None:   # in one step: a number can be out of bounds
        a = convert(a, dtype)
    elif not is_strong:
        a = strong(a)
    return a if isinstance(a, Tracer) else current_trace().lift(a)


def check_real(a, dtype):
    """Raise a TypeError if a real dtype is asked of a complex number.

    NumPy drops the imaginary part of an array, but not of a Python number.
    """
    if isinstance(a, (list, tuple)):
        for x in a:
            check_real(x, dtype)
    elif dtype.kind in 'iuf' and (
            type(a) is complex or isinstance(a, Tracer)
            and a.aval.weak_type and a.dtype.kind == 'c'):
        dtype.type(1j)  # NumPy's error


def ufunc(function, primitive):
    """Put a primitive into the table of ufuncs."""
    def call(*args):
        return primitive.bind(*map(operand, args))
    ufunc_table[function] = primitive.bind if function.nin == 1 else call


def operator_ufunc(function, primitive, method):
    """Put a primitive into the table of ufuncs, and define an operator.

    Args:
        function: the ufunc.
        primitive: the primitive that computes it.
        method: the method that Python calls for the operator, without the
            underscores.
    """
    def call(*args):
        args = list(map(operand, args))
        if all(typeof(x).weak_type for x in args):
            args = map(strong, args)
        return primitive.bind(*args)

    def unary(self):
        return primitive.bind(self)

    def binary(self, other):
        if not isinstance(other, Tracer):
            other = operand(other)
        return primitive.bind(self, other)

    def binary_mirrored(self, other):
        return primitive.bind(operand(other), self)

    def in_place(self, other):
        if seams.is_a_number.run(self):
            return binary(self, other)  # numbers are immutable
        seams.check_writable.run(self)
        np.copyto(self, binary(self, other))
        return self

    ufunc_table[function] = call
    setattr(Tracer, f'__{method}__', unary if function.nin == 1 else binary)
    if hasattr(np.ndarray, f'__r{method}__'):   # no comparison has one
        setattr(Tracer, f'__r{method}__', binary_mirrored)
        setattr(Tracer, f'__i{method}__', in_place)


def stand_in(x):
    """Return the dtype of `x`, or a Python number, for NumPy's promotion."""
    aval = typeof(x)
    if aval.weak_type and aval.dtype != bool:
        return aval.dtype.type(0).item()
    return aval.dtype


def dtypes_of(ufunc, args, **options):
    """Return the dtypes that a ufunc computes in with these operands."""
    kinds = [kind if isinstance(kind, np.dtype) else type(kind)
             for kind in map(stand_in, args)]
    return ufunc.resolve_dtypes((*kinds, *[None] * ufunc.nout), **options)


def composed_ufunc(function):
    """Return a decorator that puts a function into the table of ufuncs.

    Its operands are converted to the dtypes that the ufunc computes in.
    """
    def register(implementation):
        def call(*args):
            args = list(map(operand, args))
            dtypes = dtypes_of(function, args)
            y = implementation(*map(convert, args, dtypes))
            return as_new_result(y, args)
        ufunc_table[function] = call
        return implementation
    return register


def implements(function, result=as_new_result):
    """Return a decorator that implements a NumPy function for tracers.

    An output array `out` that is passed by position is refused.

    Args:
        function: the NumPy function.
        result: a function that returns the result as NumPy would:
            `as_new_result` in memory of its own, and as a number if it has no
            axes; `as_new_array` always as an array; `writable_result` as an
            array to fill; `as_view` or `as_read_only_view` as a view of the
            argument; `as_is` for a function that only calls others.
    """
    def register(implementation):
        code = getattr(implementation, '__code__', None)    # none in C
        names = code.co_varnames[:code.co_argcount] if code else ()
        place = names.index('out') if 'out' in names else None

        def call(*args, **kwargs):
            if place and len(args) > place:
                refuse(function, out=args[place])
            y = implementation(*args, **kwargs)
            return result(y, (*args, *kwargs.values()))
        function_table[function] = (
            call if place or result is not as_is else implementation)
        return implementation
    return register


compositions = set()    # functions that are composed of others


def as_view(y, args, why=None):
    """Return `y`, a view of the first argument that is traced."""
    x = next((x for x in args if isinstance(x, Tracer)), None)
    return y if x is None else seams.view_of.run(x, y, None, why)


as_read_only_view = partial(as_view, why=ONLY_SEEN)


def as_is(y, args):
    """Return `y` unchanged."""
    return y


def reduced_axes(a, axis):
    """Return the axes of a reduction, as numbers from 0.

    NumPy accepts the axis 0 for a number, too, and does not reduce it.
    """
    ndim = len(a.shape)
    if axis is None or ndim == 0 and axis in (0, -1):
        return tuple(range(ndim))
    if not isinstance(axis, tuple):
        axis = operator.index(axis)     # NumPy refuses a list
    return normalize_axis_tuple(axis, ndim)


def along(axis, i):
    """Return the index that selects `i` on this axis."""
    return (*[slice(None)] * axis, i)


def inexact(a):
    """Return `a` as an array of floats or complex numbers."""
    a = asarray(a)
    return a if a.dtype.kind in 'fc' else convert(a, np.dtype(np.float64))
