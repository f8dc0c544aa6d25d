"""Programs that call functions whose NumPy code runs on tracers."""

import numpy

from tests.tables.programs import c64, c128, f32, f64, ints, program

INF = numpy.inf
program('append', lambda np, x, y: np.append(x, y), f64(2, 2), f32(3))
program('apply_over_axes', lambda np, x: np.apply_over_axes(
    np.sum, x, [0, -1]), f64(2, 3, 2))
for point, x in {'0d': f64(), '2d': f32(2, 3)}.items():
    program(f'atleast_3d_{point}', lambda np, x: np.atleast_3d(x), x)
program('dsplit', lambda np, x: np.subtract(*np.dsplit(x, 2)), f64(2, 1, 4))
program('hsplit', lambda np, x: np.subtract(*np.hsplit(x, [1])), f64(3))
program('vsplit', lambda np, x: np.subtract(*np.vsplit(x, 2)), f64(4, 2))
for name, x in {'isneginf': [1, INF, -INF], 'isposinf': [INF, 1, -INF],
                'iscomplex': [1, 2j, 3j], 'isreal': [1, 2, 3j]}.items():
    program(f'{name}_of_some', lambda np, x, name=name: getattr(np, name)(x),
            numpy.array(x))
program('dstack', lambda np, x, y: np.dstack([x, y]), f64(3), f32(3))
program('extract', lambda np, x: np.extract(
    np.array([[True, False], [True, True]]), x), f64(2, 2))
program('ix_of_traced', lambda np, x, i: np.ix_(x, i)[0] * x, f64(2), ints(3))
program('real_if_close', lambda np, x: np.real_if_close(x), f64(3),
        jax='JAX has no such function')
program('resize', lambda np, x: np.resize(x, (2, 4)), f64(3))
program('rollaxis', lambda np, x: np.rollaxis(x, 2), f64(2, 3, 2))
program('sort_complex', lambda np, x: np.sort_complex(x), c64(3))
program('unstack', lambda np, x: np.subtract(*np.unstack(x)), f64(2, 2))
for name in 'diag', 'tril', 'triu':
    program(f'{name}_indices_from', lambda np, x, name=name: x[getattr(
        np, f'{name}_indices_from')(x)], f64(3, 3))

program('common_type', lambda np, x, i: x.astype(np.common_type(x, i)),
        f32(3), ints(3), jax='jax.numpy has no common_type')
for name in ('iscomplex', 'iscomplexobj', 'isneginf', 'isposinf', 'isreal',
             'isrealobj'):
    for kind, x in {'array': f64(3), 'complex': c128(2)}.items():
        if kind == 'array' or 'inf' not in name:
            program(f'{name}_{kind}', lambda np, x, name=name:
                    getattr(np, name)(x) * x, x)

program('poly', lambda np, x: np.poly(x), f64(4), ulps=8)
for name in 'polyadd', 'polysub':
    for kind, args in {'': (f64(2), f64(4)),
                       '_long': (c128(4), f64(2))}.items():
        program(f'{name}{kind}', lambda np, x, y, name=name:
                getattr(np, name)(x, y), *args)
program('polyder', lambda np, x: np.polyder(x, 2), f64(4))
program('polyint', lambda np, x: np.polyint(x, 2, np.array([3., 4.])),
        f64(3), ulps=4)
program('polyval', lambda np, p, x: np.polyval(p, x), f64(4), f64(2, 2),
        ulps=4)
program('trapezoid', lambda np, x: np.trapezoid(x, dx=0.5), f64(2, 4),
        ulps=4)
program('trapezoid_axis', lambda np, y, x: np.trapezoid(y, x, axis=0),
        f64(3, 2), f64(3), ulps=4)
for name in 'cumulative_sum', 'cumulative_prod':
    program(name, lambda np, x, name=name: getattr(np, name)(x), f64(4))
    program(f'{name}_initial', lambda np, x, name=name: getattr(np, name)(
        x, axis=1, include_initial=True), f32(2, 3))
    program(f'{name}_dtype', lambda np, x, name=name: getattr(np, name)(
        x, dtype=np.float64), f32(3))
