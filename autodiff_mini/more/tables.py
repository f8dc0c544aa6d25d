"""Search in a sorted table, interpolation, and `np.linspace`.

Chapter 25.
"""

import numpy as np

from autodiff_mini.arrays import convert
from autodiff_mini.numpy_api import asarray, implements, operand, promote


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
    """Return the points of one period, with a neighbor at each end."""
    x, xp = x % period, xp % period
    order = np.argsort(xp)
    xp, fp = [np.take_along_axis(a, order, 0) for a in (xp, fp)]
    return (x, np.concatenate([xp[-1:] - period, xp, xp[:1] + period]),
            np.concatenate([fp[-1:], fp, fp[:1]]))


@implements(np.linspace)
def numpy_linspace(start, stop, num=50, endpoint=True, retstep=False,
                   dtype=None, axis=0, *, device=None):
    start, stop = promote(operand(start), operand(stop), 1.0)[:2]
    start, stop = np.broadcast_arrays(start, stop)
    count = num - 1 if endpoint else num
    i = np.arange(num).reshape(-1, *[1] * start.ndim)
    step = (stop - start) / max(count, 1)
    y = i.astype(start.dtype) * step + start
    if endpoint and num > 1:
        y = np.where(i == count, stop, y)
    if dtype is not None:
        dtype = np.dtype(dtype)
        y = convert(np.floor(y) if dtype.kind in 'iu' else y, dtype)
    y = np.moveaxis(y, 0, axis)
    return (y, step) if retstep else y
