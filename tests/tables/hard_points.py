"""The table of hard points, where the rules of primitives can go wrong.

They are zeros of both signs, infinities, NaN, ties, numbers near the limits
of a float, the extremes of integers, repeated elements, and axes of length 0
and 1. Each point has the derivative that mathematics gives it. If JAX gives
another one, `why` says why we do not follow it. A point calls `function(np,
*args)`, so `jax.numpy` can replace NumPy.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from math import (
    cos, cosh, e, inf, log, nan, pi, sin, sinh, sqrt, tan, tanh)

import numpy as np

import autodiff_mini as ad


@dataclass(frozen=True, eq=False)
class Point:
    """A hard point of a primitive.

    Args:
        row: the name of the primitive.
        name: unique in its row.
        function: takes `np` and the arguments.
        args: the point, or many points if the function is elementwise.
        bars: each argument's cotangent for a result's cotangent of ones;
            None if it has no derivative, or if another test checks it.
        elementwise: whether each element of the result depends only on the
            elements in its place.
        why: what JAX does differently, and why we do not follow it.
        jax: whether JAX can run it.
        ulps: how far from the truth a slope may be.
    """

    row: str
    name: str
    function: Callable
    args: tuple
    bars: tuple | None = None
    elementwise: bool = False
    why: str = ''
    jax: bool = True
    ulps: int = 8

    def __str__(self):
        return f'{self.row}-{self.name}'


POINTS = []


def point(row, name, function, *args, **options):
    """Add a point to the table."""
    POINTS.append(Point(row, name, function, args, **options))


# Functions of one number, with the slope at each of the SPECIAL numbers. If a
# function has no value there, the slope is that of its formula.

SPECIAL = [0.0, -0.0, 1e-300, 1.0, -1.0, 1e300, -1e300, inf, -inf, nan]
LOG_2, LOG_10 = log(2), log(10)
C, S = cos(1e300), sin(1e300)

SLOPES = {
    'sin': [1, 1, 1, cos(1), cos(1), C, C, nan, nan, nan],
    'cos': [0, 0, -1e-300, -sin(1), sin(1), -S, S, nan, nan, nan],
    'tan': [1, 1, 1, 1 + tan(1)**2, 1 + tan(1)**2, C**-2, C**-2,
            nan, nan, nan],
    'tanh': [1, 1, 1, 1 - tanh(1)**2, 1 - tanh(1)**2, 0, 0, 0, 0, nan],
    'exp': [1, 1, 1, e, 1 / e, inf, 0, inf, 0, nan],
    'exp2': [LOG_2, LOG_2, LOG_2, 2 * LOG_2, LOG_2 / 2, inf, 0, inf, 0, nan],
    'expm1': [1, 1, 1, e, 1 / e, inf, 0, inf, 0, nan],
    'log': [inf, -inf, 1e300, 1, -1, 1e-300, -1e-300, 0, 0, nan],
    'log2': [inf, -inf, 1e300 / LOG_2, 1 / LOG_2, -1 / LOG_2, 1e-300 / LOG_2,
             -1e-300 / LOG_2, 0, 0, nan],
    'log10': [inf, -inf, 1e300 / LOG_10, 1 / LOG_10, -1 / LOG_10,
              1e-300 / LOG_10, -1e-300 / LOG_10, 0, 0, nan],
    'log1p': [1, 1, 1, 0.5, inf, 1e-300, -1e-300, 0, 0, nan],
    'sqrt': [inf, -inf, 5e149, 0.5, nan, 5e-151, nan, 0, nan, nan],
    'cbrt': [inf, inf, 1e200 / 3, 1 / 3, 1 / 3, 1e-200 / 3, 1e-200 / 3,
             0, 0, nan],
    'reciprocal': [-inf, -inf, -inf, -1, -1, 0, 0, 0, 0, nan],
    'arcsin': [1, 1, 1, inf, inf, nan, nan, nan, nan, nan],
    'arccos': [-1, -1, -1, -inf, -inf, nan, nan, nan, nan, nan],
    'arctan': [1, 1, 1, 0.5, 0.5, 0, 0, 0, 0, nan],
    'sinh': [1, 1, 1, cosh(1), cosh(1), inf, inf, inf, inf, nan],
    'cosh': [0, 0, 1e-300, sinh(1), -sinh(1), inf, -inf, inf, -inf, nan],
    'arcsinh': [1, 1, 1, sqrt(0.5), sqrt(0.5), 1e-300, 1e-300, 0, 0, nan],
    'arccosh': [nan, nan, nan, inf, nan, 1e-300, nan, 0, nan, nan],
    'arctanh': [1, 1, 1, inf, inf, 0, 0, 0, 0, nan],
    'deg2rad': [pi / 180] * 10,
    'rad2deg': [180 / pi] * 10,
    'neg': [-1] * 10,
    'abs': [0, 0, 1, 1, -1, 1, -1, 1, -1, nan],
    'sign': [0] * 10,
    'floor': [0] * 10,
    'ceil': [0] * 10,
    'rint': [0] * 10,
    'trunc': [0] * 10,
    'conj': [1] * 10,
    'isfinite': None,
    'signbit': None,
    'invert': None,
}

# Functions of two numbers: x, y, and the slopes there.

HALF, SIXTH = 0.5, 1 / 6

POWERS = [
    (0, 0, 0, 0), (0, -0.0, 0, 0), (-0.0, 0, 0, 0), (0, 1, 1, 0),
    (0, 2, 0, 0), (0, 0.5, inf, 0), (0, -1, -inf, nan),
    (1, 0, 0, 0), (-1, 0, 0, nan), (-2, 2, -4, nan),
    (-2, 3, 12, nan), (-2, -1, -0.25, nan), (-2, 0.5, nan, nan),
    (2, -2, -0.25, log(2) / 4),
    (inf, 1, 1, inf), (inf, 0, 0, inf), (1, inf, inf, 0),
    (1, nan, nan, 0), (nan, 1, 1, nan), (nan, 0, nan, nan),
    (1e300, 1, 1, 1e300 * log(1e300)),
    (1e-300, 2, 2e-300, 0), (1e300, 2, 2e300, inf)]

EXTREMA = [
    (0, 0, HALF, HALF), (0, -0.0, HALF, HALF), (2, 2, HALF, HALF),
    (inf, inf, HALF, HALF), (-inf, -inf, HALF, HALF), (1, 0, 1, 0),
    (0, 1, 0, 1), (inf, -inf, 1, 0), (1, inf, 0, 1), (-inf, 1, 0, 1),
    (nan, 1, 0, 0), (1, nan, 0, 0), (nan, nan, 0, 0), (-0.0, 0, HALF, HALF),
    (1e300, 1, 1, 0)]
NUMBERS_ONLY = [
    (1, 0, 1, 0), (0, 1, 0, 1), (inf, -inf, 1, 0), (1, inf, 0, 1),
    (nan, 1, 0, 1), (1, nan, 1, 0), (nan, -inf, 0, 1), (nan, nan, 0, 0),
    (0, 0, HALF, HALF), (0, -0.0, HALF, HALF), (-0.0, 0, HALF, HALF),
    (inf, inf, HALF, HALF)]
LOGARITHMS = [
    (0, 0, HALF, HALF), (-inf, -inf, HALF, HALF), (inf, inf, HALF, HALF),
    (inf, -inf, 1, 0), (1, inf, 0, 1), (-inf, 1, 0, 1), (nan, 1, nan, nan),
    (1, nan, nan, nan), (1e300, 1, 1, 0), (1e300, 1e300, HALF, HALF),
    (-1e300, 0, 0, 1)]


def mirrored(points):
    """Return the points of a minimum, from those of the maximum."""
    return [(-float(x), -float(y), *slopes) for x, y, *slopes in points]


SLOPES_OF_TWO = {
    'add': [(0, -0.0, 1, 1), (inf, -inf, 1, 1), (nan, 1, 1, 1),
            (1e300, 1e300, 1, 1)],
    'sub': [(0, -0.0, 1, -1), (inf, inf, 1, -1), (1, nan, 1, -1),
            (1e300, 1e300, 1, -1)],
    'mul': [(0, -0.0, 0, 0), (inf, 0, 0, inf), (nan, 1, 1, nan),
            (1e300, 1e300, 1e300, 1e300), (1e-300, 1e-300, 1e-300, 1e-300),
            (-2, inf, inf, -2)],
    'div': [(0, 0, inf, nan), (0, -0.0, -inf, nan), (1, 0, inf, -inf),
            (-1, 0, inf, inf), (0, 1, 1, 0), (inf, inf, 0, nan),
            (1, inf, 0, 0), (inf, 1, 1, -inf), (nan, 1, 1, nan),
            (1, nan, nan, nan), (1e300, 1e300, 1e-300, -1e-300),
            (1e-300, 1e-300, 1e300, -1e300), (-2, 4, 0.25, 0.125)],
    'pow': POWERS,
    'float_power': POWERS,
    'max': EXTREMA, 'min': mirrored(EXTREMA),
    'fmax': NUMBERS_ONLY,
    'fmin': mirrored(NUMBERS_ONLY),
    'copysign': [(1, 2, 1, 0), (1, -2, -1, 0), (-1, 2, -1, 0),
                 (-1, -0.0, 1, 0), (1, -0.0, -1, 0), (0, -0.0, -1, 0),
                 (-0.0, 0, -1, 0), (inf, -inf, -1, 0), (nan, 1, 1, 0),
                 (1, nan, 1, 0), (1e300, -1e-300, -1, 0)],
    'floor_divide': [(0, 0, 0, 0), (1, 0, 0, 0), (7, -2, 0, 0),
                     (-7, 2, 0, 0), (inf, 1, 0, 0), (1, -inf, 0, 0),
                     (nan, 1, 0, 0)],
    'remainder': [(0, 0, 1, nan), (1, 0, 1, -inf), (0, -1, 1, 0),
                  (2, 2, 1, -1), (7, -2, 1, 4), (-7, 2, 1, 4), (6, 3, 1, -2),
                  (1, inf, 1, 0), (0.5, -inf, 1, 1), (inf, 1, 1, nan),
                  (nan, 1, 1, nan), (1, nan, 1, nan),
                  (1e300, 1e300, 1, -1)],
    'fmod': [(0, 0, 1, nan), (1, 0, 1, nan), (0, -1, 1, 0), (2, 2, 1, -1),
             (7, -2, 1, 3), (-7, 2, 1, 3), (6, 3, 1, -2), (1, inf, 1, 0),
             (0.5, -inf, 1, 0), (inf, 1, 1, nan), (nan, 1, 1, nan),
             (1, nan, 1, nan), (1e300, 1e300, 1, -1)],
    'arctan2': [(0, 0, nan, nan), (0, 1, 1, 0), (0, -1, -1, 0),
                (1, 0, 0, -1), (-1, 0, 0, 1), (-2, 2, 0.25, 0.25),
                (1, inf, 0, 0), (-1, -inf, 0, 0), (inf, 1, 0, 0),
                (inf, inf, nan, nan), (nan, 1, nan, nan), (1, nan, nan, nan),
                (1e300, 1e300, 5e-301, -5e-301),
                (1e-300, 1e-300, 5e299, -5e299)],
    'hypot': [(0, 0, 0, 0), (0, -0.0, 0, 0), (1, 0, 1, 0), (0, -1, 0, -1),
              (-3, 4, -0.6, 0.8), (1, inf, 0, 1), (-inf, 1, -1, 0),
              (inf, inf, nan, nan), (nan, 1, nan, nan),
              (1e300, 1e300, sqrt(HALF), sqrt(HALF)),
              (1e-300, 1e-300, sqrt(HALF), sqrt(HALF))],
    'logaddexp': [*LOGARITHMS, (0, log(5), SIXTH, 5 * SIXTH)],
    'logaddexp2': [*LOGARITHMS, (0, 2, 0.2, 0.8)],
    'heaviside': [(0, 3, 0, 1), (-0.0, 3, 0, 1), (1, 3, 0, 0), (-1, 3, 0, 0),
                  (inf, 3, 0, 0), (nan, 1, 0, 0), (0, nan, 0, 1),
                  (1, nan, 0, 0)],
    'lt': None, 'le': None, 'gt': None, 'ge': None, 'eq': None, 'ne': None,
    'and': None, 'or': None, 'xor': None,
    'left_shift': None, 'right_shift': None,
}

# Where JAX differs, by row and point.

OVERFLOW = 'JAX squares on the way, and what is squared is too large'
NO_VALUE = 'JAX has a slope where there is no value'
CANCELED = 'JAX: beside 1e300 the log of 2 is lost, and both slopes are 1'
QUOTIENT = 'JAX: inf / inf, where the limit is plain'
SHARED = 'the slopes of any two numbers sum to 1; JAX: to 2'
WHY = [
    ('abs', 0.0, "abs'(0) is NumPy's sign, 0; JAX says 1"),
    ('abs', -0.0, "abs'(0) is NumPy's sign, 0; JAX says 1"),
    ('abs', nan, 'JAX: -1, for NaN is not >= 0'),
    ('arcsinh', 1e300, OVERFLOW),
    ('arcsinh', -1e300, OVERFLOW),
    ('arccosh', 1e300, OVERFLOW),
    ('arccosh', -1.0, NO_VALUE),
    ('arccosh', -1e300, NO_VALUE),
    ('arccosh', -inf, NO_VALUE),
    ('div', 1e300, 1e300, OVERFLOW),
    ('div', 1e-300, 1e-300, OVERFLOW),
    *[(row, *xs, 'x**0. is 1 for all x; JAX says NaN')
      for row in ('pow', 'float_power')
      for xs in [(0, 0), (0, -0.0), (-0.0, 0)]],
    ('remainder', inf, 1, NO_VALUE),
    ('fmod', 1, 0, NO_VALUE),
    ('fmod', inf, 1, NO_VALUE),
    ('arctan2', 1e300, 1e300, OVERFLOW),
    ('arctan2', 1e-300, 1e-300, OVERFLOW),
    ('hypot', 0, 0, 'the cone has no slope at its tip: 0, as for abs'),
    ('hypot', 0, -0.0, 'the cone has no slope at its tip: 0, as for abs'),
    ('hypot', 1e300, 1e300, OVERFLOW),
    ('hypot', 1e-300, 1e-300, OVERFLOW),
    ('logaddexp', -inf, -inf, 'JAX: -inf + inf'),
    ('logaddexp2', -inf, -inf, 'JAX: -inf + inf'),
    ('logaddexp', 1, inf, 'JAX: exp(1 - inf + inf), which is e'),
    ('logaddexp2', 1, inf, 'JAX: exp2(1 - inf + inf), which is 2'),
    ('heaviside', nan, 1, 'JAX takes NaN for 0'),
    ('copysign', -0.0, 0, 'JAX asks x >= 0, which -0.0 is'),
    ('copysign', nan, 1, 'JAX asks x >= 0, which NaN is not'),
    *[(row, *[sign * float(x) for x in xs],
       'a tie is shared; JAX gives all to one')
      for row, sign in (('fmax', 1), ('fmin', -1))
      for xs in [(nan, nan), (0, 0), (0, -0.0), (-0.0, 0), (inf, inf)]],
    ('arctan2', 1, inf, QUOTIENT),
    ('arctan2', -1, -inf, QUOTIENT),
    ('arctan2', inf, 1, QUOTIENT),
    ('hypot', 1, inf, QUOTIENT),
    ('hypot', -inf, 1, QUOTIENT),
    ('logaddexp', 1e300, 1e300, CANCELED),
    ('logaddexp2', 1e300, 1e300, CANCELED),
    ('logaddexp', inf, inf, SHARED),
    ('logaddexp2', inf, inf, SHARED),
]

NUMPY_NAMES = {
    'neg': 'negative', 'abs': 'absolute', 'conj': 'conjugate',
    'sub': 'subtract', 'mul': 'multiply', 'div': 'divide', 'pow': 'power',
    'max': 'maximum', 'min': 'minimum', 'lt': 'less', 'le': 'less_equal',
    'gt': 'greater', 'ge': 'greater_equal', 'eq': 'equal',
    'ne': 'not_equal', 'or': 'bitwise_or',
    'and': 'bitwise_and', 'xor': 'bitwise_xor',
}
OPERATORS = {
    'neg': operator.neg, 'abs': operator.abs, 'add': operator.add,
    'sub': operator.sub, 'mul': operator.mul, 'div': operator.truediv,
    'pow': operator.pow, 'floor_divide': operator.floordiv,
    'remainder': operator.mod, 'lt': operator.lt, 'le': operator.le,
    'gt': operator.gt, 'ge': operator.ge, 'eq': operator.eq,
    'ne': operator.ne,
}


def function_of(row):
    """Return the NumPy function of a row."""
    name = NUMPY_NAMES.get(row, row)
    return lambda np, *xs: getattr(np, name)(*xs)


def slopes_by_point():
    """Return the points of each row, with their slopes."""
    one = {row: [((x,), (slope,)) for x, slope in zip(SPECIAL, slopes)]
           for row, slopes in SLOPES.items() if slopes}
    two = {row: [((x, y), (x_bar, y_bar)) for x, y, x_bar, y_bar in points]
           for row, points in SLOPES_OF_TWO.items() if points}
    return one | two


def look_up(table, row, xs):
    """Return a table's entry for a point, where -0.0 differs from 0.0."""
    here = repr([*map(float, xs)])
    return next((text for name, *at, text in table
                 if name == row and repr([*map(float, at)]) == here), '')


