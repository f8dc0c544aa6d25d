"""Joining: arrays are put beside each other.

Backwards, each gets its own piece of the cotangent.
"""

from itertools import accumulate

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from autodiff_mini.arrays import convert, strong
from autodiff_mini.core import Primitive, typeof
from autodiff_mini.interpreters import jvp, lowering, transpose, vmap
from autodiff_mini.interpreters.abstract import defshape
from autodiff_mini.jaxprs import Var
from autodiff_mini.numpy_api import along, implements, operand
from autodiff_mini.zeros import Zero


def joining(function, shape_rule, places):
    """Return the primitive of a function that joins arrays along an axis.

    Args:
        function: the function of a list of arrays and an axis.
        shape_rule: as of `defshape`.
        places: from the arrays and the axis, where on it each of them is.
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
        return [transpose.fit_cotangent(ct[along(axis, place)], x.aval)
                if type(x) is Var else None
                for x, place in zip(xs, places(xs, axis), strict=True)]

    name = function.__name__
    primitive = Primitive(name, lambda *xs, axis: function(xs, axis))
    jvp.rules[primitive] = jvp_rule
    vmap.rules[primitive] = vmap_rule
    defshape(primitive, shape_rule)
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
        raise ValueError('all input arrays must have the same shape, but for '
                         f'the axis {axis} of concatenation, but they have '
                         f'{", ".join(map(str, shapes))}')
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
    """Return the arrays, in the dtype that is asked for, if one is."""
    arrays = list(map(operand, arrays))
    if dtype is None:
        return arrays
    for a in arrays:
        if not np.can_cast(typeof(a).dtype, dtype, casting):
            raise TypeError(
                f'Cannot cast array data from {typeof(a).dtype!r} to '
                f'{np.dtype(dtype)!r} according to the rule {casting!r}')
    return [convert(a, np.dtype(dtype)) for a in arrays]
