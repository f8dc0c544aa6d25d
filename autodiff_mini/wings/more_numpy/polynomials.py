"""Polynomials, and slopes on a grid.

NumPy checks values, for example whether a leading coefficient is zero or a
grid is uniform.  Here that is checked only if the values are known.
Chapter 30.
"""

import math

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from autodiff_mini.core.errors import TracerError
from autodiff_mini.core.trace import Primitive, Tracer
from autodiff_mini.core.types import array_type, convert
from autodiff_mini.interpreters import abstract, vmap
from autodiff_mini.interpreters.jvp import defjvp
from autodiff_mini.interpreters.transpose import deflinear
from autodiff_mini.numpy_functions.arguments import promote
from autodiff_mini.numpy_functions.borrowed import array_or_tracer
from autodiff_mini.numpy_functions.table import (
    along, asarray, implements, inexact, operand)


def check_leading(function, p, advice):
    """Raise an error if a leading coefficient is zero.

    NumPy leaves it out, but the length of a traced array must be known.
    """
    if np.any(np.equal(p[..., 0], 0)):
        raise TracerError(
            f'numpy.{function.__name__}: the leading coefficient is zero, '
            'and NumPy would leave it out, so the length of the result '
            f'depends on values, which are traced. {advice}')


@implements(np.polymul)
def numpy_polymul(a1, a2):
    return np.convolve(*map(polynomial, (a1, a2)))


def polynomial(p):
    """Return the coefficients of a polynomial; the first is not zero."""
    if not isinstance(p, Tracer):
        return np.poly1d(p).coeffs
    p = np.atleast_1d(p)
    if p.ndim > 1:
        raise ValueError('Polynomial must be 1d only.')
    return polynomial_p.bind(p) if len(p) > 1 else p


def checked_polynomial(p):
    check_leading(np.polymul, p, 'Write np.convolve, which keeps the zeros.')
    return p


polynomial_p = Primitive('polynomial', checked_polynomial)
deflinear(polynomial_p, lambda ct, p: ct)
vmap.defelementwise(polynomial_p)
abstract.rules[polynomial_p] = lambda p: p


@implements(np.polydiv)
def numpy_polydiv(u, v):
    """Return the quotient and the remainder of a polynomial division.

    NumPy also strips leading zeros from the remainder.
    """
    u, v = [np.atleast_1d(asarray(a)) + 0.0 for a in (u, v)]
    u, _ = promote(u, v)
    scale, quotient = 1.0 / v[0], []
    for _ in range(len(u) - len(v) + 1):
        quotient.append(scale * u[0])
        near = u[1:len(v)] - quotient[-1] * v[1:]
        u = np.concatenate([near, u[len(v):]])
    zero = np.zeros_like(u, shape=1)
    return (np.stack(quotient) if quotient else zero,
            u if len(u) else zero)


@implements(np.polyfit)
def numpy_polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    x, y = [inexact(a) for a in (x, y)]
    check_points(x, y, deg)
    powers = np.vander(x, deg + 1)
    if w is not None:
        w = inexact(w)
        powers, y = powers * w[:, None], np.transpose(np.transpose(y) * w)
    scale = np.sqrt(np.sum(powers * powers, 0))
    rcond = len(x) * np.finfo(x.dtype).eps if rcond is None else rcond
    powers = powers / scale
    c, residuals, rank, s = np.linalg.lstsq(powers, y, rcond)
    c = np.transpose(np.transpose(c) / scale)
    if full:
        return c, residuals, rank, s, rcond
    if not cov:
        return c
    inverse = np.linalg.inv(np.dot(np.transpose(powers), powers))
    inverse = inverse / np.outer(scale, scale)
    factor = 1 if cov == 'unscaled' else polyfit_variance(residuals, powers)
    return c, (inverse if y.ndim == 1 else inverse[..., None]) * factor


