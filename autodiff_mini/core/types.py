"""Arrays: dtype conversion, and new arrays in another array's library.

Chapters 1 and 32.
"""

import numpy as np

from autodiff_mini.core import seams
from autodiff_mini.core.trace import NUMBERS, Primitive, typeof


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
