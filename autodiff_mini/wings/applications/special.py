"""Functions that stay accurate at the ends of the number line.

A value is computed by a formula that is good for values, and a derivative
by one that is good for derivatives.  A custom rule lets the two differ.
Chapter 26.
"""

from functools import partial, reduce, wraps

import numpy as np

from autodiff_mini.calls.custom_jvp import custom_jvp
from autodiff_mini.core.trace import current_trace, function_table
from autodiff_mini.core.types import typeof
from autodiff_mini.core.zeros import Zero
from autodiff_mini.numpy_functions.table import compositions, inexact
from autodiff_mini.primitives.elementwise import stop_gradient


def floats(x):
    """Return `x` as an array of real floats; integers become float64."""
    x = inexact(x)
    if x.dtype.kind == 'c':
        raise TypeError('expit, log1pexp, logit, and logsumexp take real '
                        f'numbers, but got {typeof(x)}')
    return x


@custom_jvp
def expit(x):
    """Return `1 / (1 + exp(-x))`, which rises from 0 to 1.

    Args:
        x: an array of real numbers.

    Returns:
        An array of floats like `x`.

    Raises:
        TypeError: `x` is complex.

    Source: `scipy.special.expit`.

    Examples:
        >>> import autodiff_mini as ad
        >>> expit(np.array([-800.0, 0.0, 800.0]))
        array([0. , 0.5, 1. ])
        >>> ad.vmap(ad.grad(expit))(np.array([-800.0, 0.0, 800.0]))
        array([0.  , 0.25, 0.  ])
    """
    x = floats(x)
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, e) / (1 + e)


expit.defjvps(lambda x_dot, y, x: y * expit(-x) * x_dot)


@custom_jvp
def log1pexp(x):
    """Return `log(1 + exp(x))`, also known as softplus.

    Args:
        x: an array of real numbers.

    Returns:
        An array of floats like `x`.

    Raises:
        TypeError: `x` is complex.

    Source: the example of the design document, *Custom JVP/VJP rules for
    JAX-transformable functions*; M. Mächler, "Accurately computing
    log(1 − exp(−|a|))", 2012.

    Examples:
        >>> import autodiff_mini as ad
        >>> log1pexp(np.array([-800.0, 800.0]))
        array([  0., 800.])
        >>> ad.vmap(ad.grad(log1pexp))(np.array([-800.0, 800.0]))
        array([0., 1.])
    """
    x = floats(x)
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


log1pexp.defjvps(lambda x_dot, y, x: expit(x) * x_dot)


def probability(x):
    """Return `x`, and NaN where it is not between 0 and 1."""
    # A factor instead of a choice, so that all derivatives are NaN, too.
    return x * np.where((x >= 0) & (x <= 1), np.ones_like(x), np.nan)


def beside_half(p):
    """Return whether `p` is close to 1/2, and if so `2 * p - 1`, else 0.

    There, a logarithm of almost 1 would lose digits, and so would a
    difference of almost equal slopes.
    """
    near = np.abs(p - 0.5) < 0.25
    return near, np.where(near, 2 * p - 1, 0)


@custom_jvp
def logit(x):
    """Return `log(x / (1 - x))`, the inverse of `expit`.

    Args:
        x: an array of real numbers.

    Returns:
        An array of floats like `x`.  It is -inf at 0, inf at 1, and NaN
        outside of 0 to 1, where the derivative is NaN, too.

    Raises:
        TypeError: `x` is complex.

    Source: `scipy.special.logit`.

    Examples:
        >>> import autodiff_mini as ad
        >>> logit(np.array([-0.5, 0.5, expit(2.0)]))
        array([nan,  0.,  2.])
        >>> ad.grad(logit)(0.5)
        4.0
    """
    p = probability(floats(x))
    near, u = beside_half(p)
    return np.where(near, np.log1p(2 * u / (1 - u)), np.log(p / (1 - p)))[()]


