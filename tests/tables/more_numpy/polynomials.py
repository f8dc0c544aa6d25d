"""Programs of polynomials, and of slopes on a grid."""

import numpy

from tests.tables.programs import c128, f32, f64, ints, program

program('polymul', lambda np, x, y: np.polymul(np.exp(x), np.exp(y)), f64(3),
        f64(2), ulps=8)
program('vander', lambda np, x: np.vander(x), f64(3))
program('vander_increasing', lambda np, x: np.vander(
    x, 4, increasing=True), c128(2))
program('vander_ints', lambda np, x: np.vander(x), ints(3))
program('polydiv', lambda np, x, y: np.polydiv(x, np.exp(y))[0], f64(5),
        f64(3), ulps=8)
program('polyfit', lambda np, x, y: np.polyfit(x, y, 2), f64(6) * 4 - 4,
        f64(6), ulps=256, double=True)
program('polyfit_weights', lambda np, x, y, w: np.polyfit(x, y, 1, w=w),
        f64(5), f64(5), f64(5), ulps=256, double=True)
program('polyfit_full', lambda np, y, x=f64(5): np.polyfit(
    x, y, 1, full=True)[1], f64(5), ulps=64, double=True)
program('polyfit_covariance', lambda np, x, y: np.polyfit(
    x, y, 1, cov=True)[1], f64(5) * 4 - 4, f64(5), ulps=256, double=True)
program('roots', lambda np, p: np.sort(np.abs(np.roots(p))),
        numpy.array([2., -5., -24.]), ulps=64, double=True,
        jax='JAX: vmap must know the values')

program('gradient', lambda np, f: np.gradient(f), f64(5))
program('gradient_step', lambda np, f, h: np.gradient(f, h), f64(4), 0.5)
program('gradient_both', lambda np, f: np.gradient(
    f, 2.0, np.array([1., 3.0, 3.5]))[1], f64(3, 3), ulps=4)
program('gradient_uniform', lambda np, f: np.gradient(
    f, np.arange(4.) / 2, axis=0), f32(4, 2))
program('gradient_edges', lambda np, f, x: np.gradient(
    f, np.cumsum(x), edge_order=2), f64(4), f64(4), ulps=8,
    jax='JAX has edges of first order')
program('gradient_uniform_edges', lambda np, f, h: np.gradient(
    f, h, edge_order=2), f64(4), 0.5, ulps=8,
    jax='JAX has edges of first order')

ANGLES = numpy.array([1.5, 6.3, 2.2, 9.4, 8.0, 0.2])
program('unwrap', lambda np, x: np.unwrap(x), ANGLES, ulps=4)
program('unwrap_axis', lambda np, x: np.unwrap(x, 4.0, axis=0),
        ANGLES.astype('f4').reshape(3, 2), ulps=4)
program('unwrap_odd', lambda np, x: np.unwrap(x, period=5), ints(6) * 3,
        jax='JAX: other values')
program('logspace', lambda np, x, y: np.logspace(x, y, 5), 0.7, 1.5, ulps=8)
program('logspace_bases', lambda np, x, b: np.logspace(
    x, 2.0, 4, base=b, axis=1, endpoint=False), f64(2), f64(2), ulps=8,
    jax='JAX: shapes that do not fit')
program('geomspace', lambda np, x, y: np.geomspace(x, y, 5), 0.7, 1.5,
        ulps=8)
program('geomspace_negative', lambda np, x: np.geomspace(
    x, -2.0, 4, endpoint=False, axis=-1), -f64(2), ulps=8)
