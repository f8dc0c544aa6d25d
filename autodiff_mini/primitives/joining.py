"""Joining: arrays are put beside each other.

Backwards, each gets its own piece of the cotangent.
"""

from itertools import accumulate

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from autodiff_mini.arrays import convert, strong
from autodiff_mini.core import Primitive, typeof
from autodiff_mini.interpreters.abstract import defshape
from autodiff_mini.interpreters.jvp import jvp_rules
from autodiff_mini.interpreters.lowering import lowering_rules
from autodiff_mini.interpreters.transpose import (
    fit_cotangent, transpose_rules)
from autodiff_mini.interpreters.vmap import spread, vmap_rules
from autodiff_mini.jaxprs import Var
from autodiff_mini.numpy_api import implements, operand
from autodiff_mini.zeros import Zero


def join_rule(primitive):
    """Returns the rule of a primitive that joins arrays along an axis."""
    def rule(primals, tangents, axis):
        y = primitive.bind(*primals, axis=axis)
        dots = [np.zeros(typeof(x).shape, y.dtype) if type(t) is Zero else t
                for x, t in zip(primals, tangents, strict=True)]
        return y, primitive.bind(*dots, axis=axis)
    return rule


def stack(*xs, axis):
    return np.stack(xs, axis)


stack_p = Primitive('stack', stack)


@implements(np.stack)
def numpy_stack(arrays, axis=0, out=None, *, dtype=None,
                casting='same_kind'):
    arrays = to_join(arrays, dtype, casting)
    ndim = typeof(arrays[0]).ndim + 1
    return stack_p.bind(*arrays, axis=normalize_axis_index(axis, ndim))


def to_join(arrays, dtype, casting):
    """Returns the arrays, in the dtype that is asked for, if one is."""
    arrays = list(map(operand, arrays))
    if dtype is None:
        return arrays
    for a in arrays:
        if not np.can_cast(typeof(a).dtype, dtype, casting):
            raise TypeError(
                f'Cannot cast array data from {typeof(a).dtype!r} to '
                f'{np.dtype(dtype)!r} according to the rule {casting!r}')
    return [convert(a, np.dtype(dtype)) for a in arrays]


jvp_rules[stack_p] = join_rule(stack_p)


def stack_rule(batch, vals, dims, axis):
    vals = [spread(x, dim, batch.size) for x, dim in zip(vals, dims)]
    return np.stack(vals, axis + 1), 0


vmap_rules[stack_p] = stack_rule


def stack_shape(*shapes, axis):
    if len(set(shapes)) != 1:
        raise ValueError('all input arrays must have the same shape, but '
                         f'they have {", ".join(map(str, shapes))}')
    return (*shapes[0][:axis], len(shapes), *shapes[0][axis:])


defshape(stack_p, stack_shape)


def stack_transpose(ct, *operands, axis):
    before = (slice(None),) * axis
    return [fit_cotangent(ct[(*before, i)], x.aval)
            if type(x) is Var else None
            for i, x in enumerate(operands)]


transpose_rules[stack_p] = stack_transpose
lowering_rules[stack_p] = lambda emitter, *xs, axis: (
    f'np.stack([{", ".join(xs)}], {axis})')


def concatenate(*xs, axis):
    return np.concatenate(xs, axis)


concatenate_p = Primitive('concatenate', concatenate)


@implements(np.concatenate)
def numpy_concatenate(arrays, axis=0, out=None, *, dtype=None,
                      casting='same_kind'):
    arrays = [strong(a) for a in to_join(arrays, dtype, casting)]
    if axis is None:
        arrays, axis = [np.reshape(a, -1) for a in arrays], 0
    axis = normalize_axis_index(axis, arrays[0].ndim)
    return concatenate_p.bind(*arrays, axis=axis)


jvp_rules[concatenate_p] = join_rule(concatenate_p)


def concatenate_rule(batch, vals, dims, axis):
    vals = [spread(x, dim, batch.size) for x, dim in zip(vals, dims)]
    return np.concatenate(vals, axis + 1), 0


vmap_rules[concatenate_p] = concatenate_rule


def concatenate_shape(*shapes, axis):
    rest = {(*shape[:axis], *shape[axis + 1:]) for shape in shapes}
    if len(rest) != 1:
        raise ValueError('all input arrays must have the same shape, but for '
                         f'the axis {axis} of concatenation, but they have '
                         f'{", ".join(map(str, shapes))}')
    total = sum(shape[axis] for shape in shapes)
    return (*shapes[0][:axis], total, *shapes[0][axis + 1:])


defshape(concatenate_p, concatenate_shape)


def concatenate_transpose(ct, *operands, axis):
    before = (slice(None),) * axis
    ends = list(accumulate(x.shape[axis] for x in operands))
    return [fit_cotangent(ct[(*before, slice(end - x.shape[axis], end))],
                          x.aval)
            if type(x) is Var else None
            for x, end in zip(operands, ends, strict=True)]


transpose_rules[concatenate_p] = concatenate_transpose
lowering_rules[concatenate_p] = lambda emitter, *xs, axis: (
    f'np.concatenate([{", ".join(xs)}], {axis})')
