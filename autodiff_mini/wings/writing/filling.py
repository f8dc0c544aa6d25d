"""Functions that write single elements, and `x.flat`.

They become one write by indices.  Chapter 30.
"""

import math
from functools import partial

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from autodiff_mini.core.trace import function_table, ufunc_table, unwrap_as
from autodiff_mini.core.types import convert
from autodiff_mini.numpy_functions.arguments import check_cast, places_along
from autodiff_mini.numpy_functions.table import (
    as_is, asarray, implements, operand)
from autodiff_mini.primitives.indexing import (
    add_at_p, as_operands, index_shape)
from autodiff_mini.wings.writing.assignment import (
    as_part, check_array, overwrite)


class Flat:
    """The elements of a traced array in one row, like NumPy's `x.flat`.

    It is not an array.  It writes into the array `base`, and reads return
    copies.  NumPy functions take it as the row.
    """

    def __init__(self, base):
        self.base = base

    def __len__(self):
        return self.base.size

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __getitem__(self, i):
        return np.copy(np.ravel(self.base))[i]

    def __setitem__(self, i, value):
        row, value = self[:], operand(value)
        if np.ndim(value):
            value = repeated(value, np.shape(row[i]))
        if np.size(value):
            row[i] = value
            self.base[...] = np.reshape(row, self.base.shape)

    def copy(self):
        return self[:]

    def __array__(self, dtype=None, copy=None):
        return self.base.__array__(dtype, copy)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return self.base.__array_ufunc__(
            ufunc, method, *map(in_a_row, inputs), **kwargs)

    def __array_function__(self, function, types, args, kwargs):
        return self.base.__array_function__(
            function, (), tuple(map(in_a_row, args)), kwargs)


for comparison in ('__eq__', '__ne__', '__lt__', '__le__', '__gt__',
                   '__ge__'):
    setattr(Flat, comparison, lambda self, other, name=comparison: (
        getattr(self[:], name)(other)))

function_table[np.flatiter] = Flat
unwrap_as[Flat] = lambda x, to_write: x if to_write else x[:]


def in_a_row(x):
    """Return `x`, or its elements in a row if it is a Flat."""
    return np.ravel(x.base) if isinstance(x, Flat) else x


def repeated(values, shape):
    """Return values cut or repeated to fit a shape."""
    if not shape:
        raise ValueError('one element cannot be set to several values')
    values, count = np.ravel(np.copy(values)), math.prod(shape)
    if values.size == 0:
        return values
    if values.size != count:
        values = values[np.arange(count) % values.size]
    return np.reshape(values, shape)


@implements(np.put, as_is)
def numpy_put(a, ind, v, mode='raise'):
    """Write into `a` as if it were flat; repeat `v` if it is too short."""
    a, is_array = check_array(a), hasattr(ind, 'dtype')
    ind = asarray(ind)
    if is_array and ind.dtype.kind not in 'biu':
        raise TypeError(f'Cannot cast array data from {ind.dtype!r} to '
                        "dtype('int64') according to the rule 'safe'")
    if mode == 'wrap':
        ind = np.remainder(ind, a.size)
    if mode == 'clip':
        ind = np.clip(ind, 0, a.size - 1)
    ind = np.ravel(ind)
    a.flat[convert(ind, np.dtype(np.intp))] = v


@implements(np.fill_diagonal, as_is)
def numpy_fill_diagonal(a, val, wrap=False):
    places = np.arange(np.size(a)).reshape(a.shape)
    marks = np.zeros(a.shape, bool)
    np.fill_diagonal(marks, True, wrap)
    np.put(a, places[marks], val)


@implements(np.putmask, as_is)
def numpy_putmask(a, mask, values):
    v = repeated(asarray(values), (a.size,))
    if v.size == a.size:
        np.copyto(a, np.reshape(v, a.shape), where=np.reshape(mask, a.shape))


@implements(np.place, as_is)
def numpy_place(arr, mask, vals):
    if np.size(mask) != np.size(arr):
        raise ValueError('place: mask and data must be the same size')
    places, vals = np.flatnonzero(mask), operand(vals)
    if places.size and not np.size(vals):
        raise ValueError('Cannot insert from an empty array!')
    np.put(arr, places, vals)


@implements(np.put_along_axis, as_is)
def numpy_put_along_axis(arr, indices, values, axis):
    arr = check_array(arr)
    if axis is None:
        flat = arr.flat[:]
        np.put_along_axis(flat, np.ravel(indices), np.ravel(values), 0)
        arr[...] = np.reshape(flat, arr.shape)
    else:
        axis = normalize_axis_index(axis, arr.ndim)
        arr[places_along(arr, indices, axis)] = values


def add_at(sign, x, indices, value):
    """Add to elements of `x`; a repeated index adds each time.

    Args:
        sign: the function that is applied to the value, in the dtype of `x`,
            because the negative of an unsigned integer is a large one.
    """
    x = check_array(x)
    y, static, arrays = as_operands(x, indices)
    shape, value = index_shape(y.shape, *arrays, indices=static), operand(
        value)
    if np.ndim(value) > len(shape):
        raise ValueError('array is not broadcastable to correct shape')
    check_cast(value, x)
    part = sign(as_part(value, x, shape))
    overwrite(x, add_at_p.bind(y, part, *arrays, indices=static))


ufunc_table[np.add, 'at'] = partial(add_at, lambda part: part)
ufunc_table[np.subtract, 'at'] = partial(add_at, np.negative)
