"""The rows of the grid: each primitive, with NumPy's own implementation.

Element-wise primitives broadcast as NumPy does.  Those that Python writes as
an operator are implemented by that operator, so that two Python numbers meet
as Python numbers and NumPy's rules for dtypes hold to the letter.  Chapter 1.
"""

import operator

import numpy as np

from autodiff_mini.core import Primitive


sin_p = Primitive('sin', np.sin)
cos_p = Primitive('cos', np.cos)
tanh_p = Primitive('tanh', np.tanh)
exp_p = Primitive('exp', np.exp)
log_p = Primitive('log', np.log)
sqrt_p = Primitive('sqrt', np.sqrt)
neg_p = Primitive('neg', operator.neg)

add_p = Primitive('add', operator.add)
sub_p = Primitive('sub', operator.sub)
mul_p = Primitive('mul', operator.mul)
div_p = Primitive('div', operator.truediv)
pow_p = Primitive('pow', operator.pow)
max_p = Primitive('max', np.maximum)
where_p = Primitive('where', np.where)

lt_p = Primitive('lt', operator.lt)
le_p = Primitive('le', operator.le)
gt_p = Primitive('gt', operator.gt)
ge_p = Primitive('ge', operator.ge)
eq_p = Primitive('eq', operator.eq)
ne_p = Primitive('ne', operator.ne)

reduce_sum_p = Primitive('reduce_sum', np.sum)
reshape_p = Primitive('reshape', np.reshape)
transpose_p = Primitive('transpose', np.transpose)
broadcast_to_p = Primitive('broadcast_to', np.broadcast_to)
matmul_p = Primitive('matmul', operator.matmul)


def stack(*xs, axis):
    return np.stack(xs, axis)


stack_p = Primitive('stack', stack)


def astype(x, *, dtype, weak_type):
    """Returns `x` as an array of `dtype`, or as a Python number if weak."""
    if weak_type:
        return np.asarray(x, dtype).item()
    return x.astype(dtype) if hasattr(x, 'astype') else dtype.type(x)


astype_p = Primitive('astype', astype)


class Operand:
    """Stands in a static index for an array that is an operand."""

    def __repr__(self):
        return '.'


OPERAND = Operand()


def index(x, *arrays, indices):
    """Returns `x[indices]`, with `arrays` in the places of OPERAND."""
    arrays = iter(arrays)
    return x[tuple(next(arrays) if i is OPERAND else i for i in indices)]


index_p = Primitive('index', index)
