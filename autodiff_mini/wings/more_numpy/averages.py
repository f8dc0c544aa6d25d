"""Statistics: quantiles, functions that skip NaN, covariances, histograms.

A quantile lies between two neighbors in a sorted array, so it is their
weighted mean.  Chapter 30.
"""

import math
import operator

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from autodiff_mini.core.errors import refuse
from autodiff_mini.core.memory import as_new_array
from autodiff_mini.core.trace import Tracer
from autodiff_mini.core.types import convert, typeof
from autodiff_mini.numpy_functions.arguments import check_cast, promote
from autodiff_mini.numpy_functions.borrowed import array_or_tracer
from autodiff_mini.numpy_functions.table import asarray, implements, operand
from autodiff_mini.primitives.indexing import OPERAND, add_at_p
from autodiff_mini.wings.more_numpy.along_axis import as_rows
from autodiff_mini.wings.more_numpy.statistics import (
    as_deviation, norm_sqrt_p, squared_size)


def sorted_rows(a, axis):
    """Return `a` sorted along these axes, merged in front, and the axes."""
    a = asarray(a)
    axes = range(a.ndim) if axis is None else axis
    axes = normalize_axis_tuple(axes, a.ndim)
    return np.sort(as_rows(a, axes), 0), axes


@implements(np.median)
def numpy_median(a, axis=None, out=None, overwrite_input=False,
                 keepdims=False):
    rows, axes = sorted_rows(a, axis)
    count = len(rows)
    y = np.mean(rows[max(count - 1, 0) // 2:count // 2 + 1], 0)
    if count:
        y = spoilt(np.isnan(rows[-1]), y)
    return np.expand_dims(y, axes) if keepdims else y


@implements(np.nanmedian)
def numpy_nanmedian(a, axis=None, out=None, overwrite_input=False,
                    keepdims=False):
    rows, axes = sorted_rows(a, axis)
    if rows.dtype.kind not in 'fc' or not len(rows):
        return np.median(a, axis, keepdims=keepdims)
    count = np.sum(~np.isnan(rows), 0)
    low = elements_at(rows, np.maximum(count - 1, 0) // 2)
    high = elements_at(rows, count // 2)
    y = spoilt(np.equal(count, 0), (low + high) / 2)
    return np.expand_dims(y, axes) if keepdims else y


def spoilt(is_nan, y):
    """Return `y` with NaN in some places, where its slope is NaN, too."""
    return y * convert(np.where(is_nan, np.nan, 1.0), y.dtype)


def elements_at(rows, i):
    """Return the elements `rows[i]`, where `i` broadcasts over columns."""
    return asarray(rows)[(i, *np.ix_(*map(np.arange, rows.shape[1:])))]


def neighbors(alpha, beta):
    """Return the rule of a method of Hyndman and Fan (1996)."""
    return lambda n, q: n * q + (alpha + q * (1 - alpha - beta)) - 1


def rounded(rounding):
    """Return the rule of a method that selects one element."""
    return lambda n, q: convert(rounding((n - 1) * q), np.dtype(np.intp))


def inverted_cdf(n, q):
    index = np.maximum(np.ceil(n * q - 1), 0)
    return convert(index, np.dtype(np.intp))


def closest_observation(n, q):
    index = n * q - 1 - 0.5
    below = np.floor(index)
    is_even = np.equal(index, below) & np.equal(below % 2, 1)
    index = np.maximum(np.where(is_even, below, below + 1), 0)
    return convert(index, np.dtype(np.intp))


# The index, possibly fractional, of the quantile q of n sorted numbers.
QUANTILE_PLACES = {
    'linear': lambda n, q: (n - 1) * q,
    'interpolated_inverted_cdf': neighbors(0, 1),
    'hazen': neighbors(0.5, 0.5),
    'weibull': neighbors(0, 0),
    'median_unbiased': neighbors(1 / 3, 1 / 3),
    'normal_unbiased': neighbors(3 / 8, 3 / 8),
    'averaged_inverted_cdf': lambda n, q: n * q - 1,
    'midpoint': lambda n, q: 0.5 * (np.floor((n - 1) * q)
                                    + np.ceil((n - 1) * q)),
    'lower': rounded(np.floor),
    'higher': rounded(np.ceil),
    'nearest': rounded(np.rint),
    'inverted_cdf': inverted_cdf,
    'closest_observation': closest_observation,
}


def quantile_function(function, most, leaves_nan_out):
    """Define a quantile function, whose `q` is at most `most`."""
    @implements(function)
    def call(a, q, axis=None, out=None, overwrite_input=False,
             method='linear', keepdims=False, *, weights=None):
        refuse(function, weights=weights)
        is_weak = typeof(operand(q)).weak_type
        q = check_quantiles(array_or_tracer(q), most)
        rows, axes = sorted_rows(a, axis)
        y = quantiles(rows, q, method, leaves_nan_out, is_weak)
        if not keepdims:
            return y
        return np.expand_dims(y, [q.ndim + i for i in axes])


quantile_function(np.quantile, 1, False)
quantile_function(np.percentile, 100, False)
quantile_function(np.nanquantile, 1, True)
quantile_function(np.nanpercentile, 100, True)


def check_quantiles(q, most):
    """Return `q / most`, or raise a ValueError if it is not in [0, 1]."""
    if q.ndim > 2:
        raise ValueError('q must be a scalar or 1d')
    if not isinstance(q, Tracer) and not ((q >= 0) & (q <= most)).all():
        kind = 'Quantiles' if most == 1 else 'Percentiles'
        raise ValueError(f'{kind} must be in the range [0, {most}]')
    return q if most == 1 else np.divide(q, most)


def quantiles(rows, q, method, leaves_nan_out, is_weak):
    """Return the quantiles of the columns of a sorted array."""
    if rows.dtype.kind == 'c':
        raise TypeError('a must be an array of real numbers')
    if method not in QUANTILE_PLACES:
        raise ValueError(f'{method!r} is not a valid method. Use one of: '
                         f'{QUANTILE_PLACES.keys()}')
    count, is_nan = len(rows), np.isnan(rows[-1])
    q = np.reshape(q, (*q.shape, *[1] * (rows.ndim - 1)))
    if leaves_nan_out and rows.dtype.kind == 'f':
        count = convert(np.sum(~np.isnan(rows), 0), q.dtype)
        is_nan = np.equal(count, 0)
    place = QUANTILE_PLACES[method](count, q)
    if place.dtype.kind in 'iu':
        y = elements_at(rows, np.maximum(place, 0))
    else:
        y = interpolated(rows, place, count - 1, method, is_weak)
    return spoilt(is_nan, y) if rows.dtype.kind == 'f' else y


def interpolated(rows, place, last, method, is_weak):
    """Interpolate between two rows with NumPy's formula."""
    below = np.floor(place)
    ends = [np.fmin(np.fmax(i, 0), last) for i in (below, below + 1)]
    low, high = [elements_at(rows, convert(i, np.dtype(np.intp)))
                 for i in ends]
    weight = place - ends[0]
    if method == 'averaged_inverted_cdf':
        weight = np.where(np.equal(weight, 0), 0.5, 1)
    if method == 'midpoint':
        weight = np.where(np.equal(place, below), 0, 0.5)
    rest, is_near = 1 - weight, np.less(weight, 0.5)
    dtype = rows.dtype if is_weak and rows.dtype.kind == 'f' else place.dtype
    weight, rest = convert(weight, dtype), convert(rest, dtype)
    return np.where(is_near, low + (high - low) * weight,
                    high - (high - low) * rest)


def without_nan(a, value):
    """Return `a` with NaN replaced by a value."""
    a = asarray(a)
    if a.dtype.kind not in 'fc':
        return a
    return np.where(np.isnan(a), a.dtype.type(value), a)


def nan_function(function, plain, value):
    """Define a function that replaces NaN and calls `plain`."""
    @implements(function)
    def call(a, *args, **kwargs):
        return plain(without_nan(a, value), *args, **kwargs)


nan_function(np.nansum, np.sum, 0)
nan_function(np.nanprod, np.prod, 1)
nan_function(np.nancumsum, np.cumsum, 0)
nan_function(np.nancumprod, np.cumprod, 1)


def nan_extremum(function, plain, value):
    """Define an extremum that is NaN only if all elements are."""
    @implements(function)
    def call(a, axis=None, out=None, keepdims=False, initial=None,
             where=True):
        y = plain(without_nan(a, value), axis, keepdims=keepdims,
                  initial=initial, where=where)
        if initial is not None or typeof(y).dtype.kind not in 'fc':
            return y
        nothing = np.all(np.isnan(a), axis, keepdims=keepdims)
        return np.where(nothing, np.nan, y)


nan_extremum(np.nanmax, np.max, -np.inf)
nan_extremum(np.nanmin, np.min, np.inf)


def nan_arg_extremum(function, plain, value):
    """Define the index of an extremum; it is -1 if all are NaN, as in JAX.

    NumPy raises an error, which a traced program cannot do.
    """
    @implements(function)
    def call(a, axis=None, out=None, *, keepdims=False):
        place = plain(without_nan(a, value), axis, keepdims=keepdims)
        nothing = np.all(np.isnan(a), axis, keepdims=keepdims)
        return np.where(nothing, -1, place)


nan_arg_extremum(np.nanargmax, np.argmax, -np.inf)
nan_arg_extremum(np.nanargmin, np.argmin, np.inf)


def check_inexact(a, dtype):
    """Raise a TypeError if a mean of floats would be an integer."""
    if dtype is not None and a.dtype.kind in 'fc' and (
            np.dtype(dtype).kind not in 'fc'):
        raise TypeError('If a is inexact, then dtype must be inexact')


@implements(np.nanmean)
def numpy_nanmean(a, axis=None, dtype=None, out=None, keepdims=False, *,
                  where=True):
    a, options = asarray(a), {'keepdims': keepdims, 'where': where}
    check_inexact(a, dtype)
    if a.dtype.kind not in 'fc':
        return np.mean(a, axis, dtype, **options)
    count = np.sum(~np.isnan(a), axis, np.intp, **options)
    total = np.nansum(a, axis, dtype, **options)
    return convert(np.divide(total, count), total.dtype)


@implements(np.nanvar)
def numpy_nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False,
                 *, where=True, mean=None, correction=None):
    a, free = asarray(a), ddof if correction is None else correction
    check_inexact(a, dtype)
    if mean is None:
        mean = np.nanmean(a, axis, dtype, keepdims=True, where=where)
    options = {'keepdims': keepdims, 'where': where}
    if a.dtype.kind not in 'fc':
        return np.var(a, axis, dtype, ddof=free, mean=mean, **options)
    is_number = ~np.isnan(a)
    error = convert(np.where(is_number, a - mean, 0), a.dtype)
    total = np.sum(squared_size(error), axis, dtype, **options)
    free = np.sum(is_number, axis, np.intp, **options) - free
    free = np.where(np.greater(free, 0), free, np.nan)
    return convert(np.divide(total, free), total.dtype)


@implements(np.nanstd)
def numpy_nanstd(a, *args, **kwargs):
    variance = np.nanvar(a, *args, **kwargs)
    return as_deviation(norm_sqrt_p.bind(variance), variance.dtype)


@implements(np.cov, as_new_array)
def numpy_cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None,
              aweights=None, *, dtype=None):
    if ddof is not None and ddof != int(ddof):
        raise ValueError('ddof must be integer')
    ddof = int(not bias) if ddof is None else ddof
    x = samples(m, y, rowvar, dtype)
    weights, free = sample_weights(x.shape[1], fweights, aweights, ddof)
    total = np.sum(weights * x, 1, keepdims=True)
    error = convert(x - total / np.sum(weights), x.dtype)
    c = np.dot(error, np.transpose(np.conj(error * weights)))
    c = convert(c * np.divide(1, np.maximum(free, 0)), c.dtype)
    return np.squeeze(c)


def samples(m, y, rowvar, dtype):
    """Return an array with the variables of `m` and `y` as rows."""
    arrays = [asarray(a) for a in (m, y) if a is not None]
    if any(a.ndim > 2 for a in arrays):
        raise ValueError('m and y must have no more than 2 dimensions')
    if dtype is None:
        *arrays, _ = promote(*arrays, np.float64(0))
    rows = [np.atleast_2d(a if dtype is None else convert(a, np.dtype(dtype)))
            for a in arrays]
    if not rowvar and arrays[0].ndim == 2:
        rows[0] = np.transpose(rows[0])
    if not rowvar and len(rows[-1]) != 1 and y is not None:
        rows[1] = np.transpose(rows[1])
    return np.concatenate(rows)


def sample_weights(size, fweights, aweights, ddof):
    """Return the weight of each sample, and the degrees of freedom."""
    counts = checked_weights(fweights, 'fweights', size)
    if not isinstance(counts, Tracer) and np.any(counts != np.rint(counts)):
        raise TypeError('fweights must be integer')
    others = checked_weights(aweights, 'aweights', size)
    weights = counts * others
    total = np.sum(weights)
    if aweights is None:
        return weights, total - ddof
    return weights, total - ddof * np.sum(weights * others) / total


def checked_weights(weights, name, size):
    """Return the weight of each sample, which is True if none are given."""
    if weights is None:
        return np.ones(size, bool)
    weights = array_or_tracer(weights, np.float64)
    if weights.ndim > 1:
        raise RuntimeError(f'cannot handle multidimensional {name}')
    if weights.shape != (size,):
        raise RuntimeError(f'incompatible numbers of samples and {name}')
    if not isinstance(weights, Tracer) and np.any(weights < 0):
        raise ValueError(f'{name} cannot be negative')
    return weights


@implements(np.corrcoef)
def numpy_corrcoef(x, y=None, rowvar=True, *, dtype=None):
    c = np.cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    scale = np.sqrt(np.real(np.diag(c)))
    c = c / scale[:, None] / scale
    if c.dtype.kind != 'c':
        return np.clip(c, -1, 1)
    return np.clip(np.real(c), -1, 1) + 1j * np.clip(np.imag(c), -1, 1)


@implements(np.bincount)
def numpy_bincount(x, /, weights=None, minlength=0):
    if isinstance(x, Tracer):
        raise NotImplementedError(
            'numpy.bincount is not supported on traced integers, because the '
            'size of its result depends on them. Write '
            'np.add.at(np.zeros(n, like=x), x, 1) for n bins.')
    x, weights = np.asarray(x), asarray(weights)
    check_cast(weights, np.float64(0), 'safe')
    if x.shape != weights.shape:
        raise ValueError("The weights and list don't have the same length.")
    count = len(np.bincount(x, minlength=minlength))
    return add_at_p.bind(
        np.zeros(count), convert(weights, np.dtype(np.float64)), x,
        indices=(OPERAND,))


@implements(np.histogram_bin_edges)
def numpy_histogram_bin_edges(a, bins=10, range=None, weights=None):
    if isinstance(bins, str):
        raise NotImplementedError(
            f'numpy.histogram_bin_edges with bins={bins!r} is not supported '
            'on traced values, because the number of bins depends on them. '
            'Pass the number of bins.')
    if not isinstance(bins, Tracer):
        np.histogram_bin_edges(0, bins)     # raises if bins are invalid
    if np.ndim(bins) == 1:
        return array_or_tracer(bins)
    a, count = np.ravel(array_or_tracer(a)), operator.index(bins)
    if range is None:
        range = (np.min(a), np.max(a)) if a.size else (0, 1)
    elif not any(isinstance(x, Tracer) for x in range):
        np.histogram_bin_edges(0, 1, range)     # raises if it is invalid
    dtype = np.result_type(*range, a)
    if dtype.kind not in 'fc':
        dtype = np.result_type(dtype, np.float64)
    first, last = range
    is_one = np.equal(first, last)
    return np.linspace(np.where(is_one, first - 0.5, first),
                       np.where(is_one, last + 0.5, last),
                       count + 1, dtype=dtype)


@implements(np.histogram)
def numpy_histogram(a, bins=10, range=None, density=None, weights=None):
    a = array_or_tracer(a)
    if isinstance(bins, str) and weights is not None:
        raise TypeError('Automated estimation of the number of bins is not '
                        'supported for weighted data')
    edges = np.histogram_bin_edges(a, bins, range)
    weights = np.ones(a.shape, np.intp) if weights is None else asarray(
        weights)
    if weights.shape != a.shape:
        raise ValueError('weights should have the same shape as a.')
    n = convert(bin_sums([np.ravel(a)], [edges], weights), weights.dtype)
    if density:
        n = n / np.diff(edges) / np.sum(n)
    return n, edges


def bin_sums(points, edges, weights):
    """Return the sum of the weights in each bin.

    Args:
        points: for each dimension, the positions of the weights.
        edges: for each dimension, the edges of the bins.
        weights: an array; floats are added in double precision.
    """
    shape = [len(e) + 1 for e in edges]     # with two outer bins
    place = np.ravel_multi_index(
        [bin_number(x, e) for x, e in zip(points, edges)], shape)
    weights = np.ravel(convert(
        weights, np.result_type(weights.dtype, np.float64)))
    sums = add_at_p.bind(np.zeros(math.prod(shape), weights.dtype), weights,
                         place, indices=(OPERAND,))
    return np.reshape(sums, shape)[(slice(1, -1),) * len(shape)]


def bin_number(x, edges):
    """Return the number of edges before `x`; the last bin is closed."""
    number = np.searchsorted(edges, x, 'right')
    return np.where(np.equal(x, edges[-1]), len(edges) - 1, number)


@implements(np.histogramdd)
def numpy_histogramdd(sample, bins=10, range=None, density=None,
                      weights=None):
    points = [array_or_tracer(x) for x in (
        np.transpose(sample) if hasattr(sample, 'shape') else sample)]
    bins = bins if np.iterable(bins) else [bins] * len(points)
    range = [None] * len(points) if range is None else range
    if len(bins) != len(points):
        raise ValueError('The dimension of bins must be equal to the '
                         'dimension of the sample x.')
    if len(range) != len(points):
        raise ValueError('range argument must have one entry per dimension')
    edges = list(map(np.histogram_bin_edges, points, bins, range))
    if weights is None:
        weights = np.ones(len(points[0]))
    n = bin_sums(points, edges, asarray(weights))
    if density:
        total = np.sum(n)
        for i, widths in enumerate(map(np.diff, edges)):
            n = n / np.reshape(widths, (-1, *[1] * (n.ndim - i - 1)))
        n = n / total
    return n, edges
