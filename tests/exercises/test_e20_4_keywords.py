import numpy as np


def test_the_reported_call(exercise):
    slope = exercise.deriv(exercise.decay)(2.0, rate=3.0)
    assert np.isclose(slope, -3 * np.exp(-6.0))


def test_defaults_in_the_middle(exercise):
    def f(x, a=2.0, b=3.0, c=5.0):
        return x * a * b * c

    assert exercise.deriv(f)(1.0, c=7.0, a=1.0) == 21.0


def test_more_positions_than_names(exercise):
    def f(x, scale=2.0, *more, **options):
        return x * scale + sum(more)

    assert exercise.positions(f, (1.0,), {}) == (1.0, 2.0)
    assert exercise.positions(f, (1.0, 3.0, 4.0), {}) == (1.0, 3.0, 4.0)
