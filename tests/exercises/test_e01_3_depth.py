import numpy as np


def pairwise(xs):
    while len(xs) > 1:
        xs = [a + b for a, b in zip(xs[::2], xs[1::2], strict=True)]
    return xs[0]


def test_operations_that_wait_for_each_other(exercise):
    assert exercise.depth(lambda x: np.sin(np.exp(-x)), 2.0) == 3
    assert exercise.depth(lambda x: x, 2.0) == 0


def test_deepest_operand_counts(exercise):
    assert exercise.depth(lambda x: np.sin(np.sin(x)) + x, 2.0) == 3
    assert exercise.depth(lambda x: x + np.sin(np.sin(x)), 2.0) == 3


def test_sum_in_pairs_is_shallow(exercise):
    numbers = [float(i) for i in range(8)]
    in_a_row = lambda x, *xs: x if not xs else in_a_row(x + xs[0], *xs[1:])
    assert exercise.depth(in_a_row, *numbers) == 7
    assert exercise.depth(lambda *xs: pairwise(xs), *numbers) == 3


def test_parameters_reach_the_operation(exercise):
    row_sums = lambda x: np.sum(x, -1)[1]
    assert exercise.depth(row_sums, np.ones((2, 3))) == 2


def test_values_are_computed(exercise):
    relu = lambda x: np.sin(x * x) if x > 0 else x * 0
    assert exercise.depth(relu, 2.0) == 2
    assert exercise.depth(relu, -2.0) == 1


def test_measurements_can_be_nested(exercise):
    seen = []

    def outer(x):
        deep = np.sin(np.sin(x))      # to the inner measurement, an input
        seen.append(exercise.depth(lambda y: np.sin(deep) + y, 1.0))
        return deep

    assert exercise.depth(outer, 2.0) == 2
    assert seen == [2]
