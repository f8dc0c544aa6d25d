"""Elements taken out of an array, turned round, moved and padded.

Chapter 25.
"""

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from autodiff_mini.arrays import convert
from autodiff_mini.core import typeof
from autodiff_mini.errors import refuse
from autodiff_mini.memory import handed_array
from autodiff_mini.numpy_api import (
    along, along_one, asarray, implements, only_seen, operand, seen,
    unchanged)


@implements(np.flip, seen)
def numpy_flip(m, axis=None):
    m = asarray(m)
    axes = range(m.ndim) if axis is None else axis
    axes = normalize_axis_tuple(axes, m.ndim)
    return m[tuple(slice(None, None, -1 if i in axes else None)
                   for i in range(m.ndim))]


@implements(np.fliplr, seen)
def numpy_fliplr(m):
    return np.flip(m, 1)


@implements(np.flipud, seen)
def numpy_flipud(m):
    return np.flip(m, 0)


@implements(np.rot90, seen)
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
    a, axis = along_one(a, axis, or_number=True)
    i, size = operand(indices), a.shape[axis]
    is_empty = isinstance(indices, list | tuple) and not indices
    if is_empty or typeof(i).dtype == bool:
        i = convert(i, np.dtype(np.intp))
    if typeof(i).dtype.kind not in 'iu':
        raise TypeError(f'numpy.take: {typeof(i).dtype} is no dtype of '
                        'indices')
    if mode == 'wrap':
        i = np.remainder(i, size)
    if mode == 'clip':
        i = np.clip(i, 0, size - 1)
    return a[along(axis, i)]


@implements(np.take_along_axis)
def numpy_take_along_axis(arr, indices, axis=-1):
    a, axis = along_one(arr, axis)
    return a[places_along(a, indices, axis)]


def places_along(a, indices, axis):
    """Returns an index of `a`: at each place, another one on this axis."""
    indices = asarray(indices)
    if indices.ndim != a.ndim:
        raise ValueError(
            '`indices` and `arr` must have the same number of dimensions')
    if indices.dtype.kind not in 'iu':
        raise IndexError('`indices` must be an integer array')
    places = [np.arange(size).reshape(-1, *[1] * (a.ndim - i - 1))
              for i, size in enumerate(a.shape)]
    places[axis] = indices
    return tuple(places)


@implements(np.roll, handed_array)
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


@implements(np.pad, handed_array)
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


@implements(np.diagonal, only_seen)
def numpy_diagonal(a, offset=0, axis1=0, axis2=1):
    a = np.moveaxis(a, (axis1, axis2), (-2, -1))
    rows, columns = a.shape[-2:]
    above, below = max(offset, 0), max(-offset, 0)
    i = np.arange(max(min(rows - below, columns - above), 0))
    return a[..., i + below, i + above]


@implements(np.diag, unchanged)
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
    return np.sum(np.diagonal(a, offset, axis1, axis2), -1, dtype)