for row, points in slopes_by_point().items():
    plain = []
    for xs, slopes in points:
        why = look_up(WHY, row, xs)
        if why:
            point(row, f'at {", ".join(str(float(x)) for x in xs)}',
                  function_of(row),
                  *map(np.float64, xs), bars=slopes, elementwise=True,
                  why=why)
        else:
            plain.append((xs, slopes))
    xs, slopes = [tuple(map(np.array, zip(*part))) for part in zip(*plain)]
    point(row, 'all', function_of(row), *[x.astype(float) for x in xs],
          bars=slopes, elementwise=True)

# The same functions at the ends of each kind of number. The values must equal
# NumPy's, and the two modes must agree.

KINDS = {
    'half': np.array([0, -0.0, inf, -inf, nan, 1, -1, 65504, 6e-8],
                     np.float16),
    'single': np.array([0, -0.0, inf, -inf, nan, 1, -1, 3e38, 1e-45],
                       np.float32),
    'double': np.array([0, -0.0, inf, -inf, nan, 1, -1, 0.5, 1.7e308,
                        -1e300, 1e-300, 5e-324, -5e-324]),
    'complex': np.array([0, complex(-0.0, -0.0), 1, -1j, inf, 1e300j,
                         complex(0, nan), complex(inf, -inf)]),
    'int8': np.array([-128, -127, -1, 0, 1, 127], np.int8),
    'uint8': np.array([0, 1, 128, 255], np.uint8),
    'int64': np.array([-2**63, -1, 0, 1, 2**63 - 1]),
    'bool': np.array([False, True]),
    'empty': np.zeros(0),
}
AMOUNTS = {'int8': [0, 1, 7, 8], 'uint8': [0, 1, 7, 8],
           'int64': [0, 1, 62, 63, 64]}


