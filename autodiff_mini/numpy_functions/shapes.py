"""Arrays of other shapes, joined and split.

Chapter 25.
"""

import operator

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from autodiff_mini.core import Tracer
from autodiff_mini.errors import refuse
from autodiff_mini.memory import handed_array
from autodiff_mini.numpy_api import along, asarray, implements, seen, stand_in
from autodiff_mini.numpy_functions.creation import numpy_asarray
from autodiff_mini.primitives.shapes import broadcast_to_p


def each(function, arrays):
    """Returns `function` of each array: one result, or a tuple of them."""
    results = tuple(map(function, map(asarray, arrays)))
    return results[0] if len(results) == 1 else results


@implements(np.atleast_1d, seen)
def numpy_atleast_1d(*arys):
    return each(lambda a: a if a.ndim else np.reshape(a, 1), arys)


@implements(np.atleast_2d, seen)
def numpy_atleast_2d(*arys):
    return each(lambda a: a if a.ndim > 1 else np.reshape(a, (1, -1)), arys)


@implements(np.vstack)
def numpy_vstack(tup, *, dtype=None, casting='same_kind'):
    return np.concatenate([np.atleast_2d(a) for a in tup], dtype=dtype,
                          casting=casting)


@implements(np.hstack)
def numpy_hstack(tup, *, dtype=None, casting='same_kind'):
    arrays = [np.atleast_1d(a) for a in tup]
    return np.concatenate(arrays, min(arrays[0].ndim - 1, 1), dtype=dtype,
                          casting=casting)


@implements(np.column_stack)
def numpy_column_stack(tup):
    return np.concatenate(
        [a if a.ndim > 1 else np.reshape(a, (-1, 1))
         for a in map(asarray, tup)], 1)


@implements(np.array_split, seen)
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


@implements(np.split, seen)
def numpy_split(ary, indices_or_sections, axis=0):
    if (not np.iterable(indices_or_sections)
            and np.shape(ary)[axis] % indices_or_sections):
        raise ValueError('array split does not result in an equal division')
    return np.array_split(ary, indices_or_sections, axis)


@implements(np.ravel, seen)
def numpy_ravel(a, order='C'):
    return np.reshape(asarray(a), -1, order)


@implements(np.squeeze, seen)
def numpy_squeeze(a, axis=None):
    a = asarray(a)
    if axis is None or a.ndim == 0 and axis in (0, -1):
        axis = [i for i, size in enumerate(a.shape) if size == 1]
    axes = normalize_axis_tuple(axis, a.ndim)
    if any(a.shape[i] != 1 for i in axes):
        raise ValueError('cannot select an axis to squeeze out which has '
                         'size not equal to one')
    return np.reshape(a, [size for i, size in enumerate(a.shape)
                          if i not in axes])


@implements(np.expand_dims, seen)
def numpy_expand_dims(a, axis):
    a = numpy_asarray(a)
    axis = axis if np.iterable(axis) else (axis,)
    ndim = a.ndim + len(axis)
    axes, sizes = normalize_axis_tuple(axis, ndim), iter(a.shape)
    return np.reshape(a, [1 if i in axes else next(sizes)
                          for i in range(ndim)])


@implements(np.moveaxis, seen)
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


@implements(np.swapaxes, seen)
def numpy_swapaxes(a, axis1, axis2):
    a = asarray(a)
    i = normalize_axis_index(axis1, a.ndim)
    j = normalize_axis_index(axis2, a.ndim)
    swap = {i: j, j: i}
    return np.transpose(a, [swap.get(k, k) for k in range(a.ndim)])


@implements(np.matrix_transpose, seen)
def numpy_matrix_transpose(x, /):
    return np.swapaxes(x, -1, -2)


@implements(np.tile, handed_array)
def numpy_tile(A, reps):
    reps = tuple(reps) if np.iterable(reps) else (reps,)
    a = asarray(A)
    shape = (1,) * (len(reps) - a.ndim) + a.shape
    reps = (1,) * (a.ndim - len(reps)) + reps
    pairs = list(zip(reps, shape))
    a = np.reshape(a, [n for _, size in pairs for n in (1, size)])
    a = np.broadcast_to(a, [n for pair in pairs for n in pair])
    return np.reshape(a, [rep * size for rep, size in pairs])


@implements(np.broadcast_arrays, seen)
def numpy_broadcast_arrays(*args, subok=False):
    arrays = list(map(asarray, args))
    shape = np.broadcast_shapes(*[a.shape for a in arrays])
    if all(a.shape == shape for a in arrays):
        return tuple(numpy_asarray(a) for a in arrays)
    return tuple(seen(broadcast_to_p.bind(a, shape=shape), (a,))
                 for a in arrays)


@implements(np.meshgrid)
def numpy_meshgrid(*xi, copy=True, sparse=False, indexing='xy'):
    if indexing not in ('xy', 'ij'):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    places = list(range(len(xi)))
    if indexing == 'xy':
        places[:2] = reversed(places[:2])
    grids = [np.reshape(x, [-1 if i == place else 1 for i in range(len(xi))])
             for x, place in zip(xi, places)]
    if not copy:
        refuse(np.meshgrid, copy=copy)
    return tuple(grids) if sparse else np.broadcast_arrays(*grids)


@implements(np.shape)
def numpy_shape(a):
    return a.shape


@implements(np.ndim)
def numpy_ndim(a):
    return a.ndim


@implements(np.size)
def numpy_size(a, axis=None):
    return a.size if axis is None else a.shape[axis]


@implements(np.result_type)
def numpy_result_type(*arrays_and_dtypes):
    return np.result_type(*[stand_in(x) if isinstance(x, Tracer) else x
                            for x in arrays_and_dtypes])
