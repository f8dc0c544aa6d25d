"""Functions that select, shift, repeat, and pad elements.

Chapter 30.
"""

import operator

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from autodiff_mini.core.errors import refuse
from autodiff_mini.core.memory import as_new_array
from autodiff_mini.core.types import convert, typeof
from autodiff_mini.numpy_functions.arguments import (
    along_one, places_along, promote)
from autodiff_mini.numpy_functions.creation import numpy_asarray
from autodiff_mini.numpy_functions.table import (
    along, as_is, as_view, asarray, implements, operand)
from autodiff_mini.primitives.shapes import broadcast_to_p


@implements(np.take)
def numpy_take(a, indices, axis=None, out=None, mode='raise'):
    a, axis = along_one(a, axis, or_number=True)
    i, size = operand(indices), a.shape[axis]
    is_empty = isinstance(indices, list | tuple) and not indices
    if is_empty or typeof(i).dtype == bool:
        i = convert(i, np.dtype(np.intp))
    if typeof(i).dtype.kind not in 'iu':
        raise TypeError('numpy.take: indices must be integers, but got '
                        f'{typeof(i)}')
    if mode == 'wrap':
        i = np.remainder(i, size)
    if mode == 'clip':
        i = np.clip(i, 0, size - 1)
    return a[along(axis, i)]


@implements(np.take_along_axis)
def numpy_take_along_axis(arr, indices, axis=-1):
    a, axis = along_one(arr, axis)
    return a[places_along(a, indices, axis)]


@implements(np.roll, as_new_array)
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
    a, axis = along_one(a, axis, or_number=True)
    return np.take(a, np.repeat(np.arange(a.shape[axis]), repeats), axis)


@implements(np.pad, as_new_array)
def numpy_pad(array, pad_width, mode='constant', *, constant_values=0,
              **kwargs):
    if kwargs:
        refuse(np.pad, **kwargs)
    a = asarray(array)
    if mode not in ('constant', 'edge', 'reflect', 'symmetric', 'wrap'):
        raise NotImplementedError(
            "numpy.pad of a traced value takes the modes 'constant', 'edge', "
            f"'reflect', 'symmetric', and 'wrap', not {mode!r}")
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
    """Return `a` padded along one axis at the beginning and the end."""
    shapes = [(*a.shape[:axis], n, *a.shape[axis + 1:]) for n in width]
    ends = [[np.broadcast_to(convert(values[i], a.dtype), shapes[i])]
            if width[i] else [] for i in (0, 1)]
    if not any(width):
        return a
    return np.concatenate([*ends[0], a, *ends[1]], axis)


@implements(np.diag, as_is)
def numpy_diag(v, k=0):
    v = asarray(v)
    if v.ndim == 2:
        return np.diagonal(v, k)
    if v.ndim != 1:
        raise ValueError('Input must be 1- or 2-d.')
    v = np.pad(v, (0, abs(k)))
    return np.where(np.eye(len(v), k=k, dtype=bool),
                    v[:, None] if k > 0 else v, v.dtype.type(0))


@implements(np.select, as_new_array)
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


@implements(np.column_stack)
def numpy_column_stack(tup):
    return np.concatenate(
        [a if a.ndim > 1 else np.reshape(a, (-1, 1))
         for a in map(asarray, tup)], 1)


@implements(np.tile, as_new_array)
def numpy_tile(A, reps):
    reps = tuple(reps) if np.iterable(reps) else (reps,)
    a = asarray(A)
    shape = (1,) * (len(reps) - a.ndim) + a.shape
    reps = (1,) * (a.ndim - len(reps)) + reps
    pairs = list(zip(reps, shape))
    a = np.reshape(a, [n for _, size in pairs for n in (1, size)])
    a = np.broadcast_to(a, [n for pair in pairs for n in pair])
    return np.reshape(a, [rep * size for rep, size in pairs])


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


@implements(np.array_split, as_is)
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


@implements(np.broadcast_arrays, as_is)
def numpy_broadcast_arrays(*args, subok=False):
    arrays = list(map(asarray, args))
    shape = np.broadcast_shapes(*[a.shape for a in arrays])
    if all(a.shape == shape for a in arrays):
        return tuple(numpy_asarray(a) for a in arrays)
    return tuple(as_view(broadcast_to_p.bind(a, shape=shape), (a,))
                 for a in arrays)


# NumPy indexes with None, whose transpose is slower than reshape's.
@implements(np.atleast_2d, as_is)
def numpy_atleast_2d(*arys):
    arrays = tuple(a if a.ndim > 1 else np.reshape(a, (1, -1))
                   for a in map(asarray, arys))
    return arrays[0] if len(arrays) == 1 else arrays
