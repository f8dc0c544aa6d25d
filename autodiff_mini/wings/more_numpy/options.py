"""Options of the core's functions: masks, and the order of elements.

A call with such an option looks up the pair (function, option).  Chapter 30.
"""

import operator
from functools import partial

import numpy as np

from autodiff_mini.core import seams
from autodiff_mini.core.trace import function_table
from autodiff_mini.core.types import convert
from autodiff_mini.numpy_functions.arguments import as_mask
from autodiff_mini.numpy_functions.table import asarray, check_real
from autodiff_mini.primitives.reductions import reduced_axes, reduced_shape

IDENTITIES = {np.sum: 0, np.prod: 1}
COMBINE = {np.sum: operator.add, np.prod: operator.mul, np.max: np.maximum,
           np.min: np.minimum}


def reduce_where(function, a, axis, keepdims, initial, where, dtype=None):
    """Reduce the elements where a mask is True, and an initial value."""
    a, combine = asarray(a, dtype), COMBINE[function]
    check_real(initial, a.dtype)
    if where is not True:
        if function not in IDENTITIES and initial is None:
            combine.reduce([0.0], where=[True])     # raises NumPy's error
        mask = np.broadcast_to(as_mask(where), a.shape)
        a = np.where(mask, a, convert(
            IDENTITIES.get(function, initial), a.dtype))
    if a.size == 0 and function not in IDENTITIES:
        return np.broadcast_to(convert(initial, a.dtype), reduced_shape(
            a.shape, reduced_axes(a, axis), keepdims))
    options = {} if dtype is None else {'dtype': dtype}
    y = function(a, axis, keepdims=keepdims, **options)
    return y if initial is None else combine(y, convert(initial, y.dtype))


for function in COMBINE:
    function_table[function, 'where='] = partial(reduce_where, function)


def reshape_in_order(a, shape, order, copy):
    """Reshape `a` in an order of elements, or copy it."""
    if copy:
        return np.copy(np.reshape(a, shape, order))
    if order == 'F':
        return np.transpose(np.reshape(np.transpose(a), reverse(shape)))
    raise NotImplementedError('numpy.reshape of a traced value takes '
                              f"order 'C' or 'F', not {order!r}")


def reverse(shape):
    return tuple(shape)[::-1] if np.iterable(shape) else shape


function_table[np.reshape, 'order='] = reshape_in_order


def is_mask(i):
    """Return whether `i` is a mask whose values are known."""
    return (type(i) in (bool, np.bool_)
            or type(i) is np.ndarray and i.dtype == bool)


@seams.replace_masks.take
def replace_masks(x, indices):
    """Return `x`, and indices that replace its masks.

    Integers replace a mask, where it is True.  For a mask of shape (), `x`
    gets a new axis of length 1.
    """
    chosen = [i if is_mask(i) or i is Ellipsis else slice(None)
              for i in indices if i is not None]
    np.empty(x.shape, np.void)[tuple(chosen)]   # raises if one does not fit
    axes, places = [], []
    for i in indices:
        if is_mask(i):
            axes += [slice(None)] * np.ndim(i) or [None]
            places += np.nonzero(np.atleast_1d(i))
        else:
            axes += [] if i is None else [i if i is Ellipsis else slice(None)]
            places.append(i)
    return (x[tuple(axes)] if None in axes else x), places