@logit.defjvp
def logit_jvp(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    p = probability(x)
    near, u = beside_half(p)
    return logit(x), np.where(near, x_dot * (4 / (1 - u * u)),
                              x_dot / p + x_dot / (1 - p))


def exponentials(x, b, axis):
    """Return the largest weighted `x`, and each `exp(x)` over its exp."""
    x_seen, largest = stop_gradient(x), np.finfo(x.dtype).max
    top = np.max(np.where(b == 0, -np.inf, x_seen), axis, keepdims=True)
    x = x - np.clip(top, -largest, largest)
    # With the weight 0, an exponential that overflows does not count.
    counts = (b != 0) | (x < np.log(largest))
    return top, np.exp(np.where(counts, x, -np.inf))


@partial(custom_jvp, nondiff_argnums=(2,))
def log_sum(x, b, axis):
    """Return the logarithm of the sum of `b * exp(x)`; keep the axis."""
    top, e = exponentials(x, b, axis)
    is_top = (x == top) & (b != 0)
    first = np.sum(np.where(is_top, b, 0), axis, keepdims=True)
    rest = np.sum(np.where(is_top, 0, b * e), axis, keepdims=True)
    # The rest can be so small that it is lost when it is added to first.
    is_small = np.abs(rest) < first
    safe = np.where(is_small, first, 1)
    return top + np.where(is_small, np.log(safe) + np.log1p(rest / safe),
                          np.log(first + rest))


@partial(log_sum.defjvp, symbolic_zeros=True)
def log_sum_jvp(axis, primals, tangents):
    (x, b), (x_dot, b_dot) = primals, tangents
    top, e = exponentials(x, b, axis)
    total = np.sum(b * e, axis, keepdims=True)
    # If all terms are 0, they stay 0 as x changes, and 0 / 0 would be NaN.
    is_empty = top == -np.inf
    shares = e / np.where(total < 0, np.nan, np.where(is_empty, 1, total))
    terms = []
    if not isinstance(x_dot, Zero):
        terms.append(shares * (b * x_dot))
    if not isinstance(b_dot, Zero):
        is_pole = is_empty & (x > -np.inf)
        terms.append(np.where(is_pole, np.inf, shares) * b_dot)
    return log_sum(x, b, axis), np.sum(
        reduce(np.add, terms), axis, keepdims=True)


def composed_function(function):
    """Let the current trace process a function of the library.

    Its result must depend only on the types and values of its arguments.
    """
    @wraps(function)
    def call(*args, **kwargs):
        return current_trace().process_function(call, args, kwargs)
    function_table[call] = function
    compositions.add(call)
    return call


@composed_function
def logsumexp(x, axis=None, keepdims=False, b=None):
    """Return the logarithm of a sum of exponentials.

    Args:
        x: an array of real numbers.
        axis: an axis to sum over, or a tuple of axes; by default all.
        keepdims: whether to keep the axes, with one element each.
        b: weights, an array of real numbers that broadcasts with `x`.

    Returns:
        `log(sum(exp(x), axis))`, or `log(sum(b * exp(x), axis))`.  It is
        -inf if there are no terms, or only zeros.  It is NaN if the sum is
        negative, and so are its derivatives.  Where `b` is 0, `x` can be
        infinite or NaN.  Where all terms are 0, as in a row of -inf, the
        derivatives with respect to `x` are 0, but in JAX they are NaN.  As
        in JAX, a derivative is NaN with respect to an `x` of inf.

    Raises:
        TypeError: `x` or `b` is complex.

    Source: `scipy.special.logsumexp`; P. Blanchard, D. J. Higham and N. J.
    Higham, "Accurately computing the log-sum-exp and softmax functions",
    2021.

    Examples:
        >>> import autodiff_mini as ad
        >>> x = np.array([1000.0, 1000.0])
        >>> print(logsumexp(x))
        1000.6931471805599
        >>> ad.grad(logsumexp)(x)
        array([0.5, 0.5])
    """
    x = floats(x)
    b = np.ones_like(x) if b is None else floats(b)
    x, b = np.broadcast_arrays(x, b)
    if x.size == 0:
        return np.sum(x, axis, keepdims=keepdims) - np.inf
    y = log_sum(x, b, axis)
    return y if keepdims else np.squeeze(y, axis)[()]
