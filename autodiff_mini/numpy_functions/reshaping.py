"""Functions that change the shape of an array.

Chapter 30.
"""

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from autodiff_mini.numpy_functions.table import as_is, asarray, implements


@implements(np.ravel, as_is)
def numpy_ravel(a, order='C'):
    return np.reshape(asarray(a), -1, order)


@implements(np.squeeze, as_is)
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


@implements(np.swapaxes, as_is)
def numpy_swapaxes(a, axis1, axis2):
    a = asarray(a)
    i = normalize_axis_index(axis1, a.ndim)
    j = normalize_axis_index(axis2, a.ndim)
    swap = {i: j, j: i}
    return np.transpose(a, [swap.get(k, k) for k in range(a.ndim)])
