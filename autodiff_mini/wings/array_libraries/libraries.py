"""Libraries other than NumPy, and the arrays that are created in them.

A library computes or plans each operation on its arrays.  An array that we
create to combine with one has to be of that library, too.
See the page *Arrays elsewhere*.
"""

import numpy as np

from autodiff_mini.core import seams
from autodiff_mini.core.memory import innermost_array
from autodiff_mini.core.trace import Tracer
from autodiff_mini.core.types import NUMBERS, ORDINARY, float0
from autodiff_mini.core.zeros import Zero


@seams.library_of.take
def library_of(xs):
    """Return the library of the first array from another library, or None.

    The array can be inside a tracer.
    """
    for x in xs:
        if type(x) not in ORDINARY:
            x = innermost_array(x)
            if is_foreign(x):
                return Library(x)
    return None


def is_foreign(x) -> bool:
    """Return whether `x` is another library's array that supports NEP 18."""
    return not isinstance(x, (np.ndarray, np.generic, Tracer)) and (
        hasattr(x, '__array_function__') and hasattr(x, 'shape'))


class Library:
    """The library of an array, which creates more arrays like it.

    Args:
        like: the array.
    """

    def __init__(self, like):
        self.like = like

    def array(self, x):
        """Return the NumPy array `x` as an array of this library."""
        return np.asarray(x, like=self.like)

    def full(self, shape, value, dtype):
        """Return an array filled with one value."""
        if shape == np.shape(self.like):    # with the same chunks, if any
            return np.full_like(self.like, value, dtype=dtype)
        return np.full_like(self.like, value, dtype=dtype, shape=shape)

    def zeros(self, ts) -> list:
        """Return tangents, with arrays for zeros of an unknown library."""
        def known(t):
            return (type(t) is not Zero or t.aval.dtype == float0
                    or t.aval.weak_type or is_array_inside(t.like))
        return [t if known(t) else self.full(t.aval.shape, 0, t.aval.dtype)
                for t in ts]

    def adapt(self, x):
        """Return `x`, or a broadcast float as an array of this library.

        The strides of a broadcast float are all 0.
        """
        if not is_of_floats(x) or x.size and any(x.strides):
            return x
        return self.full(x.shape, x.flat[0] if x.size else 0, x.dtype)

    def constant(self, x):
        """Return a program's constant, in this library if it holds floats.

        If all its elements are equal, only one of them is passed.
        """
        if not is_of_floats(x):
            return x
        if not any(x.strides) or (
                x.tobytes() == x.flat[:1].tobytes() * x.size):
            return self.full(x.shape, x.flat[0] if x.size else 0, x.dtype)
        return self.array(x)

    def argument(self, x):
        """Return an argument of a program; leave a Python number as is."""
        return x if type(x) in NUMBERS else self.adapt(x)

    def owned(self, ys, xs) -> list:
        """Return results; copy those of floats that are not arguments."""
        return [np.positive(y)      # is a copy, in any library
                if is_foreign(y) and y.dtype.kind in 'fc'
                and not any(y is x for x in xs) else y for y in ys]


def is_of_floats(x) -> bool:
    """Return whether `x` is a NumPy array of floats or complex numbers."""
    return isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in 'fc'


def is_array_inside(x) -> bool:
    """Return whether `x` is, or holds, an array that is known."""
    x = innermost_array(x)
    return isinstance(x, (np.ndarray, np.generic)) or is_foreign(x)
