import numpy as np
import pytest

import autodiff_mini as ad

LOADS = np.linspace(0.0, 20.0, 21)


def near(expected):
    return pytest.approx(np.asarray(expected), rel=1e-7, abs=1e-7)


def test_far_from_the_guess(exercise):
    assert exercise.path(exercise.bridge, LOADS, 0.5) == near(LOADS)


def test_it_stays_on_its_branch(exercise):
    """There are three solutions at 0, and one at each end."""
    def fold(a, x):
        return x ** 3 - 3 * x - a
    up = np.linspace(-4.0, 1.0, 51)
    down = exercise.path(fold, -up, 2.2)
    assert exercise.path(fold, up, -2.2)[-11] == near(-3 ** 0.5)
    assert down[-11] == near(3 ** 0.5)


def test_the_jacobian_is_diagonal(exercise):
    for jacobian in (ad.jacfwd, ad.jacrev):
        f = jacobian(lambda a: exercise.path(
            lambda a, x: x ** 3 + x - a, a, 0.0))
        x = exercise.path(lambda a, x: x ** 3 + x - a, LOADS[:5], 0.0)
        assert f(LOADS[:5]) == near(np.diag(1 / (3 * x ** 2 + 1)))
