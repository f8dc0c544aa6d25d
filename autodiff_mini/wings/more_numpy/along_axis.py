"""Products and sums that run along an axis.

Chapter 30.
"""

import numpy as np

from autodiff_mini.core.types import convert
from autodiff_mini.interpreters.jvp import defjvp
from autodiff_mini.interpreters.transpose import deflinear
from autodiff_mini.numpy_functions.arguments import along_one
from autodiff_mini.numpy_functions.table import asarray, implements
from autodiff_mini.primitives.reductions import (
    axis_primitive, reducing, sum_or_product)

reduce_prod_p = sum_or_product('reduce_prod', np.prod)


def prod_rule(x_dot, y, x, axis, keepdims):
    x, x_dot = as_rows(x, axis), as_rows(x_dot, axis)
    while len(x) > 1:
        half = len(x) // 2
        a, b, rest = x[:half], x[half:2*half], x[2*half:]
        a_dot, b_dot = x_dot[:half], x_dot[half:2*half]
        x = np.concatenate([a * b, rest])
        x_dot = np.concatenate([a_dot * b + a * b_dot, x_dot[2*half:]])
    return np.reshape(np.sum(x_dot, 0), np.shape(y))


def as_rows(x, axis):
    """Return `x` with these axes merged into one, in front."""
    x = np.moveaxis(x, axis, range(len(axis)))
    count, rest = int(np.prod(x.shape[:len(axis)])), x.shape[len(axis):]
    return np.reshape(x, (count, *rest))


defjvp(reduce_prod_p, prod_rule)


def same_shape(shape, **params):
    return shape


def cumulation(function):
    """Return the primitive of a cumulative sum or product."""
    @implements(function)
    def call(a, axis=None, dtype=None, out=None):
        a, axis = along_one(asarray(a, dtype), axis, or_number=True)
        y = primitive.bind(a, axis=axis)
        return y if dtype is None else convert(y, np.dtype(dtype))

    primitive = axis_primitive(function, same_shape, reducing)
    return primitive


cumsum_p = cumulation(np.cumsum)
deflinear(cumsum_p, lambda ct, x, axis: np.flip(
    np.cumsum(np.flip(ct, axis), axis), axis))

cumprod_p = cumulation(np.cumprod)


def cumprod_rule(x_dot, y, x, axis):
    x, x_dot = np.moveaxis(x, axis, 0), np.moveaxis(x_dot, axis, 0)
    distance = 1
    while distance < len(x):
        before = shifted(x, distance, 1)
        x_dot = x_dot * before + x * shifted(x_dot, distance, 0)
        x, distance = x * before, 2 * distance
    return np.moveaxis(x_dot, 0, axis)


def shifted(x, distance, value):
    """Return `x` shifted along its first axis, with `value` at the start."""
    start = np.full_like(x[:distance], value)
    return np.concatenate([start, x[:-distance]])


defjvp(cumprod_p, cumprod_rule)
