import numpy as np
import pytest

import autodiff_mini as ad

DATA = np.array([1.0, -2.0, 0.5])
SUM = DATA @ DATA


def near(expected):
    return pytest.approx(np.asarray(expected), rel=1e-7, abs=1e-7)


def ridge(a, x):
    """Return a cost whose smallest value is SUM * a / (1 + a)."""
    return np.sum((x - DATA) ** 2) + a * np.sum(x ** 2)


def valley(a, x):
    """Return a cost that is smallest on a line, where it is `3 * a`."""
    return (x[0] + x[1] - a) ** 2 + 3 * a


def test_the_gradient(exercise):
    best = lambda a: exercise.smallest(ridge, a, np.zeros(3))
    for derivative in ad.grad, ad.jacfwd:
        assert derivative(best)(0.5) == near(SUM / 1.5 ** 2)


def test_the_gradient_at_the_bottom_of_a_valley(exercise):
    best = lambda a: exercise.smallest(valley, a, np.zeros(2))
    for derivative in ad.grad, ad.jacfwd:
        assert derivative(best)(0.5) == near(3.0)


def test_higher_derivatives(exercise):
    best = lambda a: exercise.smallest(ridge, a, np.zeros(3))
    assert ad.grad(ad.grad(best))(0.5) == near(-2 * SUM / 1.5 ** 3)
    assert ad.jacfwd(ad.jacfwd(best))(0.5) == near(-2 * SUM / 1.5 ** 3)
    assert ad.grad(ad.hessian(best))(0.5) == near(6 * SUM / 1.5 ** 4)


def test_gradients_in_a_batch(exercise):
    a = np.array([0.0, 0.5, 2.0])
    best = lambda a: exercise.smallest(ridge, a, np.zeros(3))
    assert ad.vmap(ad.grad(best))(a) == near(SUM / (1 + a) ** 2)
    total = lambda a: np.sum(ad.vmap(best)(a))
    assert ad.jit(ad.grad(total))(a) == near(SUM / (1 + a) ** 2)
