"""Products of arrays, convolutions, and correlations.

A convolution first takes a window of the array for each position, and then
multiplies and adds.  Chapter 30.
"""

import math

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple
from numpy.lib.stride_tricks import sliding_window_view

from autodiff_mini.core.memory import as_new_array
from autodiff_mini.core.types import typeof
from autodiff_mini.numpy_functions.methods import conjugate
from autodiff_mini.numpy_functions.table import (
    asarray, composed_ufunc, implements)


@implements(np.kron)
def numpy_kron(a, b):
    a, b = asarray(a), asarray(b)
    ndim = max(a.ndim, b.ndim)
    a = np.reshape(a, (*[1] * (ndim - a.ndim), *a.shape))
    b = np.reshape(b, (*[1] * (ndim - b.ndim), *b.shape))
    y = (np.expand_dims(a, tuple(range(1, 2 * ndim, 2)))
         * np.expand_dims(b, tuple(range(0, 2 * ndim, 2))))
    return np.reshape(y, [m * n for m, n in zip(a.shape, b.shape)])


@implements(np.vdot)
def numpy_vdot(a, b, /):
    return np.dot(conjugate(np.ravel(asarray(a))), np.ravel(asarray(b)))


@implements(np.cross)
def numpy_cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = asarray(a), asarray(b)
    if not (a.ndim and b.ndim):
        raise ValueError('At least one array has zero dimension')
    a, b = np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1)
    if not {a.shape[-1], b.shape[-1]} <= {3}:
        raise ValueError('incompatible dimensions for cross product of '
                         'traced values (dimension must be 3)')
    y = a[..., [1, 2, 0]] * b[..., [2, 0, 1]]
    y = y - a[..., [2, 0, 1]] * b[..., [1, 2, 0]]
    return np.moveaxis(y, -1, axisc)


def check_axes(ufunc, *operands):
    """Raise NumPy's error if an operand of a ufunc has too few axes."""
    ufunc(*[np.ones([1] * np.ndim(x)) for x in operands])


@composed_ufunc(np.matvec)
def numpy_matvec(x, y):
    check_axes(np.matvec, x, y)
    return (x @ y[..., :, None])[..., 0]


@composed_ufunc(np.vecmat)
def numpy_vecmat(x, y):
    check_axes(np.vecmat, x, y)
    x = np.conj(x) if typeof(x).dtype.kind == 'c' else x
    return (x[..., None, :] @ y)[..., 0, :]


@implements(np.convolve)
def numpy_convolve(a, v, mode='full'):
    a, v = np.atleast_1d(asarray(a)), np.atleast_1d(asarray(v))
    check_signals(a, v)
    if len(v) > len(a):
        a, v = v, a
    return slide(a, v[::-1], mode)


@implements(np.correlate)
def numpy_correlate(a, v, mode='valid'):
    a, v = asarray(a), asarray(v)
    if a.ndim == 0 or v.ndim == 0:
        raise ValueError('object of too small depth for desired array')
    check_signals(a, v)
    v = conjugate(v)
    return slide(a, v, mode) if len(v) <= len(a) else slide(v, a, mode)[::-1]


def check_signals(a, v):
    """Raise a ValueError if two arrays cannot be convolved."""
    for name, x in ('a', a), ('v', v):
        if x.ndim > 1:
            raise ValueError('object too deep for desired array')
        if not len(x):
            raise ValueError(f'{name} cannot be empty')


OLD_MODES = {0: 'valid', 1: 'same', 2: 'full'}


def slide(a, v, mode):
    """Return the dot products of `v` with the windows of `a`.

    Args:
        mode: 'valid', or the extent to which `v` overhangs the ends: 'same'
            for a result as long as `a`, and 'full' for any overlap.
    """
    rest, mode = len(v) - 1, OLD_MODES.get(mode, mode)
    ends = {'valid': (0, 0), 'same': (len(v) // 2, rest - len(v) // 2),
            'full': (rest, rest)}
    if mode not in ends:
        raise ValueError("mode must be one of 'valid', 'same', or 'full' "
                         f'(got {mode!r})')
    y = sliding_window_view(np.pad(a, ends[mode]), len(v)) * v
    inside = np.pad(np.ones(len(a), bool), ends[mode])
    # Leave out the overhang, because 0 * inf would be NaN.
    y = np.where(sliding_window_view(inside, len(v)), y, y.dtype.type(0))
    return np.sum(y, -1, y.dtype)


@composed_ufunc(np.vecdot)
def numpy_vecdot(x, y):
    check_axes(np.vecdot, x, y)
    x = np.conj(x) if typeof(x).dtype.kind == 'c' else x
    return (x[..., None, :] @ y[..., :, None])[..., 0, 0]


@implements(np.inner)
def numpy_inner(a, b):
    a, b = asarray(a), asarray(b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    return np.tensordot(a, b, (-1, -1))


@implements(np.outer)
def numpy_outer(a, b, out=None):
    return np.ravel(a)[:, None] * np.ravel(b)


@implements(np.tensordot, as_new_array)
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
