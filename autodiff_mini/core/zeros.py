"""Symbolic zeros: the tangents of values that are not perturbed.

A zero that is not an array can be recognized, left out of a list of arrays,
and converted to an array if one is needed.  A primitive's rule gets
a Zero.  A user's rule gets an array, or a SymbolicZero if it asks for one.
Chapter 22.
"""

import numpy as np

from autodiff_mini.core import seams
from autodiff_mini.core.errors import TypeOrValueError
from autodiff_mini.core.types import (
    NUMBERS, convert, float0, full, is_array, tangent_type, typeof)


class Zero:
    """The tangent of an unperturbed value: a zero that is not an array.

    Args:
        like: the value whose tangent it is, or the type of that value.

    Examples:
        >>> zero = Zero(np.ones(3))
        >>> zero
        Zero(float64[3])
        >>> zero.aval.shape
        (3,)
    """

    __slots__ = ('like',)

    def __init__(self, like):
        self.like = like

    @property
    def aval(self):
        return tangent_type(typeof(self.like))

    def __repr__(self):
        return f'{type(self).__name__}({self.aval})'

    def refuse(self, *_, **__):
        raise TypeError(f'{self!r} is a symbolic zero, not an array. Test '
                        'for it with isinstance(t, ad.Zero), or convert it '
                        'to an array with ad.instantiate_zeros(t).')

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = refuse
    __truediv__ = __rtruediv__ = __matmul__ = __rmatmul__ = refuse
    __pow__ = __neg__ = __getitem__ = __array__ = __array_ufunc__ = refuse
    __float__ = __bool__ = __lt__ = __gt__ = refuse


def instantiate_zeros(t):
    """Return the tangent `t`, converted to an array if it is a Zero.

    Args:
        t: an array, or a Zero.

    Examples:
        >>> instantiate_zeros(Zero(np.ones(2)))
        array([0., 0.])
    """
    if not isinstance(t, Zero):
        return t
    aval = t.aval
    if aval.dtype == float0:
        return np.zeros(aval.shape, float0)
    if type(t.like) in NUMBERS:
        return type(t.like)(0)
    if is_array(t.like):   # an array of any library
        return np.zeros_like(t.like)[()]
    zeros = full(t.like, aval.shape, 0, aval.dtype)
    return zeros.item() if aval.weak_type else zeros[()]


def instantiate_all(ts, others) -> list:
    """Return tangents as arrays.

    If the library of a zero is unknown, the library of `others` is used.
    """
    if Zero not in map(type, ts):
        return list(ts)
    library = seams.library_of(others)
    return list(map(instantiate_zeros, library.zeros(ts) if library else ts))


def perturbed(x_dots) -> tuple:
    """Return which tangents or cotangents are not Zeros, as booleans."""
    return tuple([type(t) is not Zero for t in x_dots])


def leave_zeros_out(xs, x_dots) -> list:
    """Return a list of the primals and of the tangents that are arrays."""
    return [*xs, *[t for t in x_dots if type(t) is not Zero]]


def put_zeros_back(arrays, moving):
    """Return the primals and the tangents, with a Zero for each left out.

    Args:
        arrays: a list from `leave_zeros_out`.
        moving: for each primal, whether its tangent is in the list.
    """
    xs, dots = list(arrays[:len(moving)]), iter(arrays[len(moving):])
    return xs, [next(dots) if moves else Zero(x)
                for x, moves in zip(xs, moving, strict=True)]


def add_tangents(s, t):
    """Return the sum of two tangents of one value."""
    if type(s) is Zero:
        return t
    return s if type(t) is Zero else s + t


def fit_tangent(x, x_dot,
                shapes='primal and tangent shapes must be equal, but'):
    """Return `x_dot` as the tangent of `x`, or raise an error.

    Args:
        x: a value, or its type.
        x_dot: its tangent.
        shapes: what an error about their shapes begins with.
    """
    aval, got = typeof(x), typeof(x_dot)
    if got is aval and aval.dtype.kind in 'fc':
        return x_dot
    wanted = tangent_type(aval)
    same_kind = np.can_cast(got.dtype, wanted.dtype, 'same_kind')
    if got.dtype != wanted.dtype and not (got.weak_type and same_kind):
        cure = f'. Write the primal as {x}.0' if type(x) is int else ''
        raise TypeError('primal and tangent arguments do not match; dtypes '
                        'must be equal (float0 if the primal is an integer '
                        f'or boolean), but the primal is {aval} and the '
                        f'tangent is {got}{cure}')
    if got.shape != aval.shape:
        raise TypeOrValueError(
            f'{shapes} the primal is {aval} and the tangent is {got}')
    if wanted.dtype == float0:
        return Zero(x)
    return convert(x_dot, aval.dtype, aval.weak_type)


class SymbolicZero(Zero):
    """The zero tangent that a rule sees if it asks for symbolic zeros.

    It has the `aval`, `shape`, `dtype`, and `ndim` of the tangent.  A rule
    can also return one.

    Examples:
        >>> import autodiff_mini as ad
        >>> @ad.custom_jvp
        ... def f(x, y):
        ...     return x * y
        >>> def f_jvp(primals, tangents):
        ...     (x, y), (x_dot, y_dot) = primals, tangents
        ...     if isinstance(y_dot, ad.SymbolicZero):
        ...         return f(x, y), x_dot * y       # no second product
        ...     return f(x, y), x_dot * y + x * y_dot
        >>> _ = f.defjvp(f_jvp, symbolic_zeros=True)
        >>> ad.grad(f)(3.0, 2.0)
        2.0
    """

    __slots__ = ()
    shape = property(lambda self: self.aval.shape)
    dtype = property(lambda self: self.aval.dtype)
    ndim = property(lambda self: self.aval.ndim)


def zero_from_primal(x, symbolic_zeros=False):
    """Return the zero tangent of the value `x`.

    A rule can return it as the tangent of an output, or as the cotangent of
    an argument, that has no influence.

    Args:
        x: an array.
        symbolic_zeros: whether to return a SymbolicZero.

    Source: `jax.custom_derivatives.zero_from_primal`.

    Examples:
        >>> zero_from_primal(2.0)
        0.0
        >>> zero_from_primal(np.ones(3), symbolic_zeros=True)
        SymbolicZero(float64[3])
    """
    return SymbolicZero(x) if symbolic_zeros else instantiate_zeros(Zero(x))
