import numpy as np

from autodiff_mini.draft import jvp, vmap


def along_ones(f, xs):
    return jvp(f, (xs,), (np.ones(np.shape(xs)),))[1]


def share(x):
    """Return each element as its share of the sum."""
    return x / np.sum(x)


def test_vmap_returns_the_right_value(exercise):
    f = exercise.custom(share, lambda x, x_dot: x_dot)
    xs = np.array([[1.0, 3.0], [2.0, 2.0]])
    assert np.all(vmap(f)(xs) == [[0.25, 0.75], [0.5, 0.5]])


def test_dye_survives_nested_vmap(exercise):
    f = exercise.custom(lambda x: 2 * x, lambda x, x_dot: 3 * x_dot)
    assert np.all(along_ones(vmap(vmap(f)), np.ones((2, 3))) == 3)
    row = lambda xs: along_ones(vmap(f), xs)
    assert np.all(vmap(row)(np.ones((2, 3))) == 3)


def test_rule_sees_one_element(exercise):
    f = exercise.custom(share, lambda x, x_dot: x_dot * np.sum(x))
    xs = np.array([[1.0, 3.0], [2.0, 5.0]])
    assert np.all(along_ones(vmap(f), xs) == [[4.0, 4.0], [7.0, 7.0]])
