"""New arrays that are like others, or between them.

Appendix A.
"""

import numpy as np

from autodiff_mini.arrays import convert, full
from autodiff_mini.core import Tracer, typeof
from autodiff_mini.errors import refuse
from autodiff_mini.numpy_api import asarray, implements, operand, promote


@implements(np.full_like)
def numpy_full_like(a, fill_value, dtype=None, order='K', subok=True,
                    shape=None, *, device=None):
    shape = np.shape(a) if shape is None else shape
    dtype = typeof(a).dtype if dtype is None else np.dtype(dtype)
    if isinstance(fill_value, Tracer):
        return np.broadcast_to(convert(fill_value, dtype), shape)
    return asarray(full(a, shape, fill_value, dtype))


@implements(np.zeros_like)
def numpy_zeros_like(a, *args, **kwargs):
    return np.full_like(a, 0, *args, **kwargs)


@implements(np.ones_like)
def numpy_ones_like(a, *args, **kwargs):
    return np.full_like(a, 1, *args, **kwargs)


implements(np.empty_like)(numpy_zeros_like)


@implements(np.copy)
def numpy_copy(a, order='K', subok=False):
    return asarray(a)


@implements(np.linspace)
def numpy_linspace(start, stop, num=50, endpoint=True, retstep=False,
                   dtype=None, axis=0, *, device=None):
    refuse(np.linspace, retstep=retstep or None)
    start, stop = promote(operand(start), operand(stop), 1.0)[:2]
    start, stop = np.broadcast_arrays(start, stop)
    count = num - 1 if endpoint else num
    i = np.arange(num).reshape(-1, *[1] * start.ndim)
    y = i.astype(start.dtype) * ((stop - start) / max(count, 1)) + start
    if endpoint and num > 1:
        y = np.where(i == count, stop, y)
    if dtype is not None:
        dtype = np.dtype(dtype)
        y = convert(np.floor(y) if dtype.kind in 'iu' else y, dtype)
    return np.moveaxis(y, 0, axis)
