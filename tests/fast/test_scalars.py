"""Programs of single numbers: which they are, and the Python they become."""


import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.fast.compiler import FastLowered, Version
from autodiff_mini.fast.plan import c_ordered
from autodiff_mini.fast.scalars import is_scalar
from autodiff_mini.fast.simplify import opened, simplify
from tests.test_jit_equals_eager import (
    Raised,
    assert_identical,
    outcome,
    plain,
)
from tests.fast.test_lowering import without_lines
from tests.test_unrolled import unrolled

X, V = np.float64(1.5), np.arange(3.0)


def source(f, *args):
    return without_lines(FastLowered(ad.make_jaxpr(f)(*args)).source)


def text(arguments, *lines):
    """Return the source of a program that tries these lines."""
    return '\n'.join([
        f'def program({arguments}):', '    try:',
        *[f'        {line}' for line in lines],
        '    except (ArithmeticError, ValueError):',
        f'        return careful({arguments})'])


def unless(*names):
    return (f'if not isfinite({" + ".join(names)}):',
            '    raise ArithmeticError')


# The text

SOURCES = {
    'arithmetic': (lambda x, y: (x + y) * 2 - x / y, [X, X], (
        'a, b', 'c = float(a)', 'd = float(b)', 'e = c + d', 'f = e * 2.0',
        'g = c / d', 'h = f - g', *unless('c', 'd', 'h'),
        'return [np.float64(h)]')),
    'powers': (lambda x: (x ** 2, x ** -1), [X], (
        'a', 'b = float(a)', 'c = b ** 2', 'd = b ** (-1)',
        *unless('b', 'c', 'd'), 'return [np.float64(c), np.float64(d)]')),
    'powers_of_numpy': (lambda x, y: (x ** -0.2, 2 ** x, y ** x), [X, 1.5], (
        'a, b', "with np.errstate(all='raise'):", '    c = float(a)',
        '    d = float(np.float64(c) ** (-0.2))',
        '    e = float(np.float64(2) ** c)',
        '    f = float(np.float64(b) ** c)',
        '    if not isfinite(c + b + d + e + f):',
        '        raise ArithmeticError',
        '    return [np.float64(d), np.float64(e), np.float64(f)]')),
    'of_math': (lambda x: np.sqrt(np.sin(x) + np.cos(x)), [X], (
        'a', 'b = float(a)', 'c = sin(b)', 'd = cos(b)', 'e = c + d',
        'f = sqrt(e)', *unless('f'), 'return [np.float64(f)]')),
    'extremes': (lambda x, y: np.maximum(x, y) - np.minimum(x, 0), [X, X], (
        'a, b', 'c = float(a)', 'd = float(b)',
        'e = c if c > d else d if d > c else float(np.maximum(c, d))',
        'f = c if c < 0.0 else 0.0 if 0.0 < c else float(np.minimum(c, 0.0))',
        'g = e - f', *unless('c', 'd', 'g'), 'return [np.float64(g)]')),
    'of_numpy': (lambda x: np.exp(x) + np.hypot(x, 3), [X], (
        'a', "with np.errstate(all='raise'):", '    b = float(a)',
        '    c = float(np.exp(b))', '    d = float(np.hypot(b, 3.0))',
        '    e = c + d', '    if not isfinite(b + e):',
        '        raise ArithmeticError', '    return [np.float64(e)]')),
}


@pytest.mark.parametrize('name', SOURCES)
def test_exactly_this_source(name):
    f, args, lines = SOURCES[name]
    assert source(f, *args) == text(*lines)


def assert_same_outcome(actual, expected):
    """Assert the same results, or errors of the same type."""
    if isinstance(expected, Raised):
        assert actual == expected
    else:
        assert_identical(ad.tree_map(plain, actual), expected)


POINTS = [0.0, -0.0, 1.0, -1.0, 0.3, -2.5, 1e200, -1e-200, 5e-324, 1.7e308,
          np.inf, -np.inf, np.nan, 2.0 ** 53]


