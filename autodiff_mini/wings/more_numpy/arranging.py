"""Functions that rearrange, join, and look up elements.

Rearranging the indices 0, 1, 2, ... with NumPy gives the new place of each
element.  Chapter 30.
"""

import numpy as np
from numpy.lib.array_utils import normalize_axis_index
from numpy.lib.stride_tricks import sliding_window_view

from autodiff_mini.core.errors import refuse
from autodiff_mini.core.memory import as_new_array
from autodiff_mini.core.trace import Tracer
from autodiff_mini.core.types import convert
from autodiff_mini.numpy_functions.arguments import (
    along_one, check_cast, promote)
from autodiff_mini.numpy_functions.borrowed import array_or_tracer
from autodiff_mini.numpy_functions.table import (
    as_is, as_read_only_view, asarray, implements, operand)


@implements(sliding_window_view, as_read_only_view)
def numpy_sliding_window_view(x, window_shape, axis=None, *, subok=False,
                              writeable=False):
    refuse(sliding_window_view, writeable=writeable or None)
    x = asarray(x)
    places = np.arange(x.size).reshape(x.shape)
    return np.ravel(x)[sliding_window_view(places, window_shape, axis)]


@implements(np.delete)
def numpy_delete(arr, obj, axis=None):
    refuse(np.delete, obj=traced(obj))
    a, axis = along_one(arr, axis)
    return np.take(a, np.delete(np.arange(a.shape[axis]), obj), axis)


def traced(x):
    """Return `x` if it is traced, and None if its value is known."""
    return x if isinstance(x, Tracer) else None


@implements(np.insert)
def numpy_insert(arr, obj, values, axis=None):
    refuse(np.insert, obj=traced(obj))
    a, axis = along_one(arr, axis)
    size = a.shape[axis]
    values = asarray(values, a.dtype)
    count = len(np.insert(np.arange(size), obj, 0)) - size
    if count == 1:      # insert all values at one place
        values = np.reshape(
            values, (*[1] * (a.ndim - values.ndim), *values.shape))
        if np.ndim(obj) == 0 and not isinstance(obj, slice):
            values = np.moveaxis(values, 0, axis)
        count = values.shape[axis]
    shape = (*a.shape[:axis], count, *a.shape[axis + 1:])
    places = np.insert(np.arange(size), obj, size + np.arange(count))
    both = np.concatenate([a, np.broadcast_to(values, shape)], axis)
    return np.take(both, places, axis)


@implements(np.block, as_new_array)
def numpy_block(arrays):
    depth = block_depth(arrays)
    return block_of(arrays, depth, max(depth, block_ndim(arrays)))


def block_depth(arrays):
    """Return the nesting depth of lists, which must be uniform."""
    if isinstance(arrays, tuple):
        raise TypeError('arrays is a tuple. Only lists can be used to '
                        'arrange blocks, and np.block does not allow '
                        'implicit conversion from tuple to ndarray.')
    if not isinstance(arrays, list):
        return 0
    if not arrays:
        raise ValueError('List at arrays cannot be empty')
    depths = set(map(block_depth, arrays))
    if len(depths) > 1:
        raise ValueError('List depths are mismatched.')
    return 1 + depths.pop()


def block_ndim(arrays):
    """Return the largest number of axes of any block."""
    if isinstance(arrays, list):
        return max(map(block_ndim, arrays))
    return np.ndim(arrays)


def block_of(arrays, depth, ndim):
    """Return the blocks as one array: the innermost lists are rows."""
    if not isinstance(arrays, list):
        a = asarray(arrays)
        return np.reshape(a, (*[1] * (ndim - a.ndim), *a.shape))
    return np.concatenate(
        [block_of(part, depth - 1, ndim) for part in arrays], -depth)


@implements(np.diagflat)
def numpy_diagflat(v, k=0):
    return np.diag(np.ravel(asarray(v)), k)


@implements(np.ediff1d)
def numpy_ediff1d(ary, to_end=None, to_begin=None):
    a = np.ravel(asarray(ary))
    start, end = [[] if x is None else [ediff_end(x, a)]
                  for x in (to_begin, to_end)]
    return np.concatenate([*start, a[1:] - a[:-1], *end])


def ediff_end(x, a):
    """Return the values to put before or after the differences of `a`."""
    check_cast(operand(x), a)
    return np.ravel(convert(asarray(x), a.dtype))


