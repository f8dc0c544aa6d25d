import numpy as np
import pytest

import autodiff_mini as ad

TREE = {'w': np.array([1.0, 2.0]), 'b': (np.array([[3.0]]), None)}
SLOPES = {'w': np.array([30.0, 0.0]), 'b': (np.array([[-40.0]]), None)}


def close(found, expected):
    assert ad.tree_structure(found) == ad.tree_structure(expected)
    for x, y in zip(ad.tree_leaves(found), ad.tree_leaves(expected)):
        assert x == pytest.approx(y)


def times(tree, factor):
    return ad.tree_map(lambda x: x * factor, tree)


def slopes(exercise, limit, slopes=SLOPES):
    """Return the cotangents of a tree, where `slopes` come back."""
    f = exercise.make_at_most_together()

    def total(tree):
        products = ad.tree_map(lambda x, y: np.sum(x * y), f(tree, limit),
                               slopes)
        return sum(ad.tree_leaves(products))
    return ad.grad(total)(TREE)


def test_short_gradients_are_unchanged(exercise):
    close(slopes(exercise, 50.0), SLOPES)
    close(slopes(exercise, 60.0), SLOPES)


def test_long_gradients_are_scaled_together(exercise):
    close(slopes(exercise, 5.0), times(SLOPES, 0.1))
    close(slopes(exercise, 35.0), times(SLOPES, 0.7))


def test_zero_stays_zero(exercise):
    with np.errstate(all='raise'):
        close(slopes(exercise, 5.0, times(SLOPES, 0.0)), times(SLOPES, 0.0))


def test_dtypes_stay(exercise):
    f = exercise.make_at_most_together()

    def total(pair):
        x, y = f(pair, 1.0)
        return np.sum(x * np.float32(3.0)) + np.sum(y) * 4.0
    x, y = ad.grad(total)([np.ones(1, np.float32), np.ones(1)])
    assert x.dtype == np.float32 and y.dtype == np.float64
    close([x, y], [np.array([0.6]), np.array([0.8])])


def test_mapped_and_compiled(exercise):
    f = exercise.make_at_most_together()
    loss = lambda pair: np.sum(f(pair, 1.0)[0] ** 2) / 2
    xs = np.array([[3.0, 4.0], [0.3, 0.4]])
    x_bar, y_bar = ad.jit(ad.vmap(ad.grad(loss)))((xs, xs))
    close(x_bar, np.array([[0.6, 0.8], [0.3, 0.4]]))
    close(y_bar, 0 * xs)