@pytest.mark.parametrize('name', SOURCES)
def test_it_computes_what_numpy_does_and_warns_as_it_does(name):
    f, args, _ = SOURCES[name]
    g = ad.jit(f)
    for x in POINTS:
        for y in POINTS[::2] if len(args) > 1 else [None]:
            xs = [type(arg)(value) for arg, value in zip(args, (x, y))]
            expected, said = outcome(f, xs, {})
            actual, heard = outcome(g, xs, {})
            assert_same_outcome(actual, expected)
            assert heard == said


def test_a_long_program_takes_names_again_that_nobody_needs():
    """It took twice the time when each number had a place of its own."""
    def f(x):
        y = x
        for _ in range(100):
            y = np.sin(y) * x + 0.5 / (2.0 + y * y)
        return y, x
    lines = source(f, 1.5).split('\n')
    names = {line.split(' = ')[0] for line in lines if ' = ' in line}
    looked_at = 100     # in the end: the divisors
    assert len(names) < looked_at + 10
    assert sum(' = ' in line for line in lines) == 600
    slope = ad.grad(lambda x: f(x)[0])
    assert ad.jit(f)(1.5) == f(1.5)
    assert ad.jit(slope)(1.5) == slope(1.5)


# Which programs

SCALAR = {
    'ufunc': (np.tanh, X), 'where': (lambda x: np.where(x > 0, x, 1), X),
    'astype': (lambda x: (x > 0).astype('f8'), X),
    'is_finite': (lambda x: np.where(np.isfinite(x), x, 0.0), X),
}
NOT_SCALAR = {
    'a_constant': (lambda x: np.sum(x * np.ones(9)), X),
    'an_integer_inside': (lambda x: x * ((x > 0) * 2), X),
    'a_single_inside': (lambda x: x * x.astype('f4'), X),
    'an_integer_outside': (lambda x: (x * 2, 3), X),
    'a_power_of_python_numbers': (lambda x: x ** 0.5, 1.5),
    'a_power_of_a_scalar': (lambda x: x ** np.int64(2), X),
    'where_of_numbers': (lambda x: np.where(x, x, 1.0), X),
    'where_of_one_truth': (lambda x: np.where(x > 0, x, True), X),
    'no_ufunc': (lambda x: ad.checkpoint(np.sin)(x), X),
    'floor_division_by_a_number': (lambda x: x // 2, X),
    'an_integer_that_is_no_float': (
        lambda x: np.where(x == 2 ** 53 + 1, x, 1.0), 1.5),
}


def scalar(f, *args):
    jaxpr = opened(ad.make_jaxpr(f)(*args))
    return is_scalar(simplify(jaxpr, c_ordered(jaxpr)))


@pytest.mark.parametrize('name', SCALAR)
def test_these_programs_are_of_single_numbers(name):
    f, *args = SCALAR[name]
    assert scalar(f, *args)
    lowered = FastLowered(ad.make_jaxpr(f)(*args))
    assert lowered.fast.scalar and 'try' in lowered.source
    assert 'try' not in lowered.careful.source


@pytest.mark.parametrize('name', NOT_SCALAR)
def test_these_programs_are_not(name):
    f, *args = NOT_SCALAR[name]
    assert not scalar(f, *args)
    assert_identical(ad.jit(f)(*args), f(*args))
    assert not FastLowered(ad.make_jaxpr(f)(*args)).fast.scalar


# When Python's floats give up

def version(f, *args):
    """Return the fast version of a program, and those it asked for help."""
    jaxpr, asked = opened(ad.make_jaxpr(f)(*args)), []

    def careful(*xs):
        asked.append(xs)
        return Version(jaxpr, False)(*xs)
    return Version(jaxpr, True, careful), asked


GIVES_UP = {
    'division': (lambda x: 1 / x, 0.0, -0.0, np.inf, 1e-320),
    'overflow': (lambda x: 1 / (x * x), 1e200, np.inf, -np.inf),
    'power': (lambda x: x ** 3, 1e200, np.inf, np.nan),
    'power_of_a_choice': (lambda x: np.where(x > 0, x, 1.0) ** -0.2,
                          np.inf, np.nan),
    'power_of_numpy': (lambda x: x ** -0.5, 0.0, -1.0, np.inf, np.nan),
    'root': (np.sqrt, -1.0, -1e-300, np.inf),
    'sine': (np.sin, np.inf, -np.inf, np.nan),
    'logarithm': (np.log, 0.0, -1.0),
    'maximum': (lambda x: np.maximum(x, 1.0), np.nan, np.inf),
    'choice': (lambda x: np.where(x < 1, 2.0, x), np.nan, -np.inf),
    'is_finite': (lambda x: np.where(np.isfinite(x * x), x, 2.0), 1e200,
                  np.inf, np.nan),
    'result': (lambda x: x * 2, 1e308, np.nan),
    'inside': (lambda x: np.maximum(x * 2, 1) * 0.0, 1e308, np.nan),
}


@pytest.mark.parametrize('name', GIVES_UP)
def test_what_is_not_finite_is_computed_by_numpy(name):
    f, *points = GIVES_UP[name]
    fast, asked = version(f, X)
    leaves = lambda x: ad.tree_leaves(f(x))
    assert_identical(fast(np.float64(0.75)), leaves(np.float64(0.75)))
    assert asked == []
    for x in map(np.float64, points):
        for state in ({}, {'all': 'ignore'}, {'all': 'raise',
                                              'under': 'ignore'}):
            expected, said = outcome(leaves, (x,), state)
            actual, heard = outcome(fast, (x,), state)
            assert asked.pop() == (x,)
            assert_same_outcome(actual, expected)
            assert heard == said


def test_what_passes_through_sums_is_watched_at_the_end():
    f = lambda x: np.sin(-abs(x + x) * 1.5)
    fast, asked = version(f, X)
    assert without_lines(fast.source).count('isfinite') == 1
    assert_identical(fast(np.float64(1e300)), [f(np.float64(1e300))])
    assert asked == []


# The bits of NumPy

# Loops

LOOPS = {
    'swap': lambda lib, x, ys: lib.scan(
        lambda c, y: ((c[1] * 2, c[0]), c[0] - y), (x, 1.0 * x), ys),
    'numpy': lambda lib, x, ys: lib.scan(
        lambda c, y: (np.log(c * c) + y, np.tanh(c)), x, ys),
    'backwards': lambda lib, x, ys: lib.scan(
        lambda c, y: (c / y, c * c), x, ys, reverse=True),
    'rows_that_overflow_in_sum': lambda lib, x, ys: lib.scan(
        lambda c, y: (-c * 1.1, c), x, ys),
    'steps': lambda lib, x, ys: lib.scan(
        lambda c, y: (np.where(c > 1, 1 / c, c * c), c), x, length=5),
}


@pytest.mark.parametrize('name', LOOPS)
def test_a_loop_is_its_steps(name):
    """Also where one of them is not finite, and in what is warned of."""
    ys, loop = np.array([1.5, 0.25, -3.0]), LOOPS[name]
    f = ad.jit(lambda x, ys: ad.tree_leaves(loop(ad, x, ys)))
    f(X, ys)
    assert 'return careful_loop' in f.source
    g = lambda x, ys: ad.tree_leaves(loop(unrolled, x, ys))
    for x in map(np.float64, [0.7, 0.0, -0.0, 1e200, 1e308, np.inf, np.nan,
                              5e-324]):
        for rows in (ys, np.repeat(ys, 2)[::2], ys * np.array([1, 0, 1])):
            expected, said = outcome(g, (x, rows), {})
            actual, heard = outcome(f, (x, rows), {})
            assert_identical(actual, [np.asarray(y, float)[()]
                                      if np.ndim(y) else y for y in expected])
            assert heard == said


