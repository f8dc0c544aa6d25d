import numpy as np

from autodiff_mini import draft as ad


def along(exercise, x, x_dot):
    return ad.jvp(exercise.gentle, (x,), (x_dot,))[1]


def test_opposite_direction(exercise):
    assert np.isclose(along(exercise, 0.1, -1.0), -0.03)
    assert np.isclose(along(exercise, 10.0, -1.0), -1.0)


def test_arrays(exercise):
    x, x_dot = np.array([0.1, 0.2, 10.0]), np.array([2.0, -1.0, 3.0])
    assert np.allclose(along(exercise, x, x_dot), [0.06, -0.12, 3.0])
