"""Weighted averages, variances, and standard deviations.

Chapter 30.
"""

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from autodiff_mini.core.trace import Tracer, elementwise
from autodiff_mini.core.types import convert
from autodiff_mini.interpreters.jvp import defjvp
from autodiff_mini.numpy_functions.borrowed import array_or_tracer
from autodiff_mini.numpy_functions.composed import count_of
from autodiff_mini.numpy_functions.table import asarray, implements
from autodiff_mini.primitives.elementwise import ratio

# The root of a sum of squares is a cone.  It has no slope at its tip, so the
# slope is set to 0, as for abs.
norm_sqrt_p = elementwise('norm_sqrt', np.sqrt)
defjvp(norm_sqrt_p, lambda x_dot, y, x: x_dot * ratio(0.5, y))


@implements(np.var)
def numpy_var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *,
              where=True, mean=None, correction=None):
    a = asarray(a)
    if dtype is None and a.dtype.kind in 'biu':
        dtype = np.float64
    if mean is None:
        total = np.sum(a, axis, dtype, keepdims=True, where=where)
        count = count_of(a, axis, where, True)
        mean = convert(np.divide(total, count), total.dtype)
    total = np.sum(squared_size(a - mean), axis, dtype, keepdims=keepdims,
                   where=where)
    count = count_of(a, axis, where, keepdims)
    free = np.maximum(count - (ddof if correction is None else correction), 0)
    return convert(np.divide(total, free), total.dtype)


def squared_size(x):
    """Return the squares of the absolute values."""
    square = np.square(np.real(x))
    if x.dtype.kind == 'c':
        square = square + np.square(np.imag(x))
    return square


@implements(np.std)
def numpy_std(a, *args, **kwargs):
    variance = np.var(a, *args, **kwargs)
    return as_deviation(norm_sqrt_p.bind(variance), variance.dtype)


def as_deviation(root, dtype):
    """Return the root of a variance in its dtype, which can be integer."""
    if dtype.kind not in 'fc' and root.ndim:
        np.sqrt(np.ones(1, dtype), out=np.ones(1, dtype))   # NumPy's error
    return convert(root, dtype)


@implements(np.average)
def numpy_average(a, axis=None, weights=None, returned=False, *,
                  keepdims=False):
    a = asarray(a)
    if weights is None:
        mean = np.mean(a, axis, keepdims=keepdims)
        if not mean.size:
            raise ZeroDivisionError('division by zero')
        count = np.full_like(mean, count_of(a, axis))
        return (mean, count) if returned else mean
    weights = array_or_tracer(weights)
    if weights.shape != a.shape:
        if axis is None:
            raise TypeError('Axis must be specified when shapes of a and '
                            'weights differ.')
        axes = normalize_axis_tuple(axis, a.ndim)
        shape = [a.shape[i] if i in axes else 1 for i in range(a.ndim)]
        weights = np.transpose(weights, np.argsort(axes)).reshape(shape)
        weights = np.broadcast_to(weights, a.shape)
    dtype = np.result_type(a.dtype, weights.dtype,
                           a.dtype if a.dtype.kind in 'fc' else np.float64)
    total = np.sum(weights, axis, dtype, keepdims=keepdims)
    if not a.size and total.size or not isinstance(total, Tracer) and (
            np.any(np.equal(total, 0))):
        raise ZeroDivisionError(
            "Weights sum to zero, can't be normalized")
    mean = np.sum(convert(a, dtype) * convert(weights, dtype), axis,
                  keepdims=keepdims) / total
    return (mean, np.broadcast_to(total, mean.shape)) if returned else mean


@implements(np.count_nonzero)
def numpy_count_nonzero(a, axis=None, *, keepdims=False):
    return np.sum(np.not_equal(a, 0), axis, np.intp, keepdims=keepdims)
