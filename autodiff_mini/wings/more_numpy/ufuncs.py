"""The methods of ufuncs, and calls with options such as `dtype=`.

A method is a program over the ufunc itself, so `np.multiply.outer` needs no
rules beyond the rules of `np.multiply`.  Chapter 30.
"""

from functools import partial
from itertools import accumulate

import numpy as np

from autodiff_mini.core.errors import refuse
from autodiff_mini.core.memory import as_new_result
from autodiff_mini.core.trace import function_table, ufunc_table
from autodiff_mini.core.types import convert
from autodiff_mini.numpy_functions.arguments import as_mask
from autodiff_mini.numpy_functions.table import (
    asarray, dtypes_of, operand, reduced_axes, stand_in)
from autodiff_mini.wings.more_numpy.along_axis import as_rows
from autodiff_mini.wings.more_numpy.out import call_function, call_ufunc

SUMS = {np.add: np.sum, np.multiply: np.prod}
SERVES = {np.maximum: np.max, np.minimum: np.min, np.logical_and: np.all,
          np.logical_or: np.any}
SIGNS = {np.hypot, np.gcd}  # with the identity, they drop a sign
RUNS = {np.add: np.cumsum, np.multiply: np.cumprod}


def call_with(ufunc, *args, dtype=None, casting='same_kind', order='K',
              subok=True, where=None, signature=None, axes=None, axis=None,
              keepdims=None):
    """Return the result of a ufunc, computed in a dtype or along axes."""
    if axis is not None and ufunc is np.vecdot:
        axes, axis = [axis, axis], None
    refuse(ufunc, where=where, signature=signature, axis=axis,
           keepdims=keepdims)
    if axes is not None:
        f = partial(call_with, ufunc, dtype=dtype, casting=casting)
        return along_axes(f, args, axes)
    if dtype is None and casting == 'same_kind':
        return ufunc(*args)
    out = dtype if dtype is None else np.dtype(dtype)
    args = list(map(operand, args))
    dtypes = dtypes_of(
        ufunc, args, casting=casting,
        signature=(*[None] * ufunc.nin, *[out] * ufunc.nout))
    return as_new_result(ufunc(*map(convert, args, dtypes)), args)


def along_axes(f, args, axes):
    """Apply a function of vectors or matrices along other axes.

    Args:
        f: a function that expects the axes last, and returns its own last.
        args: its operands.
        axes: for each operand, its axis or a tuple of axes; the same for the
            result, unless it has none.
    """
    axes = [axis if isinstance(axis, tuple) else (axis,) for axis in axes]
    ends = [range(-len(axis), 0) for axis in axes]
    y = f(*map(np.moveaxis, map(asarray, args), axes, ends))
    has_axes = len(axes) > len(args)
    return np.moveaxis(y, ends[-1], axes[-1]) if has_axes else y


def outer(ufunc, a, b, **kwargs):
    """Apply a ufunc to all pairs of elements of `a` and `b`."""
    a, b = asarray(a), asarray(b)
    a = np.reshape(a, (*a.shape, *[1] * b.ndim))
    return ufunc(a, b, **kwargs) if kwargs else ufunc(a, b)


def reduce_with(ufunc, array, axis=0, dtype=None, out=None, keepdims=False,
                **options):
    """Return the reduction of an array over some axes."""
    a = asarray(array)
    if ufunc in SUMS and dtype is None and not options:
        return SUMS[ufunc](a, axis, keepdims=keepdims)
    if 'where' in options:
        options['where'] = as_mask(options['where'])
    example = ufunc.reduce(example_of(a), axis, dtype, **{
        name: example_of(x) for name, x in options.items()})
    axes = reduced_axes(a, axis)
    if ufunc in SUMS:
        return SUMS[ufunc](a, axes, dtype, keepdims=keepdims, **options)
    a = as_dtype(a, example.dtype)
    if ufunc in SERVES and not (a.dtype == bool and 'initial' in options):
        return SERVES[ufunc](a, axes, keepdims=keepdims, **options)
    rows, masks = as_rows(a, axes), None
    if 'where' in options:
        masks = as_rows(np.broadcast_to(options['where'], a.shape), axes)
    start = options.get('initial')
    if 'initial' not in options and (
            not len(rows) or masks is not None or ufunc in SIGNS):
        start = np.asarray(ufunc.identity).astype(a.dtype)  # -1 or 255
    y = folded(ufunc, rows, masks, start)
    y = np.expand_dims(y, axes) if keepdims else y
    return as_new_result(y, [array])


def example_of(x):
    """Return ones of the type of `x`, with at most one along each axis.

    A ufunc's method returns the same dtype for them as for `x`, and raises
    the same errors, unless an error is about values.
    """
    if not hasattr(x, 'dtype'):
        return x
    return np.ones([min(n, 1) for n in x.shape], stand_in(x))[()]


def as_dtype(a, dtype):
    """Return `a` in the dtype that a method computes in."""
    return np.not_equal(a, 0) if dtype == bool else convert(a, dtype)


def folded(ufunc, rows, masks, start):
    """Combine rows one by one, from a start if it is not None.

    Args:
        masks: for each row, which elements count, or None for all.
    """
    one, y = rows.dtype.type(1), start
    if start is not None:
        start = convert(operand(start), rows.dtype)
        y = np.full_like(rows, start, shape=rows.shape[1:])
    for i, row in enumerate(rows):
        if masks is not None:   # what is left out must not give NaN
            row = np.where(masks[i], row, one)
        z = row if y is None else ufunc(y, row)
        y = z if masks is None else np.where(masks[i], z, y)
    return y


def accumulate_with(ufunc, array, axis=0, dtype=None, out=None):
    """Return the running reductions along an axis."""
    a = asarray(array)
    example = ufunc.accumulate(example_of(a), axis, dtype)
    axis, = reduced_axes(a, axis)
    if ufunc in RUNS:
        return RUNS[ufunc](a, axis, dtype)
    a = as_dtype(a, example.dtype)
    rows = list(accumulate(np.moveaxis(a, axis, 0), ufunc))
    return np.stack(rows, axis) if rows else a


def reduce_at(ufunc, array, indices, axis=0, dtype=None, out=None):
    """Return the reductions of the elements between successive indices."""
    a = asarray(array)
    ones = np.broadcast_to(example_of(a), a.shape)
    with np.errstate(all='ignore'):     # it also checks the indices
        example = ufunc.reduceat(ones, indices, axis, dtype)
    axis, = reduced_axes(a, axis)
    a = np.moveaxis(as_dtype(a, example.dtype), axis, 0)
    indices = np.asarray(indices, np.intp)
    parts = [a[i:j if i < j else i + 1]
             for i, j in zip(indices, [*indices[1:], len(a)])]
    if ufunc in SUMS:
        parts = [SUMS[ufunc](part, 0, a.dtype) for part in parts]
    elif ufunc in SERVES:
        parts = [SERVES[ufunc](part, 0) for part in parts]
    else:
        parts = [folded(ufunc, part, None, None) for part in parts]
    return np.moveaxis(np.stack(parts) if parts else a[:0], 0, axis)


METHODS = {'__call__': call_with, 'outer': outer, 'reduce': reduce_with,
           'accumulate': accumulate_with, 'reduceat': reduce_at}


def define_method(function, method):
    """Define a method of a ufunc, or a function's `out=`, if there is one."""
    if method == 'out':
        function_table[function, method] = partial(call_function, function)
    elif method in METHODS and ufunc_table[function]:
        ufunc_table[function, method] = partial(
            call_ufunc, function, method, partial(METHODS[method], function))
