import numpy as np
import pytest

import autodiff_mini as ad


def decay(y, t):
    return -y


def test_into_the_past(exercise):
    mean = exercise.average(decay, lambda y: y, 1.0, -2.0)
    assert mean == pytest.approx((np.exp(2) - 1) / 2, rel=1e-6)


def test_the_function_gets_the_state_and_not_the_mean(exercise):
    mean = exercise.average(decay, lambda y: y * y, 3.0, 1.0)
    assert mean == pytest.approx(9 * (1 - np.exp(-2)) / 2, rel=1e-6)


def test_a_slope_that_depends_on_the_time(exercise):
    # y = t**2
    mean = exercise.average(lambda y, t: 2 * t, lambda y: y, 0.0, 3.0)
    assert mean == pytest.approx(3.0, rel=1e-6)


def test_the_gradient_with_respect_to_start_and_end(exercise):
    mean = lambda y0, end: exercise.average(decay, lambda y: y, y0, end)
    found = ad.grad(mean, (0, 1))(2.0, 1.5)
    assert found[0] == pytest.approx((1 - np.exp(-1.5)) / 1.5, rel=1e-6)
    assert found[1] == pytest.approx(
        2 * (np.exp(-1.5) * 2.5 - 1) / 1.5**2, rel=1e-6)
