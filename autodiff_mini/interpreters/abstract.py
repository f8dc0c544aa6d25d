"""Abstract evaluation: the type of a result, from the types of the operands.

Its one idea: shapes are worked out, dtypes are not.  For those NumPy is asked
to compute, once, with arrays of a single element.  Chapter 7.
"""

from functools import lru_cache, partial

import numpy as np

from autodiff_mini.core import ShapedArray, array_type, typeof
from autodiff_mini.errors import RuleTable
from autodiff_mini.interpreters.jvp import stop_gradient_p
from autodiff_mini.interpreters.vmap import index_place
from autodiff_mini.primitives import (
    OPERAND, abs_p, add_p, and_p, arccos_p, arccosh_p, arcsin_p, arcsinh_p,
    arctan2_p, arctan_p, arctanh_p, argmax_p, argmin_p, argsort_p, astype_p,
    broadcast_to_p, cbrt_p, ceil_p, cholesky_p, concatenate_p, conj_p, cos_p,
    cosh_p, cumprod_p, cumsum_p, det_p, div_p, eq_p, exp2_p, exp_p, expm1_p,
    floor_divide_p, floor_p, fmod_p, ge_p, gt_p, heaviside_p, hypot_p, imag_p,
    index_p, invert_p, isfinite_p, le_p, left_shift_p, log10_p, log1p_p,
    log2_p, log_p, logaddexp2_p, logaddexp_p, lt_p, matmul_p, max_p, min_p,
    mul_p, ne_p, neg_p, or_p, pow_p, real_p, reciprocal_p, reduce_max_p,
    reduce_min_p, reduce_prod_p, reduce_sum_p, remainder_p, reshape_p,
    right_shift_p, rint_p, sign_p, signbit_p, sin_p, sinh_p, slogdet_p,
    solve_p, sqrt_p, stack_p, sub_p, tan_p, tanh_p, transpose_p, trunc_p,
    where_p, xor_p)

abstract_rules = RuleTable('Abstract evaluation rule',
                           'define abstract_rules[primitive]')


@lru_cache(maxsize=4096)
def elementwise_type(primitive, *avals):
    """Returns the type of an element-wise result."""
    shape = np.broadcast_shapes(*[aval.shape for aval in avals])
    # 1j + np.float64(1) is a Python number, and 1j + np.ones(2) is none, so
    # each operand keeps its number of axes.
    kind = type_of_ones(primitive, *[ones(aval, aval.ndim)
                                     for aval in avals])
    return ShapedArray(shape, kind.dtype, kind.weak_type)


def ones(aval, ndim):
    """Returns a one of this type, as an array of a single element."""
    one = aval.dtype.type(1)
    return one.item() if aval.weak_type else np.full((1,) * ndim, one)[()]


def type_of_ones(primitive, *ones, **params):
    """Returns the type of what NumPy makes of some arrays of ones."""
    with np.errstate(all='ignore'):
        return typeof(primitive.impl(*ones, **params))


def defabstract(primitive):
    """Defines the type of the result of an element-wise primitive."""
    abstract_rules[primitive] = partial(elementwise_type, primitive)


defabstract(sin_p)
defabstract(cos_p)
defabstract(tanh_p)
defabstract(exp_p)
defabstract(log_p)
defabstract(sqrt_p)
defabstract(neg_p)
defabstract(add_p)
defabstract(sub_p)
defabstract(mul_p)
defabstract(div_p)
defabstract(pow_p)
defabstract(max_p)
defabstract(where_p)
defabstract(lt_p)
defabstract(le_p)
defabstract(gt_p)
defabstract(ge_p)
defabstract(eq_p)
defabstract(ne_p)


def defshape(primitive, shape_rule):
    """Defines the shape of the result, by `shape_rule(*shapes, **params)`."""
    def rule(*avals, **params):
        kind = type_of_ones(primitive, *[ones(aval, aval.ndim)
                                         for aval in avals], **params)
        shape = shape_rule(*[aval.shape for aval in avals], **params)
        return array_type(shape, kind.dtype)
    abstract_rules[primitive] = rule


def reduced_shape(shape, axis, keepdims):
    """Returns the shape that is left when some axes are reduced."""
    return tuple(1 if i in axis else n for i, n in enumerate(shape)
                 if keepdims or i not in axis)


def matmul_shape(x, y):
    """Returns the shape of a product; a vector is a row, or a column."""
    left = x if len(x) > 1 else (1, *x)
    right = y if len(y) > 1 else (*y, 1)
    if left[-1] != right[-2]:
        raise ValueError(f'matmul: shapes {x} and {y} do not fit: '
                         f'{left[-1]} is not {right[-2]}')
    batch = np.broadcast_shapes(left[:-2], right[:-2])
    return (*batch, *x[-2:-1], *(right[-1:] if len(y) > 1 else ()))


defshape(reduce_sum_p, reduced_shape)
defshape(matmul_p, matmul_shape)


def defview(primitive, shape_rule):
    """Defines the shape of a result that only rearranges its operand."""
    abstract_rules[primitive] = lambda x, *arrays, **params: array_type(
        shape_rule(x.shape, *arrays, **params), x.dtype)


