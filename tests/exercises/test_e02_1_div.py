from fractions import Fraction

import numpy as np

from autodiff_mini import draft as ad


def numbers(exercise):
    """Return the reader's x and y, and the exact slope of x / y in y."""
    x, y = map(np.float64, exercise.breaks_it())
    assert np.isfinite(x) and np.isfinite(y) and y != 0
    return x, y, -Fraction(float(x)) / Fraction(float(y)) ** 2


def is_right(slope, exact):
    return np.isfinite(slope) and abs(
        Fraction(float(slope)) - exact) <= abs(exact) / 10 ** 12


def test_slope_is_a_float_of_a_sensible_size(exercise):
    _, _, exact = numbers(exercise)
    assert Fraction(1, 10 ** 300) < abs(exact) < 10 ** 300


def test_draft_rule_is_right(exercise):
    x, y, exact = numbers(exercise)
    with np.errstate(all='ignore'):
        _, slope = ad.jvp(lambda y: x / y, (y,), (np.float64(1.0),))
    assert is_right(slope, exact)


def test_proposed_rule_is_wrong(exercise):
    x, y, exact = numbers(exercise)
    with np.errstate(all='ignore'):
        slope = exercise.proposal(1.0, x / y, x, y)
    assert not np.isfinite(slope) or abs(
        Fraction(float(slope)) - exact) > abs(exact) / 10
