"""Guard the hard points: values to the bit, and slopes by mathematics."""

from dataclasses import replace
from functools import partial
from itertools import product
from math import nan

import numpy as np
import pytest

import autodiff_mini as ad
from tests.support.numerical import python_type
from tests.support.point_slopes import SLOPED, ones, pull
from tests.support.traces import rows_of_numpy, spied
from tests.tables.hard_points import (
    OPERATORS, POINTS, SLOPES, SLOPES_OF_TWO, SPECIAL, function_of)
from tests.tables.programs import is_inexact

pytestmark = [pytest.mark.filterwarnings('ignore'),
              pytest.mark.usefixtures('silent')]


# What is compared

def assert_same_bits(actual, expected):
    """Assert equal types and bits; NaN equals NaN, and -0.0 is not 0.0."""
    assert python_type(actual) is python_type(expected)
    x, y = np.asarray(actual), np.asarray(expected)
    assert (x.shape, x.dtype) == (y.shape, y.dtype)
    for a, b in [(x.real, y.real), (x.imag, y.imag)]:
        same = (a == b) & (np.signbit(a) == np.signbit(b)
                           if a.dtype.kind == 'f' else True)
        assert np.all(same | (a != a) & (b != b)), (actual, expected)


def assert_near(actual, expected, ulps=8):
    """Assert equal shapes and dtypes, and values within some ulps."""
    x, y = np.asarray(actual), np.asarray(expected)
    assert (x.shape, x.dtype) == (y.shape, y.dtype)
    eps = np.finfo(x.dtype).eps if x.dtype.kind in 'fc' else 0
    np.testing.assert_allclose(x, y, ulps * eps, 0)


def outcome(f, *args):
    """Return what `f` returns, or the type of what it raises."""
    try:
        return f(*args)
    except Exception as error:
        return type(error)


def assert_same_outcome(actual, expected):
    if isinstance(expected, type):
        assert actual is expected
    else:
        assert_same_bits(actual, expected)


BY_ROW = {point.row: [] for point in POINTS}
for point in POINTS:
    BY_ROW[point.row].append(point)
each_row = pytest.mark.parametrize('row', BY_ROW)


# Each point of a row

@each_row
def test_values_at_hard_points_equal_numpys(row):
    """To the bit, in forward mode and under jit, with the staged types."""
    for point in BY_ROW[row]:
        f, tangents = partial(point.function, np), list(map(ones, point.args))
        push = partial(ad.jvp, f)
        y, y_dot = push(point.args, tangents)
        for value in f(*point.args), ad.jit(f)(*point.args):
            assert_same_bits(value, y)
        assert ad.make_jaxpr(f)(*point.args).out_avals == [ad.typeof(y)]
        assert np.shape(y_dot) == np.shape(y)
        assert np.result_type(y_dot) == (
            y.dtype if is_inexact(y) else ad.float0)
        assert row in map(str, spied(f, *point.args)[1]), point


@each_row
def test_slopes_at_hard_points_are_right(row):
    """If there is a slope, a NaN cotangent comes back as NaN."""
    for point in BY_ROW[row]:
        if not point.bars or point not in SLOPED:
            continue
        for x, x_bar, bad, expected in zip(
                point.args, pull(point), pull(point, nan), point.bars,
                strict=True):
            if expected is not None:
                expected = np.broadcast_to(expected, np.shape(x))
                assert_near(x_bar, expected.astype(np.result_type(x)),
                            point.ulps)
                assert np.all(np.isnan(bad) | (expected == 0)), point


@each_row
def test_both_modes_agree(row):
    """Element-wise programs agree to the bit, others within 8 ulps.

    Under jit, the cotangents are the same to the bit.
    """
    for point in BY_ROW[row]:
        if point in SLOPED:
            check_modes(point)


def check_modes(point):
    # Three factors, as in an exponent's slope, are multiplied in any order.
    ct = 1 if point.row in ('pow', 'float_power') else 0.7
    f, x_bars = partial(point.function, np), pull(point, ct)
    again = ad.jit(lambda *args: pull(replace(point, args=args), ct))
    for i, (x, x_bar) in enumerate(zip(point.args, x_bars)):
        if not is_inexact(x):
            assert np.result_type(x_bar) == ad.float0
        elif point.elementwise:
            _, y_dot = ad.jvp(
                lambda x: f(*point.args[:i], x, *point.args[i + 1:]), (x,),
                (x.dtype.type(ct) * ones(x),))
            assert_same_bits(x_bar, y_dot.astype(x_bar.dtype))
        elif np.all(np.isfinite(x_bar)):
            forwards = ad.jacfwd(f, i)(*point.args)
            backwards = ad.jacrev(f, i)(*point.args)
            assert_near(backwards.astype(forwards.dtype), forwards)
    for x_bar, other in zip(x_bars, again(*point.args), strict=True):
        assert_same_bits(other, x_bar)


