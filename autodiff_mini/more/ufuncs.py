"""The methods of ufuncs, and calls with options such as `dtype=`.

A method is a program over the ufunc itself, so `np.multiply.outer` needs no
rules beyond the rules of `np.multiply`.  Chapter 25.
"""

from functools import partial, reduce
from itertools import accumulate

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from autodiff_mini.arrays import convert
from autodiff_mini.core import function_table, ufunc_table
from autodiff_mini.errors import refuse
from autodiff_mini.memory import as_new_result
from autodiff_mini.more.along_axis import as_rows
from autodiff_mini.more.out import call_function, call_ufunc
from autodiff_mini.numpy_api import asarray, dtypes_of, operand, reduced_axes

SERVES = {np.add: np.sum, np.multiply: np.prod, np.maximum: np.max,
          np.minimum: np.min, np.logical_and: np.all, np.logical_or: np.any}
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
    if dtype is None:
        return ufunc(*args)
    args = list(map(operand, args))
    dtypes = dtypes_of(
        ufunc, args, casting=casting,
        signature=(*[None] * ufunc.nin, *[np.dtype(dtype)] * ufunc.nout))
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
                initial=None, where=True):
    """Return the reduction of an array over some axes."""
    a = asarray(array)
    axes = reduced_axes(a, axis)
    given = {'dtype': dtype, 'initial': initial,
             'where': None if where is True else where}
    given = {key: x for key, x in given.items() if x is not None}
    if ufunc in SERVES:
        return SERVES[ufunc](a, axes, keepdims=keepdims, **given)
    refuse(ufunc, **{'dtype': None, **given})
    rows = as_rows(a, axes)
    y = reduce(ufunc, rows) if len(rows) else ufunc.reduce(
        np.empty(rows.shape, a.dtype))
    return np.expand_dims(y, axes) if keepdims else y


def accumulate_with(ufunc, array, axis=0, dtype=None, out=None):
    """Return the running reductions along an axis."""
    a = asarray(array)
    if ufunc in RUNS:
        return RUNS[ufunc](a, axis, dtype)
    refuse(ufunc, dtype=dtype)
    axis = normalize_axis_index(axis, a.ndim)
    rows = list(accumulate(np.moveaxis(a, axis, 0), ufunc))
    return np.stack(rows, axis) if rows else a


def reduce_at(ufunc, array, indices, axis=0, dtype=None, out=None):
    """Return the reductions of the elements between successive indices."""
    a = np.moveaxis(asarray(array), axis, 0)
    parts = [reduce_with(ufunc, a[i:j if i < j else i + 1], dtype=dtype)
             for i, j in zip(indices, [*indices[1:], len(a)])]
    return np.moveaxis(np.stack(parts), 0, axis)


METHODS = {'__call__': call_with, 'outer': outer, 'reduce': reduce_with,
           'accumulate': accumulate_with, 'reduceat': reduce_at}


def define_method(function, method):
    """Define a method of a ufunc, or a function's `out=`, if there is one."""
    if method == 'out':
        function_table[function, method] = partial(call_function, function)
    elif method in METHODS and ufunc_table[function]:
        ufunc_table[function, method] = partial(
            call_ufunc, function, method, partial(METHODS[method], function))
