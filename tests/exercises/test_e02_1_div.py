from fractions import Fraction

import numpy as np

from autodiff_mini import draft as ad


def numbers(exercise):
    """Return the reader's x and y, and the exact slope of x / y in y."""
    x, y = map(np.float64, exercise.breaks_it())
    assert np.isfinite(x) and np.isfinite(y), 'x and y must be finite'
    assert y != 0, 'y is 0, so x / y has no slope'
    return x, y, -Fraction(float(x)) / Fraction(float(y)) ** 2


def is_right(slope, exact):
    return np.isfinite(slope) and abs(
        Fraction(float(slope)) - exact) <= abs(exact) / 10 ** 12


def test_slope_is_a_float_of_a_sensible_size(exercise):
    _, _, exact = numbers(exercise)
    is_sensible = Fraction(1, 10 ** 300) < abs(exact) < 10 ** 300
    assert is_sensible, (
        'the size of the slope -x / y**2 must be between 1e-300 and 1e300')


def test_draft_rule_is_right(exercise):
    x, y, exact = numbers(exercise)
    with np.errstate(all='ignore'):
        _, slope = ad.jvp(lambda y: x / y, (y,), (np.float64(1.0),))
    right = is_right(slope, exact)
    assert right, f"the draft's rule gets {slope}, which is wrong, too"


def test_proposed_rule_is_wrong(exercise):
    x, y, exact = numbers(exercise)
    with np.errstate(all='ignore'):
        slope = exercise.proposal(1.0, x / y, x, y)
    is_wrong = not np.isfinite(slope) or abs(
        Fraction(float(slope)) - exact) > abs(exact) / 10
    assert is_wrong, f'the proposal gets {slope}, which is right'
