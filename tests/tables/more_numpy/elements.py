"""Programs of element-wise functions."""

import numpy

from tests.tables.programs import f32, f64, ints, program

for kind, x in {'array': f64(4) - 1.0, 'ints': -ints(3)}.items():
    program(f'fabs_{kind}', lambda np, x: np.fabs(x), x)
program('fix', lambda np, x: np.fix(x), f64(3) * 4 - 4,
        jax='JAX has no fix')
program('spacing', lambda np, x: np.spacing(1e300 * x), f64(2, 3),
        jax='JAX has no derivative of it')

program('ldexp', lambda np, x, i: np.ldexp(x[:, :1], i), f64(2, 3), ints(3))
program('ldexp_number', lambda np, x: np.ldexp(x, 3), 0.7)
for kind, x in {'array': numpy.array([[13.2, -20.4, 0.3]]),
                'half': numpy.float16([4.4]), 'ints': ints(3)}.items():
    program(f'frexp_{kind}', lambda np, x: np.frexp(x)[0], x)
    program(f'frexp_exponent_{kind}', lambda np, x: np.frexp(x)[1], x)
    program(f'modf_{kind}', lambda np, x: np.modf(x)[0], x)
    program(f'modf_whole_{kind}', lambda np, x: np.modf(x)[1], x)
program('modf_of_integers', lambda np, x: np.modf(x)[0],
        numpy.array([-2., 0., 3.]), truth=lambda np, x: x + 0)
program('nextafter', lambda np, x, y: (np.nextafter(x, y) - x) * 1e8,
        numpy.float32([1.02, 2.0]), numpy.float32([[1.0], [2.05]]),
        truth=lambda np, x, y: 0 * x * y, jax='JAX has no derivative of it')
program('gcd', lambda np, x, y: np.gcd(x, y), ints(3), ints(2, 3))
program('lcm', lambda np, x, y: np.lcm(x, y), ints(3) + 4,
        numpy.array([6, 8, 9]))
program('bitwise_count', lambda np, x: np.bitwise_count(x),
        numpy.array([1, 3, 7]))

for kind, x in {'array': f64(3) * 6 - 7, 'ints': ints(2),
                'large': f64(2) + 300}.items():
    program(f'i0_{kind}', lambda np, x: np.i0(x), x, double=True)

program('piecewise', lambda np, x: np.piecewise(
    x, [x < 0.7, x > 1.2], [lambda x: x * x, np.sqrt, 3.0]), f64(6))
program('piecewise_overlap', lambda np, x: np.piecewise(
    x, [x > 0, x > 1], [np.sin, np.cos]), f32(4))
program('piecewise_0d', lambda np, x: np.piecewise(
    x, [x > 0, x < 0], [np.exp, -1]), f64())
program('piecewise_one', lambda np, x: np.piecewise(
    x, x > 1, [np.exp, 2]), f64(4), jax='JAX asks for a list')
program('piecewise_ints', lambda np, x: np.piecewise(
    x, [x > 2], [lambda x: x / 2, 1]), ints(4))
