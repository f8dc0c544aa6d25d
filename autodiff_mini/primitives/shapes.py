"""Shapes and types: rearrange, convert, or join elements.

All operations are linear, so a tangent is rearranged like its primal.
"""

from itertools import accumulate

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from autodiff_mini.core import seams
from autodiff_mini.core.jaxprs import Var
from autodiff_mini.core.memory import as_new_array, as_new_result
from autodiff_mini.core.trace import Primitive, Tracer, function_table
from autodiff_mini.core.types import (
    ShapedArray, astype_p, convert, strong, typeof)
from autodiff_mini.core.zeros import Zero
from autodiff_mini.interpreters import (
    abstract, jvp, lowering, transpose, vmap)
from autodiff_mini.numpy_functions.table import (
    along, as_is, as_read_only_view, as_view, asarray, implements, operand)

reshape_p = Primitive('reshape', np.reshape)


@implements(np.reshape, as_view)
def numpy_reshape(a, shape, order='C', *, copy=None):
    a = asarray(a)
    if copy or order != 'C':
        return function_table[np.reshape, 'order='](a, shape, order, copy)
    # NumPy computes the length for -1.
    shape = np.empty(a.shape, np.void).reshape(shape).shape
    return reshape_p.bind(a, shape=shape)


vmap.rules[reshape_p] = lambda axis, vals, dims, shape: (
    np.reshape(vals[0], (axis.size, *shape)), 0)
abstract.defview(reshape_p, lambda old, shape: shape)
transpose.deflinear(reshape_p, lambda ct, x, shape: np.reshape(ct, x.shape))

transpose_p = Primitive('transpose', np.transpose)


@implements(np.transpose, as_is)
def numpy_transpose(a, axes=None):
    a = asarray(a)
    axes = range(a.ndim)[::-1] if axes is None else axes
    params = {'axes': normalize_axis_tuple(axes, a.ndim)}
    return seams.view_of.run(
        a, transpose_p.bind(a, **params), (transpose_p, (), params))


vmap.rules[transpose_p] = lambda axis, vals, dims, axes: (
    np.transpose(vals[0], (0, *vmap.behind(axes))), 0)
abstract.defview(transpose_p, lambda old, axes: tuple(old[i] for i in axes))
transpose.deflinear(transpose_p, lambda ct, x, axes: np.transpose(
    ct, np.argsort(axes).tolist()))

broadcast_to_p = Primitive('broadcast_to', np.broadcast_to)


@implements(np.broadcast_to, as_read_only_view)
def numpy_broadcast_to(array, shape, subok=False):
    shape = tuple(shape) if np.iterable(shape) else (shape,)
    return broadcast_to_p.bind(asarray(array), shape=shape)


def broadcast_to_rule(axis, vals, dims, shape):
    x = vmap.lengthen(*vals, len(shape) + 1 - vals[0].ndim)
    return np.broadcast_to(x, (axis.size, *shape)), 0


vmap.rules[broadcast_to_p] = broadcast_to_rule
abstract.defview(broadcast_to_p, lambda old, shape: (
    np.broadcast_to(np.empty(old, np.void), shape).shape))
transpose.deflinear(broadcast_to_p, lambda ct, x, shape: ct)


@implements(np.astype, as_is)
def numpy_astype(x, dtype, /, *, copy=True):
    y = convert(x, np.dtype(dtype))
    if y is x and not copy:
        return y
    number = isinstance(x, Tracer) and seams.is_a_number.run(x)
    return (as_new_result if number else as_new_array)(y, (x,))


def astype_rule(x_dot, y, x, dtype, weak_type):
    if dtype.kind not in 'fc':
        return Zero(y)
    return astype_p.bind(x_dot, dtype=dtype, weak_type=weak_type)


jvp.defjvp(astype_p, astype_rule)


# An array's elements are never weak.
vmap.rules[astype_p] = lambda axis, vals, dims, dtype, weak_type: (
    convert(vals[0], dtype), 0)
