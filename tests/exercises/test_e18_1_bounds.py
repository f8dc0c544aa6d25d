import numpy as np
import pytest

from autodiff_mini import draft as ad


def cliff(x):
    return np.tanh(1000 * (x - 0.3337))


def test_the_order_of_the_ends_is_kept_or_exchanged(exercise):
    assert exercise.bounds(lambda x: np.exp(x) + 1)((0.0, 2.0)) == (
        2, np.exp(2.0) + 1)
    assert exercise.bounds(lambda x: 1 - x)((0.0, 2.0)) == (-1, 1)
    assert exercise.bounds(lambda x: -x)((1.0, 3.0)) == (-3, -1)


def test_a_product_has_four_corners(exercise):
    product = exercise.bounds(lambda x, y: x * y)
    assert product((-1.0, 2.0), (-3.0, 5.0)) == (-6, 10)
    assert product((1.0, 2.0), (-3.0, 5.0)) == (-6, 10)


def test_zero_times_infinity_is_zero(exercise):
    product = exercise.bounds(lambda x, y: x * y)
    assert product((0.0, 0.0), (-np.inf, np.inf)) == (0, 0)
    ratio = exercise.bounds(lambda x: x / x)
    for interval in [(0.0, 1.0), (-1.0, 1.0), (-1.0, 0.0), (1.0, 2.0)]:
        low, high = ratio(interval)
        assert low <= 1 <= high
    inverse = exercise.bounds(lambda x: 1 / x)
    assert inverse((2.0, 4.0)) == (0.25, 0.5)
    assert inverse((-4.0, -2.0)) == (-0.5, -0.25)


def test_a_sine_is_in_range_and_not_wider_than_its_operand(exercise):
    for interval in [(0.0, 0.5), (1.0, 2.0), (-2.0, -1.0), (2.0, 9.0)]:
        low, high = exercise.bounds(np.sin)(interval)
        sines = np.sin(np.linspace(*interval, 101))
        assert -1 <= low <= sines.min() + 1e-12
        assert sines.max() - 1e-12 <= high <= 1
        assert high - low <= interval[1] - interval[0] + 1e-12
    assert exercise.bounds(np.sin)((-np.inf, np.inf)) == (-1, 1)


def test_a_value_that_does_not_depend_on_x_has_equal_ends(exercise):
    assert exercise.bounds(lambda x: 3.0)((0.0, 1.0)) == (3, 3)
    assert exercise.bounds(lambda x, y: y)((0.0, 1.0), (2.0, 2.0)) == (2, 2)


def test_a_result_can_be_a_tree(exercise):
    f = lambda x: {'a': x, 'b': [-x, 2 * x]}
    assert exercise.bounds(f)((1.0, 2.0)) == {
        'a': (1, 2), 'b': [(-2, -1), (2, 4)]}


def test_the_ends_can_be_arrays(exercise):
    f = lambda x: np.sum(2 * x[1:])
    assert exercise.bounds(f)((np.zeros(3), np.ones(3))) == (0, 4)


def test_vmap_takes_many_intervals(exercise):
    parabola = lambda x: x * (1 - x)
    piece = lambda low, high: exercise.bounds(parabola)((low, high))
    ends = np.linspace(0.0, 1.0, 101)
    lows, highs = ad.vmap(piece)(ends[:-1], ends[1:])
    assert lows.min() == 0 and highs.max() == pytest.approx(0.255)


def test_the_slope_of_the_cliff(exercise):
    assert exercise.bounds(ad.grad(cliff))((0.0, 1.0)) == (0, 2000)


def test_the_derivative_of_an_end(exercise):
    high = lambda x: exercise.bounds(np.exp)((0.0, x))[1]
    assert ad.grad(high)(2.0) == pytest.approx(np.exp(2.0))


def test_a_function_captures_a_tracer(exercise):
    high = lambda x: exercise.bounds(lambda y: x * y)((0.0, 1.0))[1]
    assert ad.grad(high)(2.0) == 1


def test_a_call_is_opened(exercise):
    f = ad.custom_jvp(lambda x: 2 * x)
    f.defjvp(lambda primals, tangents: (f(*primals), 3 * tangents[0]))
    assert exercise.bounds(f)((1.0, 2.0)) == (2, 4)
    assert exercise.bounds(ad.grad(f))((1.0, 2.0)) == (3, 3)
    assert exercise.bounds(ad.jit(lambda x: -x))((1.0, 2.0)) == (-2, -1)