def broadcast_shape(old, shape):
    """Returns `shape`; raises if `old` does not broadcast to it."""
    if np.broadcast_shapes(old, shape) != shape:
        raise ValueError(f'cannot broadcast {old} to {shape}')
    return shape


def index_shape(shape, *arrays, indices):
    """Returns the shape of `x[indices]`, if `x` has this shape."""
    if any(array.dtype == bool for array in arrays):
        raise IndexError(
            'Array boolean indices must be concrete: the shape of x[mask] '
            'depends on values that are not known while they are traced. '
            'Use np.where(mask, x, 0) in place of x[mask].')
    lengths, kept = list(shape), []
    used = sum(i is not None and i is not Ellipsis for i in indices)
    if used > len(shape):
        raise IndexError(f'too many indices for array: {used} of them, for '
                         f'an array of shape {shape}')
    for i in indices:
        if i is None:
            kept.append(1)
        elif i is Ellipsis:
            count = len(shape) - used
            kept += lengths[:count]
            del lengths[:count]
        else:
            kept += remaining_length(i, lengths.pop(0))
    before = index_place(indices, len(shape), arrays) or 0
    block = block_shape([array.shape for array in arrays])
    return (*kept[:before], *block, *kept[before:], *lengths)


def remaining_length(i, n) -> list[int]:
    """Returns what an index makes of an axis of length `n`: one, or none."""
    if isinstance(i, slice):
        return [len(range(*i.indices(n)))]
    if i is not OPERAND and not -n <= i < n:
        raise IndexError(f'index {i} is out of bounds for an axis of size '
                         f'{n}')
    return []


def block_shape(shapes):
    """Returns the shape of what index arrays of these shapes select."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError as error:
        raise IndexError(f'indexing arrays: {error}') from None


defview(reshape_p, lambda old, shape: shape)
defview(transpose_p, lambda old, axes: tuple(old[i] for i in axes))
defview(broadcast_to_p, broadcast_shape)
defview(index_p, index_shape)
abstract_rules[stop_gradient_p] = lambda x: x


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


defshape(stack_p, stack_shape)
defshape(concatenate_p, concatenate_shape)
abstract_rules[astype_p] = lambda x, dtype, weak_type: ShapedArray(
    x.shape, dtype, weak_type)

defabstract(exp2_p)
defabstract(expm1_p)
defabstract(log2_p)
defabstract(log10_p)
defabstract(log1p_p)
defabstract(cbrt_p)
defabstract(reciprocal_p)
defabstract(tan_p)
defabstract(arcsin_p)
defabstract(arccos_p)
defabstract(arctan_p)
defabstract(sinh_p)
defabstract(cosh_p)
defabstract(arcsinh_p)
defabstract(arccosh_p)
defabstract(arctanh_p)
defabstract(abs_p)
defabstract(sign_p)
defabstract(floor_p)
defabstract(ceil_p)
defabstract(rint_p)
defabstract(trunc_p)
defabstract(conj_p)
defabstract(real_p)
defabstract(imag_p)
defabstract(isfinite_p)
defabstract(signbit_p)
defabstract(min_p)
defabstract(floor_divide_p)
defabstract(remainder_p)
defabstract(fmod_p)
defabstract(arctan2_p)
defabstract(hypot_p)
defabstract(logaddexp_p)
defabstract(logaddexp2_p)
defabstract(heaviside_p)
defabstract(and_p)
defabstract(or_p)
defabstract(xor_p)
defabstract(invert_p)
defabstract(left_shift_p)
defabstract(right_shift_p)

defshape(reduce_prod_p, reduced_shape)
defshape(reduce_max_p, reduced_shape)
defshape(reduce_min_p, reduced_shape)


def without_axis(shape, axis):
    return (*shape[:axis], *shape[axis + 1:])


def same_shape(shape, **params):
    return shape


defshape(argmax_p, without_axis)
defshape(argmin_p, without_axis)
defshape(argsort_p, same_shape)
defshape(cumsum_p, same_shape)
defshape(cumprod_p, same_shape)


def matrix_shape(shape):
    """Returns `shape`; raises if it is not that of square matrices."""
    if shape[-1] != shape[-2]:
        raise np.linalg.LinAlgError('the last two axes of the array must be '
                                    f'square, but its shape is {shape}')
    return shape


def solve_shape(a, b):
    if matrix_shape(a)[-1] != b[-2]:
        raise ValueError(f'solve: a matrix of shape {a} does not fit a right '
                         f'side of shape {b}')
    return (*np.broadcast_shapes(a[:-2], b[:-2]), *b[-2:])


defshape(solve_p, solve_shape)
defshape(cholesky_p, matrix_shape)
defshape(det_p, lambda shape: matrix_shape(shape)[:-2])


def slogdet_types(a):
    types = map(typeof, slogdet_p.impl(ones(a, a.ndim)))
    return [array_type(matrix_shape(a.shape)[:-2], t.dtype) for t in types]


abstract_rules[slogdet_p] = slogdet_types