abstract.rules[astype_p] = lambda x, dtype, weak_type: ShapedArray(
    x.shape, dtype, weak_type)
transpose.deftranspose(astype_p, lambda ct, x, dtype, weak_type: ct)


def joining(function, shape_rule, places):
    """Return the primitive of a function that joins arrays along an axis.

    Args:
        function: the function of a list of arrays and an axis.
        shape_rule: as for `defshape`.
        places: takes the arrays and the axis; returns each array's index.
    """
    def jvp_rule(primals, tangents, axis):
        y = primitive.bind(*primals, axis=axis)
        dots = [np.zeros(typeof(x).shape, y.dtype) if type(t) is Zero else t
                for x, t in zip(primals, tangents, strict=True)]
        return y, primitive.bind(*dots, axis=axis)

    def vmap_rule(batch, vals, dims, axis):
        vals = [vmap.spread(x, dim, batch.size)
                for x, dim in zip(vals, dims)]
        return primitive.bind(*vals, axis=axis + 1), 0

    def transpose_rule(ct, *xs, axis):
        return [ct[along(axis, place)] if type(x) is Var else None
                for x, place in zip(xs, places(xs, axis), strict=True)]

    name = function.__name__
    primitive = Primitive(name, lambda *xs, axis: function(xs, axis))
    jvp.rules[primitive] = jvp_rule
    vmap.rules[primitive] = vmap_rule
    abstract.defshape(primitive, shape_rule)
    transpose.rules[primitive] = transpose_rule
    lowering.rules[primitive] = lambda emitter, *xs, axis: (
        f'np.{name}([{", ".join(xs)}], {axis})')
    return primitive


def stack_shape(*shapes, axis):
    if len(set(shapes)) != 1:
        raise ValueError('all input arrays must have the same shape, but '
                         f'they have {", ".join(map(str, shapes))}')
    return (*shapes[0][:axis], len(shapes), *shapes[0][axis:])


def concatenate_shape(*shapes, axis):
    rest = {(*shape[:axis], *shape[axis + 1:]) for shape in shapes}
    if len(rest) != 1:
        raise ValueError('all input arrays must have the same shape except '
                         f'along the concatenation axis {axis}, but they '
                         f'have {", ".join(map(str, shapes))}')
    total = sum(shape[axis] for shape in shapes)
    return (*shapes[0][:axis], total, *shapes[0][axis + 1:])


def pieces(xs, axis):
    lengths = [x.shape[axis] for x in xs]
    return [slice(end - n, end)
            for n, end in zip(lengths, accumulate(lengths))]


stack_p = joining(np.stack, stack_shape, lambda xs, axis: range(len(xs)))
concatenate_p = joining(np.concatenate, concatenate_shape, pieces)


@implements(np.stack)
def numpy_stack(arrays, axis=0, out=None, *, dtype=None,
                casting='same_kind'):
    arrays = to_join(arrays, dtype, casting)
    ndim = typeof(arrays[0]).ndim + 1
    return stack_p.bind(*arrays, axis=normalize_axis_index(axis, ndim))


@implements(np.concatenate)
def numpy_concatenate(arrays, axis=0, out=None, *, dtype=None,
                      casting='same_kind'):
    arrays = [strong(a) for a in to_join(arrays, dtype, casting)]
    if axis is None:
        arrays, axis = [np.reshape(a, -1) for a in arrays], 0
    axis = normalize_axis_index(axis, arrays[0].ndim)
    return concatenate_p.bind(*arrays, axis=axis)


def to_join(arrays, dtype, casting):
    """Return the arrays, converted to `dtype` unless it is None."""
    arrays = list(map(operand, arrays))
    if dtype is None:
        return arrays
    for a in arrays:    # raises an error if NumPy cannot cast
        np.empty(0, typeof(a).dtype).astype(dtype, casting=casting)
    return [convert(a, np.dtype(dtype)) for a in arrays]
