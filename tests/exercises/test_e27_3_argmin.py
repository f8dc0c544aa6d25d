import numpy as np
import pytest

import autodiff_mini as ad

GUESS = {'slope': 0.0, 'level': 0.0}


def near(expected):
    return pytest.approx(np.asarray(expected), rel=1e-7, abs=1e-7)


def line(a):
    """Return the slope and the level of the ridge's line, by a formula."""
    ts = np.linspace(-1.0, 2.0, 5)
    matrix = np.array([[ts @ ts + a, ts.sum()], [ts.sum(), 5.0]])
    return np.linalg.solve(matrix, [ts @ np.exp(ts), np.exp(ts).sum()])


def test_the_line(exercise):
    for a in (0.0, 0.5, 10.0):
        x = exercise.argmin(exercise.ridge, a, GUESS)
        assert (x['slope'], x['level']) == near(line(a))


def test_the_derivative_of_the_line(exercise):
    best = lambda a: exercise.argmin(exercise.ridge, a, GUESS)
    moves = (line(0.5 + 1e-5) - line(0.5 - 1e-5)) / 2e-5
    for jacobian in (ad.jacfwd, ad.jacrev):
        x_dot = jacobian(best)(0.5)
        assert (x_dot['slope'], x_dot['level']) == near(moves)
    ad.check_grads(best, (0.5,), order=2)


def test_a_narrow_and_bent_valley(exercise):
    def cost(a, x):
        return 1e4 * (x[0] - a) ** 2 + np.cosh(x[1] - 2 * a + x[0])
    best = lambda a: exercise.argmin(cost, a, np.zeros(2))
    assert best(1.5) == near([1.5, 1.5])
    assert ad.jacrev(best)(1.5) == near([1.0, 1.0])