def check_points(x, y, deg):
    """Raise an error if no polynomial can be fitted to the points."""
    if deg < 0:
        raise ValueError('expected deg >= 0')
    if x.ndim != 1:
        raise TypeError('expected 1D vector for x')
    if not len(x):
        raise TypeError('expected non-empty vector for x')
    if y.ndim not in (1, 2):
        raise TypeError('expected 1D or 2D array for y')
    if len(x) != len(y):
        raise TypeError('expected x and y to have same length')


def polyfit_variance(residuals, powers):
    """Return the variance of the points about the polynomial."""
    count, order = powers.shape
    if count <= order:
        raise ValueError('the number of data points must exceed order to '
                         'scale the covariance matrix')
    return residuals / (count - order)


@implements(np.roots)
def numpy_roots(p):
    """Return the roots as complex numbers; `p[0]` must not be zero."""
    p = np.atleast_1d(inexact(p))
    if p.ndim != 1:
        raise ValueError('Input must be a rank-1 array.')
    if len(p) < 2:
        return p[:0]
    np.roots(np.ones(3, p.dtype))   # raises if NumPy cannot compute with it
    return roots_p.bind(p)


def roots(p):
    """Return the roots of a stack of polynomials."""
    check_leading(np.roots, p, 'Leave out the leading zeros.')
    *shape, n = p.shape
    y = np.empty((*shape, n - 1), np.result_type(p.dtype, np.complex64))
    for i in np.ndindex(*shape):
        y[i] = np.roots(p[i])
    return y


def roots_rule(p_dot, r, p):
    """Return how the roots change: p_dot(r) + p'(r) r_dot = 0."""
    powers = np.arange(p.shape[-1])[:0:-1]
    return -value_at(r, p_dot) / value_at(r, p[..., :-1] * powers)


def value_at(x, p):
    """Return the values of polynomials at the points `x[..., i]`."""
    y = np.zeros_like(x)
    for i in range(p.shape[-1]):
        y = y * x + p[..., i:i + 1]
    return y


roots_p = Primitive('roots', roots)
defjvp(roots_p, roots_rule)
vmap.rules[roots_p] = lambda axis, vals, dims: (roots_p.bind(*vals), 0)
abstract.rules[roots_p] = lambda p: array_type(
    (*p.shape[:-1], p.shape[-1] - 1), np.result_type(p.dtype, np.complex64))


@implements(np.gradient)
def numpy_gradient(f, *varargs, axis=None, edge_order=1):
    f = inexact(f)
    axes = normalize_axis_tuple(range(f.ndim) if axis is None else axis,
                                f.ndim)
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    steps = varargs or [1.0]
    if len(steps) == 1 and np.ndim(steps[0]) == 0:
        steps = [*steps] * len(axes)
    if len(steps) != len(axes):
        raise TypeError('invalid number of arguments')
    slopes = [gradient_along(f, i, h, edge_order)
              for i, h in zip(axes, steps)]
    return slopes[0] if len(axes) == 1 else tuple(slopes)


def gradient_along(f, axis, step, edge_order):
    """Return the slope along one axis, by second-order differences."""
    y = np.moveaxis(f, axis, 0)
    if len(y) < edge_order + 1:
        raise ValueError(
            'Shape of array too small to calculate a numerical gradient, at '
            'least (edge_order + 1) elements are required.')
    h = gradient_steps(step, y)
    slopes = uniform_slopes if np.ndim(h) == 0 else uneven_slopes
    slope = np.concatenate(slopes(y, h, edge_order))
    return convert(np.moveaxis(slope, 0, axis), f.dtype)


def gradient_steps(step, y):
    """Return the distances of the points, or a number if they are equal."""
    if np.ndim(step) == 0:
        return operand(step)
    x = array_or_tracer(step) * 1.0
    if x.ndim != 1:
        raise ValueError('distances must be either scalars or 1d')
    if len(x) != len(y):
        raise ValueError('when 1d, distances must match the length of the '
                         'corresponding dimension')
    h = np.diff(x)
    if not isinstance(h, Tracer) and (h == h[0]).all():
        return h[0]
    return np.reshape(h, (-1, *[1] * (y.ndim - 1)))