def refused(function, *args):
    """Return whether NumPy has no such function for these numbers."""
    with np.errstate(all='ignore'):
        try:
            function(np, *args)
        except TypeError:
            return True
    return False


for row in SLOPES:
    for kind, x in KINDS.items():
        if not refused(function_of(row), x):
            point(row, kind, function_of(row), x, elementwise=True,
                  jax=False)
for row in SLOPES_OF_TWO:
    for kind, x in KINDS.items():
        y = x
        if row in ('pow', 'left_shift', 'right_shift') and kind in AMOUNTS:
            y = np.array(AMOUNTS[kind], x.dtype)
        pairs = np.repeat(x, len(y)), np.tile(y, len(x))
        if not refused(function_of(row), *pairs):
            point(row, kind, function_of(row), *pairs, elementwise=True,
                  jax=False)
for row in 'real', 'imag':
    for kind in 'complex', 'empty':
        z = KINDS[kind].astype(complex)
        point(row, kind, function_of(row), z, elementwise=True)
    point(row, 'number', function_of(row), np.complex128(complex(-0.0, nan)))

# All other primitives: a function, and its points: names, arguments, slopes.

E, F, G = np.zeros(0), np.zeros((2, 0)), np.zeros((0, 0))
I8 = np.array([-128, 127, 127], np.int8)
BOOLS = np.array([True, False, True])
BACK, HUGE = np.array([[0.0, 1], [1, 0]]), np.diag([1e300, 1e300])


