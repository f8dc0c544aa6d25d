"""Shapes and types: the same elements, otherwise arranged or written.

All of it is linear, so a tangent is rearranged as its primal is.  Appendices
A, B, C, G and H.
"""

from typing import NamedTuple

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from autodiff_mini.arrays import astype_p, convert
from autodiff_mini.core import Primitive, ShapedArray, Tracer
from autodiff_mini.interpreters import abstract, vmap
from autodiff_mini.interpreters.abstract import defview
from autodiff_mini.interpreters.jvp import defjvp
from autodiff_mini.interpreters.transpose import deflinear, deftranspose
from autodiff_mini.interpreters.vmap import behind, lengthen
from autodiff_mini.memory import handed_alike, view_of
from autodiff_mini.numpy_api import (
    as_is, as_read_only_view, as_view, asarray, implements)
from autodiff_mini.zeros import Zero

reshape_p = Primitive('reshape', np.reshape)


@implements(np.reshape, as_view)
def numpy_reshape(a, shape, order='C', *, copy=None):
    a = asarray(a)
    if copy:
        return np.copy(np.reshape(a, shape, order))
    if order == 'F':
        return np.transpose(np.reshape(np.transpose(a), reverse(shape)))
    if order != 'C':
        raise NotImplementedError('numpy.reshape of a traced value takes '
                                  f"order 'C' or 'F', not {order!r}")
    return reshape_p.bind(a, shape=full_shape(a.shape, shape))


def reverse(shape):
    return tuple(shape)[::-1] if np.iterable(shape) else shape


def full_shape(old, new):
    """Return the shape `new`, with the length that -1 stands for."""
    new = tuple(new) if np.iterable(new) else (new,)
    return np.empty(old, np.void).reshape(new).shape


vmap.rules[reshape_p] = lambda axis, vals, dims, shape: (
    np.reshape(vals[0], (axis.size, *shape)), 0)
defview(reshape_p, lambda old, shape: shape)
deflinear(reshape_p, lambda ct, x, shape: np.reshape(ct, x.shape))

transpose_p = Primitive('transpose', np.transpose)


@implements(np.transpose, as_is)
def numpy_transpose(a, axes=None):
    a = asarray(a)
    axes = range(a.ndim)[::-1] if axes is None else axes
    step = Transposed(normalize_axis_tuple(axes, a.ndim))
    y = step.read(a)
    return view_of(a, y, step) if isinstance(a, Tracer) else y


class Transposed(NamedTuple):
    """A view of an array, with its axes in this order."""

    axes: tuple

    def read(self, whole):
        return transpose_p.bind(whole, axes=self.axes)

    def write(self, whole, part):
        return transpose_p.bind(part, axes=tuple(
            np.argsort(self.axes).tolist()))


vmap.rules[transpose_p] = lambda axis, vals, dims, axes: (
    np.transpose(vals[0], (0, *behind(axes))), 0)
defview(transpose_p, lambda old, axes: tuple(old[i] for i in axes))
deflinear(transpose_p, lambda ct, x, axes: np.transpose(
    ct, np.argsort(axes).tolist()))

broadcast_to_p = Primitive('broadcast_to', np.broadcast_to)


@implements(np.broadcast_to, as_read_only_view)
def numpy_broadcast_to(array, shape, subok=False):
    shape = tuple(shape) if np.iterable(shape) else (shape,)
    return broadcast_to_p.bind(asarray(array), shape=shape)


def broadcast_to_rule(axis, vals, dims, shape):
    x = lengthen(*vals, len(shape) + 1 - vals[0].ndim)
    return np.broadcast_to(x, (axis.size, *shape)), 0


vmap.rules[broadcast_to_p] = broadcast_to_rule


def broadcast_shape(old, shape):
    """Return `shape`; raises if `old` does not broadcast to it."""
    if np.broadcast_shapes(old, shape) != shape:
        raise ValueError(f'cannot broadcast {old} to {shape}')
    return shape


defview(broadcast_to_p, broadcast_shape)
deflinear(broadcast_to_p, lambda ct, x, shape: ct)


@implements(np.astype, as_is)
def numpy_astype(x, dtype, /, *, copy=True):
    y = convert(x, np.dtype(dtype))
    return y if y is x and not copy else handed_alike(y, (x,))


def astype_rule(x_dot, y, x, dtype, weak_type):
    if dtype.kind not in 'fc':
        return Zero(y)
    return astype_p.bind(x_dot, dtype=dtype, weak_type=weak_type)


defjvp(astype_p, astype_rule)


# No element of an array is weak.
vmap.rules[astype_p] = lambda axis, vals, dims, dtype, weak_type: (
    convert(vals[0], dtype), 0)
abstract.rules[astype_p] = lambda x, dtype, weak_type: ShapedArray(
    x.shape, dtype, weak_type)
deftranspose(astype_p, lambda ct, x, dtype, weak_type: ct)
