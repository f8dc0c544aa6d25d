"""Writing into arrays: a traced array changes what it holds.

Its one idea: each way of NumPy's to write computes a new array, and lets the
old one become it; see `write` in memory.py.  Chapter *Whose memory is it?*
"""

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from autodiff_mini import seams
from autodiff_mini.arrays import convert
from autodiff_mini.core import Tracer, typeof, ufunc_table, unwrapped
from autodiff_mini.errors import ReadOnlyError, TracerError
from autodiff_mini.memory import (
    View, check_writable, is_a_number, whose, write)
from autodiff_mini.numpy_api import (
    asarray, implements, method, operand, repeated, stand_in, unchanged)
from autodiff_mini.numpy_functions.selection import places_along
from autodiff_mini.primitives.indexing import (
    Indexed, add_at_p, as_operands, index_shape, scatter_p)


def setitem(x, indices, value):
    """Lets the elements `x[indices]` be `value`, as NumPy does."""
    x = check_array(x)
    y, static, arrays = as_operands(x, indices)
    value = operand(value)
    if is_this_part(x, value, Indexed(static, tuple(arrays))):
        return      # x[1:] += 1: the part has been written into already
    if any(array.dtype == bool for array in arrays):
        y = where_masked(x, indices, value)
    elif all(i is Ellipsis or i == slice(None) for i in static):
        y = as_part(value, x, x.shape)
    else:
        shape = index_shape(y.shape, *arrays, indices=static)
        y = scatter_p.bind(y, as_part(value, x, shape), *arrays,
                           indices=static)
    overwrite(x, y)


def overwrite(x, y):
    """Lets the traced array `x` be what `y` is now."""
    if np.shape(y) != x.shape:
        y = np.reshape(y, x.shape)  # a mask without axes has given it one
    write(x, y if isinstance(y, Tracer) else np.array(y))


Tracer.__setitem__ = setitem


def check_array(x):
    """Return the tracer that a write into `x` changes, or raise."""
    x = unwrapped(x, to_write=True)
    if not isinstance(x, Tracer):
        raise TracerError(
            'a traced value would be written into an array of NumPy, which '
            'would forget what is traced. ' + seams.advise(
                'fill', 'Write into a copy, y = np.array(a, like=x), where '
                'x is traced.'))
    check_writable(x)
    if is_a_number(x):
        raise ReadOnlyError(x, 'is a number, which does not change')
    return x


def is_this_part(x, value, step) -> bool:
    """Returns whether `value` is a view of `x`, by this step."""
    mine = whose(x)
    if type(mine) is not View or mine.path is None:
        return False
    return isinstance(value, Tracer) and whose(value) == mine._replace(
        path=(*mine.path, step))


def where_masked(x, mask, value):
    """Returns `x` with `value` where a mask is True that is traced itself."""
    mask = mask[0] if isinstance(mask, tuple) and len(mask) == 1 else mask
    value = operand(value)
    is_one = isinstance(mask, Tracer)
    if is_one and mask.shape != x.shape[:mask.ndim]:
        raise IndexError(f'a boolean index of shape {mask.shape} does not '
                         f'match an array of shape {x.shape}')
    rest = x.ndim - mask.ndim if is_one else -1
    if typeof(value).ndim > rest:
        raise TracerError(
            'a boolean index whose values are not known while they are '
            'traced takes what is the same wherever it is True: in place of '
            'x[mask] = y write x[...] = np.where(mask, y, x)')
    mask = np.reshape(mask, (*mask.shape, *[1] * rest))
    return np.where(mask, as_part(value, x, typeof(value).shape), x)


def as_part(value, x, shape):
    """Returns a value as it is written into `x`, where there is this shape.

    NumPy's arrays take what can be cast in any way, but for complex numbers.
    """
    aval = typeof(value)
    if aval.dtype.kind == 'c' and x.dtype.kind != 'c':
        raise TypeError(f'a complex number cannot be written into {x.aval}')
    value = convert(value, x.dtype)
    extra = aval.ndim - len(shape)
    if extra > 0 and aval.shape[:extra] == (1,) * extra:
        value = np.reshape(value, aval.shape[extra:])
    if np.shape(value) == shape:
        return value
    try:
        return np.broadcast_to(value, shape)
    except ValueError:
        raise ValueError(f'could not broadcast input array from shape '
                         f'{aval.shape} into shape {shape}') from None


