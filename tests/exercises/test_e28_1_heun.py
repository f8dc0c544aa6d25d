import numpy as np
import pytest

import autodiff_mini as ad


def test_a_slope_that_is_linear_in_time(exercise):
    y1, error = exercise.heun_step(lambda y, t: 2 * t, 1.0, 5.0, 2.0)
    assert y1 == pytest.approx(13.0)
    assert abs(error) == pytest.approx(4.0)


def test_trees(exercise):
    func = lambda y, t: {'a': (y['b'],), 'b': -y['a'][0]}
    y = {'a': (np.ones(2),), 'b': np.array([0.0, 1.0])}
    y1, error = exercise.heun_step(func, 0.0, y, 0.1)
    assert ad.tree_structure(y1) == ad.tree_structure(y)
    assert ad.tree_structure(error) == ad.tree_structure(y)
    assert y1['a'][0] == pytest.approx([0.995, 1.095])
    assert abs(error['b']) == pytest.approx([0.0, 0.005])


def test_the_slope_is_computed_twice(exercise):
    times = []
    exercise.heun_step(lambda y, t: times.append(t) or y, 1.0, 1.0, 0.5)
    assert times == [1.0, 1.5]


def test_a_step_has_a_derivative(exercise):
    step = lambda y: exercise.heun_step(lambda y, t: y * y, 0.0, y, 0.1)[0]
    # y + h/2 (y**2 + (y + h y**2)**2)
    assert ad.grad(step)(1.0) == pytest.approx(1 + 0.1 + 0.1 * 1.1 * 1.2)
