import numpy as np

from autodiff_mini import draft as ad


def steep(x):
    return ad.cond(x > 0, lambda x: 5 * x, lambda x: -2 * x, x)


def test_values_of_both_branches(exercise):
    assert exercise.bounds(steep)((-1.0, 1.0)) == (-5, 5)
    assert exercise.bounds(lambda x: steep(-x))((-3.0, 1.0)) == (-6, 15)


def test_several_outputs(exercise):
    f = lambda x: ad.cond(x > 0, lambda x: (x, [3 * x]),
                          lambda x: (0 * x, [x + 1]), x)
    low, [high] = exercise.bounds(f)((-1.0, 2.0))
    assert low == (-1, 2) and high == (-3, 6)


def test_a_branch_captures_a_value(exercise):
    f = lambda x, y: ad.cond(x > 0, lambda x: x * y, lambda x: x - y, x)
    assert exercise.bounds(f)((1.0, 2.0), (3.0, 4.0)) == (3, 8)
    assert exercise.bounds(f)((-2.0, -1.0), (3.0, 4.0)) == (-6, -4)


def test_a_branch_can_be_unbounded(exercise):
    f = lambda x, y: ad.cond(x > 1, lambda x: x * y, lambda x: 2 * x, x)
    assert exercise.bounds(f)((0.0, 1.0), (-np.inf, np.inf)) == (0, 2)
    assert exercise.bounds(f)((0.0, 2.0), (-np.inf, np.inf)) == (
        -np.inf, np.inf)