@implements(np.copyto, unchanged)
def numpy_copyto(dst, src, casting='same_kind', where=True):
    dst = check_array(dst)
    src = operand(src)
    check_cast(src, dst, casting)
    if where is not True:
        src = np.where(where, convert(src, dst.dtype), dst)
    overwrite(dst, as_part(src, dst, dst.shape))


def check_cast(value, x, casting='same_kind'):
    """Raises a TypeError if a value cannot be cast to be added to `x`."""
    kind = typeof(value).dtype
    if typeof(value).weak_type:
        kind = np.result_type(stand_in(value), x.dtype)
    if not np.can_cast(kind, x.dtype, casting):
        raise TypeError(f'Cannot cast array data from {kind!r} to {x.dtype!r}'
                        f' according to the rule {casting!r}')


def add_at_indices(x, indices, value):
    """Adds to elements of `x`; to one that is meant twice, both times."""
    x = check_array(x)
    y, static, arrays = as_operands(x, indices)
    value = operand(value)
    check_cast(value, x)
    part = as_part(value, x, index_shape(y.shape, *arrays, indices=static))
    overwrite(x, add_at_p.bind(y, part, *arrays, indices=static))


ufunc_table[np.add, 'at'] = add_at_indices
ufunc_table[np.subtract, 'at'] = lambda x, indices, value: (
    add_at_indices(x, indices, -operand(value)))


def fill_all(x, value):
    """Lets all elements of `x` be `value`."""
    x[...] = value


def sort(x, axis=-1, kind=None, order=None, *, stable=None):
    """Sorts `x` itself."""
    x[...] = np.sort(x, axis, kind, order)


def partition(x, kth, axis=-1, kind='introselect', order=None):
    """Partition `x` itself."""
    x[...] = np.partition(x, kth, axis, kind, order)


method('fill', fill_all)
method('sort', sort)
method('partition', partition)
method("put", np.put)


@implements(np.put, unchanged)
def numpy_put(a, ind, v, mode='raise'):
    """Writes as if `a` were flat; `v` begins anew where it is too short."""
    a = check_array(a)
    if mode == 'wrap':
        ind = np.remainder(ind, a.size)
    if mode == 'clip':
        ind = np.clip(ind, 0, a.size - 1)
    ind = np.ravel(asarray(ind))
    a.flat[convert(ind, np.dtype(np.intp))] = v


@implements(np.fill_diagonal, unchanged)
def numpy_fill_diagonal(a, val, wrap=False):
    places = np.arange(np.size(a)).reshape(a.shape)
    marks = np.zeros(a.shape, bool)
    np.fill_diagonal(marks, True, wrap)
    np.put(a, places[marks], val)


@implements(np.putmask, unchanged)
def numpy_putmask(a, mask, values):
    v = repeated(asarray(values), (a.size,))
    if v.size == a.size:
        np.copyto(a, np.reshape(v, a.shape), where=np.reshape(mask, a.shape))


@implements(np.place, unchanged)
def numpy_place(arr, mask, vals):
    places, vals = np.flatnonzero(mask), operand(vals)
    if places.size and not np.size(vals):
        raise ValueError('Cannot insert from an empty array!')
    np.put(arr, places, vals)


@implements(np.put_along_axis, unchanged)
def numpy_put_along_axis(arr, indices, values, axis):
    arr = check_array(arr)
    if axis is None:
        flat = arr.flat[:]
        np.put_along_axis(flat, np.ravel(indices), np.ravel(values), 0)
        arr[...] = np.reshape(flat, arr.shape)
    else:
        axis = normalize_axis_index(axis, arr.ndim)
        arr[places_along(arr, indices, axis)] = values
