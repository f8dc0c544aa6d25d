"""Types: of arrays and of tangents, and the conversion between them.

Chapters 1, 21, and 32.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from autodiff_mini.core import seams
from autodiff_mini.core.errors import UnexpectedTracerError, is_alive
from autodiff_mini.core.trace import Primitive, Tracer, current_trace


class ShapedArray(NamedTuple):
    """The type of an array: its shape and dtype, without its values.

    Attributes:
        shape: the lengths of the axes, a tuple of ints.
        dtype: a NumPy dtype.
        weak_type: True for Python numbers, which take on the dtype of the
            array that they are combined with (NEP 50).

    Source: `ShapedArray` in JAX's `jax/_src/core.py`.

    Examples:
        >>> print(typeof(np.ones((2, 3), np.float32)))
        float32[2,3]
    """

    shape: tuple[int, ...]
    dtype: np.dtype
    weak_type: bool = False

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __str__(self):
        return f'{self.dtype}[{",".join(map(str, self.shape))}]'

    def __repr__(self):
        weak = ', weak_type=True' if self.weak_type else ''
        return f'ShapedArray({self}{weak})'


def typeof(x) -> ShapedArray:
    """Return the type of `x`: its shape, its dtype, and whether it is weak.

    Args:
        x: a tracer, an array of any library that supports NumPy's protocols,
            a NumPy scalar, a Python number, or a ShapedArray.

    Raises:
        TypeError: `x` cannot be traced.

    Examples:
        >>> typeof(2.0).weak_type, typeof(np.float64(2.0)).weak_type
        (True, False)
    """
    kind = type(x)
    if kind is np.ndarray:
        return array_type(x.shape, x.dtype)
    if kind in NUMBERS:
        return NUMBERS[kind]
    if isinstance(x, Tracer):
        return x.aval
    if is_array(x):
        return array_type(tuple(x.shape), x.dtype)
    if kind is ShapedArray:
        return x
    if isinstance(x, (int, float, complex)):    # for example, an IntEnum
        return array_type((), np.asarray(x).dtype)
    raise TypeError(f'a value of type {kind.__name__} cannot be traced: '
                    + seams.advise('register', 'pass an array or a number',
                                   kind))


def is_array(x) -> bool:
    """Return whether `x` is an array, from NumPy or another library."""
    if isinstance(x, (Tracer, np.matrix, np.ma.MaskedArray)):
        return False
    return (isinstance(x, (np.ndarray, np.generic))
            or seams.library_of((x,)) is not None)


float0 = np.dtype([('float0', np.void, 0)])


@lru_cache(maxsize=4096)
def array_type(shape, dtype):
    """Return the type of an array, always as the same object."""
    if dtype.kind not in 'biufc' and dtype != float0:
        raise TypeError(f'an array of dtype {dtype} cannot be traced: it '
                        'must be boolean, integer, float, or complex')
    return ShapedArray(shape, dtype)


PYTHON_NUMBERS = {kind: ShapedArray((), np.dtype(kind), weak_type=True)
                  for kind in (bool, int, float, complex)}
NUMBERS = PYTHON_NUMBERS | {
    np.dtype(code).type: array_type((), np.dtype(code))
    for code in '?' + np.typecodes['AllInteger'] + np.typecodes['AllFloat']}


def tangent_type(aval):
    """Return the type of the tangents of values of type `aval`.

    Integers and booleans cannot be perturbed, so their tangents are float0.
    """
    if aval.dtype.kind in 'fc':
        return aval
    return ShapedArray(aval.shape, float0)


def typeof_result(x):
    """Return the type of a result, or raise an error if it has escaped."""
    if isinstance(x, str):
        raise TypeError('a value of type str cannot be traced: return only '
                        'arrays and numbers')
    if isinstance(x, Tracer) and x._trace.thread is None:
        check_alive(x, current_trace())
    return typeof(x)


def check_alive(tracer, trace):
    """Raise an error if `trace` is outside the tracer's transformation."""
    if not is_alive(tracer, trace):
        raise UnexpectedTracerError(tracer)


def astype(x, *, dtype, weak_type):
    """Return `x` as an array of `dtype`, or as a Python number if weak."""
    if weak_type:
        return np.asarray(x, dtype).item()
    return x.astype(dtype) if hasattr(x, 'astype') else dtype.type(x)


astype_p = Primitive('astype', astype)


def convert(x, dtype, weak_type=False):
    """Return `x` with this dtype, as a Python number if it is to be weak."""
    aval = typeof(x)
    if aval.dtype == dtype and aval.weak_type == weak_type:
        return x
    return astype_p.bind(x, dtype=dtype, weak_type=weak_type)


def strong(x):
    """Return `x` without a weak type: a Python number becomes an array."""
    return convert(x, typeof(x).dtype)


def common_type(avals):
    """Return the common type of several types, or None.

    A Python number takes an array's type if it loses nothing: an integer can
    become a float, but a float cannot become an integer.
    """
    def rank(aval):
        return 'bifc'.index(aval.dtype.kind.replace('u', 'i'))

    strong = [aval for aval in avals if not aval.weak_type]
    if not strong:
        return max(avals, key=rank)
    fits = [aval.shape == strong[0].shape and (
                rank(aval) <= rank(strong[0]) if aval.weak_type
                else aval.dtype == strong[0].dtype) for aval in avals]
    return strong[0] if all(fits) else None


def full(like, shape, value, dtype):
    """Return an array filled with one value, in the library of `like`.

    While a program is staged, the library is unknown, so NumPy is used.
    """
    library = seams.library_of((like,))
    make = library.full if library else np.full
    return make(shape, value, dtype)


def as_number(x):
    """Return `x`, as a NumPy scalar if its class extends a Python number.

    A member of an IntEnum is an int, but it lacks the methods of an array.
    """
    if type(x) not in NUMBERS and isinstance(x, (int, float, complex)):
        return np.asarray(x)[()]
    return x


ORDINARY = {np.ndarray, *NUMBERS}   # most arrays are one of these
