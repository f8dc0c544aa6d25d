"""What goes along an axis in order: sorting, differences, tables.

Chapter 25.
"""

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from autodiff_mini.arrays import convert
from autodiff_mini.errors import refuse
from autodiff_mini.numpy_api import (
    along, along_one, asarray, implements, operand, unchanged)


@implements(np.sort)
def numpy_sort(a, axis=-1, kind=None, order=None, *, stable=None):
    refuse(np.sort, order=order)
    a, axis = along_one(a, axis)
    places = np.argsort(a, axis, kind, stable=stable)
    return np.take_along_axis(a, places, axis)


@implements(np.diff, unchanged)
def numpy_diff(a, n=1, axis=-1, prepend=None, append=None):
    if n < 0:
        raise ValueError(f'order must be non-negative but got {n}')
    a = asarray(a)
    if n == 0:
        return a
    axis = normalize_axis_index(axis, a.ndim)
    if prepend is not None or append is not None:
        ends = [np.broadcast_to(end, (*a.shape[:axis], 1,
                                      *a.shape[axis + 1:]))
                if np.ndim(end) == 0 else operand(end)
                for end in (prepend, append) if end is not None]
        ends.insert(prepend is not None, a)
        a = np.concatenate(ends, axis)
    subtract = np.not_equal if a.dtype == bool else np.subtract
    for _ in range(n):
        a = subtract(a[along(axis, slice(1, None))],
                     a[along(axis, slice(None, -1))])
    return a


@implements(np.searchsorted)
def numpy_searchsorted(a, v, side='left', sorter=None):
    a, v = asarray(a), np.expand_dims(v, -1)
    a = a if sorter is None else np.take(a, sorter)
    if side == 'left':
        before = np.less(a, v) | (np.isnan(v) & ~np.isnan(a))
    else:
        before = np.less_equal(a, v) | np.isnan(v)
    return np.sum(before, -1)


@implements(np.interp)
def numpy_interp(x, xp, fp, left=None, right=None, period=None):
    x, xp, fp = [convert(a, np.result_type(a.dtype, np.float64))
                 for a in map(asarray, (x, xp, fp))]
    if period is not None:
        left = right = None
        x, xp, fp = one_period(x, xp, fp, abs(period))
    x, xp, fp = map(asarray, (x, xp, fp))
    i = np.clip(np.searchsorted(xp, x, 'right') - 1, 0, len(xp) - 2)
    x0, y0 = np.take(xp, i), np.take(fp, i)
    slope = (np.take(fp, i + 1) - y0) / (np.take(xp, i + 1) - x0)
    y = slope * (x - x0) + y0
    y = np.where(np.less(x, xp[0]), fp[0] if left is None else left, y)
    y = np.where(np.equal(x, xp[-1]), fp[-1], y)
    return np.where(np.greater(x, xp[-1]),
                    fp[-1] if right is None else right, y)


def one_period(x, xp, fp, period):
    """Returns the points of one period, with a neighbour at each end."""
    x, xp = x % period, xp % period
    order = np.argsort(xp)
    xp, fp = [np.take_along_axis(a, order, 0) for a in (xp, fp)]
    return (x, np.concatenate([xp[-1:] - period, xp, xp[:1] + period]),
            np.concatenate([fp[-1:], fp, fp[:1]]))