def vec(*xs):
    return np.array(xs, float)


def changed(place, change):
    """Return a function that changes an array there, and weights it."""
    def write(np, x, y):
        z = np.array(x, like=x + np.sum(y))
        change(z, place, y)
        return z * np.arange(1.0, 1 + x.size).reshape(x.shape)
    return write


def pulled(place):
    """Return the transpose of an index of three numbers, weighted."""
    return lambda np, x: ad.vjp(
        lambda y: y[place], vec(0, 0, 0))[1](x)[0] * vec(1, 2, 3)


TRIANGLE = ('NumPy reads the lower triangle; JAX 0.10.2 reads the mean of '
            'both, unless told symmetrize_input=False')
TIP = 'the cone has no slope at its tip: 0, as for abs'
OTHERS = {
    'where': (lambda np, c, x, y: np.where(c, x, y), [
        ('unselected', (BOOLS[:2], vec(nan, inf), vec(inf, nan)),
         (None, [1, 0], [0, 1])),
        ('numbers_for_a_condition', (vec(0, -0.0, nan, inf), 2.0, 3.0),
         ([0, 0, 0, 0], 2, 2))]),
    'reduce_sum': (lambda np, x: np.sum(x, 0), [
        ('empty', (E,), (E,)), ('beside_an_empty_axis', (F,), (F,)),
        ('infinities', (vec(inf, -inf, nan),), ([1, 1, 1],)),
        ('overflow', (vec(1.7e308, 1.7e308),), ([1, 1],)),
        ('zeros', (vec(-0.0, -0.0),), ([1, 1],))]),
    'cumsum': (lambda np, x: np.cumsum(x), [
        ('empty', (E,), (E,)),
        ('infinities', (vec(inf, -inf, 1),), ([3, 2, 1],)),
        ('zeros', (vec(-0.0, -0.0),), ([2, 1],))]),
    'reduce_prod': (lambda np, x: np.prod(x), [
        ('empty', (E,), (E,)), ('one', (vec(0),), ([1],)),
        ('one_zero', (vec(2, 0, 3),), ([0, 6, 0],)),
        ('two_zeros', (vec(0, 5, -0.0),), ([0, 0, 0],)),
        ('infinity', (vec(2, inf),), ([inf, 2],)),
        ('nan', (vec(nan, 2),), ([2, nan],)),
        ('infinity_and_zero', (vec(inf, 0),), ([0, inf],)),
        ('overflow', (vec(1e300, 1e300),), ([1e300, 1e300],)),
        ('underflow', (vec(1e-300, 1e-300, 1e300),), ([1, 1, 0],),
         {'why': 'JAX multiplies from the right'}),
        ('negative', (vec(-1, -2, -3, -4),), ([-24, -12, -8, -6],))]),
    'cumprod': (lambda np, x: np.cumprod(x), [
        ('empty', (E,), (E,)),
        ('zeros', (vec(0, 2, 0, 3),), ([3, 0, 0, 0],)),
        ('infinity', (vec(inf, 2),), ([3, inf],)),
        ('nan', (vec(2, nan),), ([nan, 2],))]),
    'reshape': (lambda np, x: np.reshape(x, ()), [
        ('to_0d', (vec(-0.0),), ([1],))]),
    'transpose': (lambda np, x: np.transpose(x) * np.array([[1.0, 2]]), [
        ('nan', (np.array([[nan], [inf]]),), ([[1], [2]],))]),
    'broadcast_to': (lambda np, x: np.broadcast_to(x, (0, 1)), [
        ('to_empty', (vec(nan),), ([0],))]),
    'matmul': (lambda np, x, y: x @ y, [
        ('nothing_inside', (F, F.T), (F, F.T)),
        ('infinity_times_zero', (vec(inf, 1)[None], vec(0, 1)[:, None]),
         ([[0, 1]], [[inf], [1]])),
        ('row_and_column', (vec(1, 2)[:, None], vec(3, inf)[None]),
         ([[inf], [inf]], [[3, 3]])),
        ('overflow', (vec(1e300, 1), vec(1e300, 1)),
         ([1e300, 1], [1e300, 1])),
        ('int8', (I8, I8), None), ('bools', (BOOLS, BOOLS), None)]),
    'stack': (lambda np, x, y: np.stack([x, y, x], -1) * np.array([
        1.0, 2, 4]), [
            ('empty', (E, E), (E, E)), ('scalars', (np.float64(nan), 2.0),
                                        (5, 2)),
            ('kinds', (I8[:2], vec(nan, inf)), (None, [2, 2]))]),
    'concatenate': (lambda np, x, y: np.concatenate([x, y, x]) * 3.0, [
        ('nothing_and_something', (E, vec(nan, 1)), (E, [3, 3])),
        ('kinds', (I8[:2], vec(nan, inf)), (None, [3, 3]))]),
    'index': (lambda np, x, i: ad.asarray(x)[i] if np.__name__ == 'numpy'
              else x[i], [
        ('repeated', (vec(nan, 2, inf), np.array([[2, 2], [-1, 0]])),
         ([1, 0, 3], None))]),
    'gt': (lambda np, x: np.any(x, 0), [
        ('any', (np.array([[nan, 0, -0.0], [0, 0, 0]]),), None)]),
    'le': (lambda np, x, y: np.isclose(x, y, rtol=0.1), [
        ('isclose', (vec(1.105, 1, inf, nan, 0),
                     vec(1, 1.105, inf, nan, -0.0)), None)]),
    'eq': (lambda np, x: np.all(x, 0), [
        ('all', (np.array([[nan, 0, -0.0], [1, 0, inf]]),), None)]),
    'astype': (lambda np, x: np.astype(x, np.float32), [
        ('overflow', (vec(1e300, -1e300, 1e-300, nan, -0.0),),
         ([1] * 5,))]),
    'solve': (lambda np, a, b: np.linalg.solve(a, b), [
        ('pivot', (BACK, vec(1, 2)), ([[-2, -1], [-2, -1]], [1, 1])),
        ('tiny', (vec(1e-300)[None], vec(1e-300)), ([[-1e300]], [1e300])),
        ('empty', (G, np.zeros((0, 1))), (G, np.zeros((0, 1))))]),
    'cholesky': (lambda np, a: np.linalg.cholesky(a), [
        ('tiny', (vec(1e-300)[None],), ([[5e149]],)),
        ('empty', (G,), (G,)),
        ('one_triangle', (np.array([[4.0, 2], [2, 5]]),),
         ([[0.1875, 0], [0.25, 0.25]],), {'why': TRIANGLE})]),
    'norm_sqrt': (lambda np, x: np.linalg.norm(x, axis=-1), [
        ('tip', (vec(0, -0.0),), ([0, 0],), {'why': TIP}),
        ('stack', (np.array([[3.0, -4.0], [0.0, 0.0]]),),
         ([[0.6, -0.8], [0, 0]],), {'why': TIP}),
        ('nan', (vec(nan, 1),), ([nan, nan],)),
        ('infinite', (vec(inf, 1),), ([nan, 0],))]),
    'det': (lambda np, a: np.linalg.det(a), [
        ('singular', (np.array([[1.0, 2], [2, 4]]),), ([[4, -2], [-2, 1]],)),
        ('of_rank_1', (np.ones((3, 3)),), (np.zeros((3, 3)),)),
        ('empty', (G,), (G,), {'jax': False}),
        ('overflow', (HUGE,), (HUGE,), {'ulps': 1000})]),
    'slogdet': (lambda np, a: np.linalg.slogdet(a)[1], [
        ('stack', (vec(3, -7)[:, None, None],), ([[[1 / 3]], [[-1 / 7]]],)),
        ('overflow', (HUGE,), (np.diag([1e-300, 1e-300]),),
         {'why': OVERFLOW}),
        ('empty', (G,), (G,))]),
    'stop_gradient': (lambda np, x: ad.stop_gradient(x), [
        ('double', (KINDS['double'],), (0 * KINDS['double'][:1],),
         {'jax': False}),
        ('int8', (I8,), None, {'jax': False})]),
}
for row, (function, points) in OTHERS.items():
    for name, args, bars, *options in points:
        point(row, name, function, *args, bars=bars,
              **dict(*options))

