import numpy as np

import autodiff_mini as ad

X = np.array([0.5, 1.0, 2.0])
W = np.array([[1.0, 2.0, 0.0], [0.5, 0.0, -1.0]])


def loss(w, x):
    return np.sum(np.tanh(w @ x) ** 2)


def same(exercise, found, expected):
    """Assert that the arrays in `found` are meters, with these values."""
    for x, y in zip(ad.tree_leaves(found), ad.tree_leaves(expected),
                    strict=True):
        assert type(x) is exercise.Meter
        assert x.shape == np.shape(y) and np.allclose(x.value, y)


def test_the_example(exercise):
    out = np.sum(np.sin(exercise.Meter(X)) * 2)
    same(exercise, out, np.sum(np.sin(X) * 2))
    assert exercise.Meter.counts == {'sin': 3, 'multiply': 3, 'sum': 1}


def test_meters_in_lists_and_options(exercise):
    x = exercise.Meter(X)
    same(exercise, np.stack([x, X, x]), np.stack([X, X, X]))
    same(exercise, np.sum(x, where=x > 0.7), 3.0)
    assert exercise.Meter.counts == {'stack': 9, 'greater': 3, 'sum': 1}


def test_several_results_and_values_that_are_not_arrays(exercise):
    parts = np.split(exercise.Meter(np.arange(4.0)), 2)
    same(exercise, parts, [np.array([0.0, 1.0]), np.array([2.0, 3.0])])
    assert exercise.Meter.counts == {'split': 4}


def test_reverse_mode(exercise):
    w, x = exercise.Meter(W), exercise.Meter(X)
    same(exercise, ad.grad(loss, (0, 1))(w, x), ad.grad(loss, (0, 1))(W, X))
    assert exercise.Meter.counts['tanh'] == 2
