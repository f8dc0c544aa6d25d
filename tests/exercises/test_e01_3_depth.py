import numpy as np


def test_operations_that_depend_on_each_other(exercise):
    assert exercise.depth(lambda x: np.sin(np.exp(-x)), 2.0) == 3
    assert exercise.depth(lambda x: x, 2.0) == 0


def test_deepest_operand_counts(exercise):
    assert exercise.depth(lambda x: np.sin(np.sin(x)) + x, 2.0) == 3
    assert exercise.depth(lambda x: x + np.sin(np.sin(x)), 2.0) == 3
    assert exercise.depth(lambda x: np.sin(x) + np.sin(x), 2.0) == 2


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