# NumPy does not specify the order of the other elements.  Sort them.
@implements(np.apply_along_axis, as_is)
def numpy_apply_along_axis(func1d, axis, arr, *args, **kwargs):
    a = asarray(arr)
    axis = normalize_axis_index(axis, a.ndim)
    rows = np.moveaxis(a, axis, -1)
    shape = rows.shape[:-1]
    if 0 in shape:
        raise ValueError('Cannot apply_along_axis when any iteration '
                         'dimensions are 0')
    results = [asarray(func1d(rows[i], *args, **kwargs))
               for i in np.ndindex(shape)]
    ndim = results[0].ndim
    y = np.reshape(np.stack(results), (*shape, *results[0].shape))
    return np.moveaxis(y, range(len(shape), len(shape) + ndim),
                       range(axis, axis + ndim))


@implements(np.choose)
def numpy_choose(a, choices, out=None, mode='raise'):
    choices = promote(*map(operand, choices))
    i, *choices = np.broadcast_arrays(a, *choices)
    count = len(choices)
    if mode == 'raise':     # negative indices are out of bounds
        i = np.where(np.less(i, 0), count, i)
    elif mode == 'wrap':
        i = np.remainder(i, count)
    else:
        i = np.clip(i, 0, count - 1)
    return np.take_along_axis(np.stack(choices), i[None], 0)[0]


@implements(np.compress)
def numpy_compress(condition, a, axis=None, out=None):
    if np.ndim(condition) != 1:
        raise ValueError('condition must be a 1-d array')
    return np.take(a, np.flatnonzero(condition), axis)


@implements(np.array_equal)
def numpy_array_equal(a1, a2, equal_nan=False):
    a, b = asarray(a1), asarray(a2)
    if a.shape != b.shape:
        return False
    same = np.equal(a, b)
    if equal_nan:
        same = same | np.isnan(a) & np.isnan(b)
    return np.all(same)


@implements(np.array_equiv)
def numpy_array_equiv(a1, a2):
    a, b = asarray(a1), asarray(a2)
    try:
        np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        return False
    return np.all(np.equal(a, b))


@implements(np.isin)
def numpy_isin(element, test_elements, assume_unique=False, invert=False, *,
               kind=None):
    a, tests = asarray(element), np.ravel(asarray(test_elements))
    found = np.any(np.equal(a[..., None], tests), -1)
    return ~found if invert else found


@implements(np.digitize)
def numpy_digitize(x, bins, right=False):
    x, bins = array_or_tracer(x), array_or_tracer(bins)
    if x.dtype.kind == 'c':
        raise TypeError('x may not be complex')
    if not isinstance(bins, Tracer):
        np.digitize(0, bins)    # raises if bins are not monotonic
    side = 'left' if right else 'right'
    rising = np.searchsorted(bins, x, side)
    if len(bins) < 2:
        return rising
    falling = len(bins) - np.searchsorted(bins[::-1], x, side)
    return np.where(np.less_equal(bins[0], bins[-1]), rising, falling)


def int_indices(i):
    """Return indices as integers, or raise a TypeError if they are not."""
    i = asarray(i)
    if i.dtype.kind not in 'biu':
        raise TypeError('only int indices permitted')
    return convert(i, np.dtype(np.intp))


@implements(np.unravel_index)
def numpy_unravel_index(indices, shape, order='C'):
    i, sizes = int_indices(indices), np.atleast_1d(shape).tolist()
    places = []
    for size in sizes[::-1] if order == 'C' else sizes:
        i, place = np.divmod(i, size)
        places.append(place)
    return tuple(places[::-1] if order == 'C' else places)


@implements(np.ravel_multi_index)
def numpy_ravel_multi_index(multi_index, dims, mode='raise', order='C'):
    modes = [mode] * len(dims) if isinstance(mode, str) else mode
    places = [*zip(multi_index, dims, modes, strict=True)]
    i = 0
    for place, size, how in places if order == 'C' else places[::-1]:
        place = int_indices(place)
        if how == 'wrap':
            place = np.remainder(place, size)
        if how == 'clip':
            place = np.clip(place, 0, size - 1)
        i = i * size + place
    return i


SIZED_BY_VALUES = (
    np.trim_zeros, np.unique, np.unique_all, np.unique_counts,
    np.unique_inverse, np.unique_values, np.intersect1d, np.setdiff1d,
    np.setxor1d, np.union1d)


def refuse_by_size(function):
    """Raise an error if the size of a function's result depends on values."""
    if function in SIZED_BY_VALUES:
        refuse_size(function)


def refuse_size(function):
    raise NotImplementedError(
        f'numpy.{function.__name__} is not supported on traced values, '
        'because the size of its result depends on values. Keep all the '
        'elements, and set those that do not count to 0 with np.where.')


def tells_places(function):
    """Define a function that finds nonzero elements, if they are known."""
    @implements(function, as_is)
    def call(a):
        mask = np.not_equal(a, 0)
        return refuse_size(function) if isinstance(
            mask, Tracer) else function(mask)


tells_places(np.argwhere)
tells_places(np.flatnonzero)
tells_places(np.nonzero)