def uniform_slopes(y, h, edge_order):
    """Return the slopes at the start, inside, and at the end."""
    inside = (y[2:] - y[:-2]) / (2.0 * h)
    if edge_order == 1:
        return (y[1:2] - y[:1]) / h, inside, (y[-1:] - y[-2:-1]) / h
    start = -1.5 / h * y[:1] + 2.0 / h * y[1:2] + -0.5 / h * y[2:3]
    end = 0.5 / h * y[-3:-2] + -2.0 / h * y[-2:-1] + 1.5 / h * y[-1:]
    return start, inside, end


def uneven_slopes(y, h, edge_order):
    """Return the slopes at the start, inside, and at the end."""
    inside = of_three(middle_weights(h[:-1], h[1:]), y[:-2], y[1:-1], y[2:])
    if edge_order == 1:
        return (y[1:2] - y[:1]) / h[:1], inside, (y[-1:] - y[-2:-1]) / h[-1:]
    start = of_three(start_weights(h[:1], h[1:2]), y[:1], y[1:2], y[2:3])
    end = of_three(end_weights(h[-2:-1], h[-1:]),
                   y[-3:-2], y[-2:-1], y[-1:])
    return start, inside, end


def of_three(weights, a, b, c):
    """Return the weighted sum of three points."""
    return weights[0] * a + weights[1] * b + weights[2] * c


# The slope of the parabola through three points with distances d and e.
def start_weights(d, e):
    return -(2.0 * d + e) / (d * (d + e)), (d + e) / (d * e), -d / (
        e * (d + e))


def middle_weights(d, e):
    return -e / (d * (d + e)), (e - d) / (d * e), d / (e * (d + e))


def end_weights(d, e):
    return e / (d * (d + e)), -(e + d) / (d * e), (2.0 * e + d) / (
        e * (d + e))


@implements(np.unwrap)
def numpy_unwrap(p, discont=None, axis=-1, *, period=2 * math.pi):
    p = asarray(p)
    axis = normalize_axis_index(axis, p.ndim)
    step = np.diff(p, axis=axis)
    dtype = np.result_type(step, period)
    half, odd = period / 2, False
    discont = half if discont is None else discont
    if dtype.kind in 'iu':
        half, odd = divmod(period, 2)
    wrapped = np.mod(step + half, period) - half
    if not odd:     # a step up by half a period stays a step up
        is_up = np.equal(wrapped, -half) & np.greater(step, 0)
        wrapped = np.where(is_up, wrapped + period, wrapped)
    change = np.where(np.less(np.abs(step), discont), 0, wrapped - step)
    start, rest = p[along(axis, slice(1))], p[along(axis, slice(1, None))]
    y = np.concatenate([start, rest + np.cumsum(change, axis)], axis)
    return convert(y, dtype)


@implements(np.logspace)
def numpy_logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None,
                   axis=0):
    if np.ndim(base):
        start, stop, base = np.broadcast_arrays(start, stop, base)
    y = np.power(base, np.linspace(start, stop, num, endpoint))
    y = y if dtype is None else convert(y, np.dtype(dtype))
    return np.moveaxis(y, 0, axis)


@implements(np.geomspace)
def numpy_geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    *ends, _ = promote(operand(start), operand(stop), np.zeros((), dtype))
    start, stop = np.broadcast_arrays(*ends)
    sign = np.sign(start)
    first, last = start / sign, stop / sign
    y = np.logspace(np.log10(first), np.log10(last), num, endpoint)
    # Use the given ends, because 10 ** log10(x) is only close to x.
    if num:
        y = np.concatenate([first[None], y[1:]])
    if num > 1 and endpoint:
        y = np.concatenate([y[:-1], last[None]])
    y = y * sign
    y = y if dtype is None else convert(y, np.dtype(dtype))
    return np.moveaxis(y, 0, axis)