for row, name, sign in ('reduce_max', 'max', 1), ('reduce_min', 'min', -1):
    def extremum(np, x, axis=-1, name=name):
        return getattr(np, name)(x, axis)

    for case, x, x_bar in [
            ('tie', vec(2, 1, 2), [0.5, 0, 0.5]),
            ('all_alike', vec(3, 3, 3), [1 / 3, 1 / 3, 1 / 3]),
            ('infinities', vec(inf, inf, 1), [0.5, 0.5, 0]),
            ('far', vec(inf, -inf), [1, 0]),
            ('zeros', sign * vec(0, -0.0), [0.5, 0.5]),
            ('nan', np.array([[2, nan, 2], [3, 3, 3]]),
             [[nan] * 3, [1 / 3] * 3])]:
        point(row, case, extremum, sign * x, bars=(x_bar,))
    point(row, 'beside_an_empty_axis',
          lambda np, x, f=extremum: f(np, x, 0), F, bars=(F,))
for name in 'argmax', 'argmin', 'argsort':
    def place(np, x, name=name):
        return getattr(np, name)(x)

    for case, x in {'nan': vec(1, nan, nan, inf), 'zeros': vec(0, -0.0, 0),
                    'infinities': np.array([[1, inf, -inf], [inf, -inf, 0]]),
                    'int8': I8, 'bools': BOOLS}.items():
        point(name, case, place, x)
