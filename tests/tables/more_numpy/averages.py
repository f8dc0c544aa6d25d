"""Programs of statistics."""

import numpy

from tests.tables.programs import c128, f16, f32, f64, ints, program, random

COUNTS = 'JAX counts in floats'


def holes(*shape, dtype=numpy.float64):
    """Return numbers with some NaN, but none in the first row."""
    x = random(shape, dtype)
    x.flat[x.shape[-1]::3] = numpy.nan
    return x


for name, x in {'odd': f64(5), 'half': f16(4), 'ints': ints(4)}.items():
    program(f'median_{name}', lambda np, x: np.median(x), x)

METHODS = ('linear', 'interpolated_inverted_cdf', 'hazen', 'weibull',
           'median_unbiased', 'normal_unbiased', 'averaged_inverted_cdf',
           'midpoint', 'lower', 'higher', 'nearest', 'inverted_cdf',
           'closest_observation')
THEIRS = dict.fromkeys(('linear', 'midpoint', 'lower', 'higher', 'nearest',
                        'inverted_cdf'), '')
for method in METHODS:
    program(f'quantile_{method}', lambda np, x, method=method: np.quantile(
        x, np.array([0.0, 0.22, 0.5, 1.0]), method=method), f64(5), ulps=4,
        jax=THEIRS.get(method, 'JAX has other methods'))
program('nanquantile', lambda np, x: np.nanquantile(x, 0.3, 1), holes(2, 7),
        ulps=4)
program('quantile_of_q', lambda np, x, q: np.quantile(x, q), f64(5), 0.3,
        ulps=4)
program('quantile_of_qs', lambda np, x, q: np.quantile(
    x, q, (0, 2), keepdims=True), f64(2, 3, 2), f64(2) / 4, ulps=4)
program('percentile', lambda np, x: np.percentile(x, 30), f64(4), ulps=4)
program('nanpercentile', lambda np, x: np.nanpercentile(x, 30), holes(3, 3),
        ulps=4)

SKIPPING = ('nansum', 'nanprod', 'nanmean', 'nanvar', 'nanstd', 'nanmax',
            'nanmin', 'nanmedian', 'nanargmax', 'nanargmin', 'nancumsum',
            'nancumprod')
for name in SKIPPING:
    def function(np, x, axis=None, name=name, **kwargs):
        return getattr(np, name)(x, axis, **kwargs)
    keepdims = {} if 'cum' in name else {'keepdims': True}
    program(name, function, holes(2, 3), ulps=4)
    program(f'{name}_axis', lambda np, x, function=function, k=keepdims:
            function(np, x, 1, **k), holes(2, 3, dtype=numpy.float32), ulps=4)
    if name in ('nansum', 'nanprod', 'nanmean', 'nanvar', 'nancumsum'):
        program(f'{name}_complex', function, holes(
            2, 3, dtype=numpy.complex128), ulps=4)

program('ptp', lambda np, x: np.ptp(x), f64(2, 3))

program('cov', lambda np, x: np.cov(x), f64(2, 4), ulps=8)
program('cov_columns', lambda np, x: np.cov(x, rowvar=False, bias=True),
        f64(4, 2), ulps=8)
program('cov_weights', lambda np, x, w: np.cov(
    x, fweights=np.array([1, 2, 1, 3]), aweights=w), f64(2, 4), f64(4),
    ulps=8)
program('cov_dtype', lambda np, x: np.cov(x, dtype=complex), f32(2, 3),
        ulps=8)
program('cov_pair', lambda np, x, y: np.cov(x, y, ddof=0), f64(4), f64(4),
        ulps=8)
program('corrcoef_pair', lambda np, x, y: np.corrcoef(
    np.stack([x, x * x]), y), f32(4), f64(4), ulps=8)
program('corrcoef_complex', lambda np, x: np.corrcoef(x), c128(2, 3), ulps=8)

program('bincount', lambda np, w: np.bincount(
    np.array([0, 3, 1, 3]), w, minlength=5), f64(4), double=True)
program('histogram_weights', lambda np, w, a=f64(6): np.histogram(
    a, 3, weights=w)[0], f64(6), ulps=4)
program('histogram_weights_density', lambda np, w, a=f64(2, 3): np.histogram(
    a, np.array([0.6, 0.8, 1.5]), weights=w, density=True)[0], f64(2, 3),
    ulps=8)
program('histogram', lambda np, x: np.histogram(x, 4)[0], f64(5),
        jax=COUNTS)
program('histogram_ints', lambda np, x: np.histogram(x)[0], ints(5),
        jax=COUNTS)
program('histogram_range', lambda np, x: np.histogram(
    x, 3, (0.7, 1.2))[0], f32(8), jax=COUNTS)
program('histogram2d', lambda np, w, x=f64(5), y=f64(5): np.histogram2d(
    x, y, (2, 3), weights=w)[0], f64(5), double=True)
program('histogram2d_traced', lambda np, x, y: np.histogram2d(
    x, y, np.array([0.5, 0.75, 1.0, 1.5]))[0], f64(4), f32(4),
    jax='JAX: an error')
program('histogramdd', lambda np, x, w: np.histogramdd(
    x, (2, 1, 2), density=True, weights=w)[0], numpy.array([
        [.1, .2, .9], [.4, .6, .3], [.9, .1, .2], [.2, .9, .4]]), f64(4),
    ulps=8, double=True)