@each_row
def test_vmap_is_the_stack(row):
    """Map the point and, if possible, its elements in reverse order."""
    for point in BY_ROW[row]:
        check_vmap(point)


def check_vmap(point):
    def mapped(*args):
        if point not in SLOPED:
            return [f(*args)]
        y, f_vjp = ad.vjp(f, *args)
        return [y, *f_vjp(ones(y))]

    f = partial(point.function, np)
    other = [np.flip(x, 0) if np.ndim(x) else x for x in point.args]
    if isinstance(outcome(f, *other), type):
        other = point.args
    both = point.args, other
    args = [np.stack(xs) for xs in zip(*both)]
    expected = [mapped(*xs) for xs in both]
    for y, *ys in zip(ad.vmap(mapped)(*args), *expected):
        if np.result_type(y) != ad.float0:
            assert_near(y, np.stack(ys), point.ulps)


@pytest.mark.parametrize('row', SLOPES_OF_TWO)
def test_ranks_can_differ_under_vmap(row):
    """The elements are as many as the rows, so a mistake raises no error.
    """
    kind = int if row in ('and', 'or', 'xor') or 'shift' in row else float
    x, y = np.arange(1, 4).astype(kind), np.arange(9).astype(kind)
    y = y.reshape(3, 3)[::-1]
    for f in function_of(row), lambda np, x, y: function_of(row)(np, y, x):
        rows = [f(np, *both) for both in zip(x, y)]
        assert_near(ad.vmap(partial(f, np))(x, y), np.stack(rows))


# Single numbers, of NumPy and of Python, which take other code paths

NUMBERS = [*SPECIAL, 0.5, -2.0, 3.0]
ROWS = [row for row in dict.fromkeys(point.row for point in POINTS)
        if any(point.elementwise for point in POINTS if point.row == row)
        and row not in ('real', 'imag')]


@pytest.mark.parametrize('row', ROWS)
def test_hard_single_numbers_are_right(row):
    """Values and slopes equal NumPy's, eagerly and under jit."""
    f = OPERATORS.get(row) or partial(function_of(row), np)
    count = 1 if row in SLOPES else 2
    if row in ('and', 'or', 'xor', 'invert', 'left_shift', 'right_shift'):
        pairs = product([False, True], repeat=count)
        pairs = [tuple(map(np.bool_, xs)) for xs in pairs]
        if row.endswith('shift'):
            pairs = [tuple(map(np.int8, xs)) for xs in [(-128, 1), (1, 7)]]
    else:
        pairs = [tuple(map(np.float64, xs))
                 for xs in product(NUMBERS, repeat=count)]

    def slopes(*xs):
        return ad.jvp(f, xs, list(map(ones, xs)))

    quick, quick_slopes = ad.jit(f), ad.jit(slopes)
    y = f(*pairs[-1])
    assert ad.make_jaxpr(f)(*pairs[-1]).out_avals == [ad.typeof(y)]
    for xs in pairs:
        y, y_dot = slopes(*xs)
        assert_same_bits(y, f(*xs))
        assert_same_bits(quick(*xs), y)
        again, again_dot = quick_slopes(*xs)
        assert_same_bits(again, y)
        if is_inexact(y):
            assert_same_bits(again_dot, y_dot)


@pytest.mark.parametrize('row', OPERATORS)
def test_hard_python_numbers_are_right(row):
    """They raise the same errors, and they stay Python numbers."""
    f, count = OPERATORS[row], 1 + (row not in SLOPES)
    quick = ad.jit(f)
    for xs in product([3, 2.5], repeat=count):
        assert ad.make_jaxpr(f)(*xs).out_avals == [ad.typeof(f(*xs))]
    for xs in product([*NUMBERS, 0, 2, -3], repeat=count):
        expected = outcome(f, *xs)
        tangents = list(map(ones, xs))
        actual = outcome(lambda *xs: ad.jvp(f, xs, tangents)[0], *xs)
        assert_same_outcome(actual, expected)
        assert_same_outcome(outcome(quick, *xs), expected)


@pytest.mark.parametrize('row', sorted({*SLOPES, *SLOPES_OF_TWO} - {
    'and', 'or', 'xor', 'invert', 'left_shift', 'right_shift'}))
def test_slopes_at_python_numbers_equal_numpys(row):
    """No rule computes with Python's `/` and `**`, which raise errors."""
    f, count = partial(function_of(row), np), 1 + (row not in SLOPES)
    for xs in product(filter(is_inexact, NUMBERS), repeat=count):
        assert_same_outcome(
            *[np.float64(ad.jvp(f, xs, list(map(ones, xs)))[1])
              if is_inexact(f(*xs)) else f(*xs)
              for xs in (xs, list(map(np.float64, xs)))])


# The table

def test_each_primitive_has_its_hard_points():
    """Most primitives of the wing `more_numpy` have their own tests."""
    assert {point.row for point in POINTS} == set(map(
        str, rows_of_numpy()))