point('argsort', 'empty', lambda np, x: np.argsort(x), E)

for row, name, place, x, y, bars in [
        ('scatter', 'over_nan', slice(1, 3), vec(1, nan, inf, 2),
         vec(-0.0, 5), ([1, 0, 0, 4], [2, 3])),
        ('scatter', 'repeated', np.array([1, 0, 1]), vec(1, nan),
         vec(nan, 2, inf), ([0, 0], [0, 1, 2])),
        ('scatter', 'repeated_in_two',
         (np.array([0, -1, 0, 0]), np.array([1, 0, -1, 0])), np.ones((2, 2)),
         vec(nan, 2, 3, 4), ([[0, 0], [0, 4]], [0, 3, 2, 1])),
        ('scatter', 'broadcast_and_repeated', np.array([[1, 1], [0, 1]]),
         vec(1, 2, 3), 5.0, ([0, 0, 3], 3)),
        ('add_at', 'repeated', np.array([1, 1, 0]), vec(0.1, -0.0),
         vec(0.3, -0.3, inf), ([1, 2], [2, 2, 1])),
        ('add_at', 'order', np.array([1, 1, 1]), vec(nan, 1e16),
         vec(1, 1, -1e16), ([1, 2], [2, 2, 2]))]:
    change = operator.setitem if row == 'scatter' else np.add.at
    point(row, name, changed(place, change), x, y, bars=bars, jax=False)
for row, place, x, x_bar in [
        ('add_at', np.array([1, 1, 0]), vec(0.3, 2, inf), [2, 2, 1]),
        ('add_at', np.zeros(0, int), E, E),
        ('scatter', slice(1, 3), vec(nan, -0.0), [2, 3])]:
    point(row, f'pulled_{len(x)}', pulled(place), x, bars=(x_bar,),
          jax=False)
