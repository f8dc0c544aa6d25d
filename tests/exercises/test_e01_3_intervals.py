import numpy as np


def test_factors_of_any_sign(exercise):
    mul = exercise.mul
    assert mul((1, 2), (3, 4)) == (3, 8)
    assert mul((-2, -1), (3, 4)) == (-8, -3)
    assert mul((-2, -1), (-4, -3)) == (3, 8)
    assert mul((-1, 2), (-3, 5)) == (-6, 10)


def test_a_square_is_bounded_too_carefully(exercise):
    assert exercise.bounds(lambda x: x * x, -1.0, 2.0) == (-2.0, 4.0)


def test_a_negative_factor_turns_the_interval_round(exercise):
    assert exercise.bounds(lambda x: -2.0 * x, 1.0, 3.0) == (-6.0, -2.0)


def test_expit_lies_between_its_values_at_the_ends(exercise):
    expit = lambda x: 1 / (1 + np.exp(-x))
    low, high = exercise.bounds(expit, 1.0, 2.0)
    assert np.allclose([low, high], [expit(1.0), expit(2.0)])


def test_no_value_is_out_of_bounds(exercise):
    f = lambda x: x * (x - 3.0) * np.exp(-x) / (x + 7.0)
    low, high = exercise.bounds(f, -2.0, 4.0)
    values = f(np.linspace(-2.0, 4.0, 100))
    assert np.all(low <= values) and np.all(values <= high)
