"""Search in a sorted table, interpolation, and `np.linspace`.

Chapter 30.
"""

import operator

import numpy as np

from autodiff_mini.core.trace import Tracer
from autodiff_mini.core.types import convert
from autodiff_mini.numpy_functions.arguments import promote
from autodiff_mini.numpy_functions.table import (
    asarray, check_real, implements, operand)


@implements(np.searchsorted)
def numpy_searchsorted(a, v, side='left', sorter=None):
    a, v = asarray(a), np.expand_dims(v, -1)
    check_one_axis(a)
    a = a if sorter is None else np.take(a, sorter)
    if side == 'left':
        before = np.less(a, v) | (np.isnan(v) & ~np.isnan(a))
    else:
        before = np.less_equal(a, v) | np.isnan(v)
    return np.sum(before, -1)


@implements(np.interp)
def numpy_interp(x, xp, fp, left=None, right=None, period=None):
    for a in x, xp:
        check_real(a, np.dtype(np.float64))
    x, xp, fp = map(asarray, (x, xp, fp))
    check_table(x, xp, fp, left, right)
    x, xp, fp = [convert(a, np.result_type(a.dtype, np.float64))
                 for a in (x, xp, fp)]
    if period is not None:
        if not isinstance(period, Tracer) and period == 0:
            raise ValueError('period must be a non-zero value')
        left = right = None
        x, xp, fp = one_period(x, xp, fp, abs(period))
    x, xp, fp = map(asarray, (x, xp, fp))
    i = np.clip(np.searchsorted(xp, x, 'right') - 1, 0, len(xp) - 2)
    y = fp[:1] if len(xp) == 1 else between(
        x, np.take(xp, i), np.take(xp, i + 1),
        np.take(fp, i), np.take(fp, i + 1))
    y = np.where(np.less(x, xp[0]), fp[0] if left is None else left, y)
    y = np.where(np.equal(x, xp[-1]), fp[-1], y)
    return np.where(np.greater(x, xp[-1]),
                    fp[-1] if right is None else right, y)


def check_one_axis(a):
    """Raise a ValueError if `a` does not have one axis."""
    if a.ndim != 1:
        depth = 'too deep' if a.ndim else 'of too small depth'
        raise ValueError(f'object {depth} for desired array')


def check_table(x, xp, fp, left, right):
    """Raise NumPy's error for arguments that cannot be interpolated."""
    for a in x, xp:
        if not np.can_cast(a.dtype, np.float64):
            raise TypeError(f'Cannot cast array data from {a.dtype!r} to '
                            "dtype('float64') according to the rule 'safe'")
    for a in xp, fp:
        check_one_axis(a)
    if not len(xp):
        raise ValueError('array of sample points is empty')
    if len(xp) != len(fp):
        raise ValueError('fp and xp are not of the same length.')
    for end in left, right:
        if end is not None and np.ndim(end):
            raise TypeError('only 0-dimensional arrays can be converted to '
                            'Python scalars')
        if np.iscomplexobj(end) and fp.dtype.kind != 'c':
            raise TypeError('must be real number, not complex')


def between(x, x0, x1, y0, y1):
    """Return the height at `x` of the line through two points.

    Beside an infinity, where this is NaN from the first point, NumPy starts
    at the second.
    """
    slope = (y1 - y0) / (x1 - x0)
    is_nan = np.isnan(slope * (x - x0) + y0) & ~np.isnan(x)
    start, height = np.where(is_nan, x1, x0), np.where(is_nan, y1, y0)
    y = slope * (x - start) + height
    is_first = is_nan & (np.equal(x, x0) | np.isnan(y) & np.equal(y0, y1))
    return np.where(is_first, y0, y)


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
    num = operator.index(num)
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
