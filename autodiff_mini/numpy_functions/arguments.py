"""Arguments of NumPy functions: dtypes to agree on, an axis, and masks.

Chapter 30.
"""

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from autodiff_mini.core import seams
from autodiff_mini.core.trace import Tracer
from autodiff_mini.core.types import convert, typeof
from autodiff_mini.numpy_functions.table import asarray, operand, stand_in


def promote(*arrays):
    """Return the arrays in the dtype to which NumPy promotes them."""
    dtype = np.result_type(*map(stand_in, arrays))
    return [convert(a, dtype) for a in arrays]


def along_one(a, axis, or_number=False):
    """Return an array, flattened if the axis is None, and the axis.

    With `or_number`, an array without axes is flattened, too.
    """
    if axis is None or or_number and np.ndim(a) == 0:
        a = np.reshape(a, -1)
    a = asarray(a)
    return a, normalize_axis_index(0 if axis is None else axis, a.ndim)


def as_mask(where):
    """Return the argument `where` of a function as booleans.

    NumPy accepts lists and numbers of any kind, but an array only if its
    elements are booleans.
    """
    mask = operand(where)
    if typeof(mask).dtype == bool:
        return mask
    is_number = isinstance(mask, Tracer) and seams.is_a_number.run(mask)
    if isinstance(where, (np.ndarray, Tracer)) and not is_number:
        np.sum([0], where=np.ones(1, mask.dtype))   # NumPy's error
    return np.not_equal(mask, 0)


def check_cast(value, x, casting='same_kind'):
    """Raise a TypeError if a value cannot be cast to the dtype of `x`."""
    kind = typeof(value).dtype
    if typeof(value).weak_type:
        kind = np.result_type(stand_in(value), x.dtype)
    if not np.can_cast(kind, x.dtype, casting):
        raise TypeError(f'Cannot cast array data from {kind!r} to {x.dtype!r}'
                        f' according to the rule {casting!r}')


def places_along(a, indices, axis):
    """Return indices of `a` that vary along one axis at each place."""
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
