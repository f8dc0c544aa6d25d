"""Writing into arrays: a traced array is given new content.

Each kind of write computes a new array, whose content replaces the old one's;
see `write` in boxes.py.  Chapter 24.
"""

import numpy as np

from autodiff_mini.core import seams
from autodiff_mini.core.errors import ReadOnlyError, TracerError
from autodiff_mini.core.trace import Tracer, unwrapped
from autodiff_mini.core.types import convert, typeof
from autodiff_mini.numpy_functions.arguments import as_mask, check_cast
from autodiff_mini.numpy_functions.table import as_is, implements, operand
from autodiff_mini.primitives.indexing import (
    as_operands, index_p, index_shape, scatter_p)
from autodiff_mini.wings.writing.boxes import (
    Step, View, check_writable, is_a_number, whose, write)


@seams.set_item.take
def setitem(x, indices, value):
    """Set the elements `x[indices]` to a value."""
    x = check_array(x)
    y, static, arrays = as_operands(x, indices)
    value = operand(value)
    if is_this_part(x, value, Step(
            index_p, arrays, {'indices': static})):
        return      # x[1:] += 1: the part has been written into already
    if any(array.dtype == bool for array in arrays):
        y = where_masked(x, indices, value)
    elif all(i is Ellipsis or i == slice(None) for i in static):
        y = as_part(value, x, x.shape)
    else:
        shape = index_shape(y.shape, *arrays, indices=static)
        y = scatter_p.bind(y, as_part(value, x, shape), *arrays,
                           indices=static)
    overwrite(x, y)


def overwrite(x, y):
    """Write the content of `y` into the traced array `x`."""
    if np.shape(y) != x.shape:
        y = np.reshape(y, x.shape)  # a mask of shape () added an axis
    write(x, y if isinstance(y, Tracer) else np.array(y))


def check_array(x):
    """Return the tracer that a write into `x` changes, or raise."""
    x = unwrapped(x, to_write=True)
    if not isinstance(x, Tracer):
        raise TracerError(
            'a traced value would be written into a plain NumPy array, which '
            'cannot hold traced values. ' + seams.advise(
                'fill', 'Write into a copy, y = np.array(a, like=x), where '
                'x is traced.'))
    check_writable(x)
    if is_a_number(x):
        raise ReadOnlyError(x, 'is a number, and numbers are immutable')
    return x


def is_this_part(x, value, step) -> bool:
    """Return whether a value is the view of `x` by this step."""
    mine = whose(x)
    if type(mine) is not View or mine.path is None:
        return False
    return isinstance(value, Tracer) and whose(value) == mine._replace(
        path=(*mine.path, step))


def where_masked(x, mask, value):
    """Return `x` with a value where a traced mask is True."""
    mask = mask[0] if isinstance(mask, tuple) and len(mask) == 1 else mask
    value = operand(value)
    is_one = isinstance(mask, Tracer)
    if is_one and mask.shape != x.shape[:mask.ndim]:
        raise IndexError(f'a boolean index of shape {mask.shape} does not '
                         f'match an array of shape {x.shape}')
    rest = x.ndim - mask.ndim if is_one else -1
    if typeof(value).ndim > rest:
        raise TracerError(
            'x[mask] = y needs a scalar y if the values of the mask are not '
            'known yet. For an array y, write x[...] = np.where(mask, y, x).')
    mask = np.reshape(mask, (*mask.shape, *[1] * rest))
    return np.where(mask, as_part(value, x, typeof(value).shape), x)


def as_part(value, x, shape):
    """Return a value with the dtype of `x` and the shape of the part.

    NumPy casts any value in an assignment, except for complex numbers.
    """
    aval = typeof(value)
    if aval.dtype.kind == 'c' and x.dtype.kind != 'c':
        raise TypeError(f'a complex number cannot be written into {x.aval}')
    value = convert(value, x.dtype)
    extra = aval.ndim - len(shape)
    if extra > 0 and aval.shape[:extra] == (1,) * extra:
        value = np.reshape(value, aval.shape[extra:])
    if np.shape(value) == shape:
        return value
    try:
        return np.broadcast_to(value, shape)
    except ValueError:
        raise ValueError(f'could not broadcast input array from shape '
                         f'{aval.shape} into shape {shape}') from None


@implements(np.copyto, as_is)
def numpy_copyto(dst, src, casting='same_kind', where=True):
    dst = check_array(dst)
    src = operand(src)
    check_cast(src, dst, casting)
    if where is not True:
        src = np.where(as_mask(where), convert(src, dst.dtype), dst)
    overwrite(dst, as_part(src, dst, dst.shape))
