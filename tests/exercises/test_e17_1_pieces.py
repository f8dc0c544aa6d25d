import itertools

import numpy as np

X = np.array([0.3, 0.7])
ONES = [1] * 100
UP = [*range(1, 11)] * 10


def check(exercise, costs, par):
    sizes = exercise.sizes(costs)
    assert sum(sizes) == len(costs)
    assert exercise.score(costs, sizes, X) <= par


def test_layers_of_equal_cost(exercise):
    check(exercise, ONES, 20)


def test_layers_of_increasing_cost(exercise):
    check(exercise, UP, 48)


def test_no_layers_and_one_layer(exercise):
    assert list(exercise.sizes([])) == []
    assert list(exercise.sizes([5])) == [1]


def test_no_other_cut_is_better(exercise):
    rng = np.random.default_rng(0)
    for n in 2, 5, 8:
        costs = rng.integers(1, 12, n).tolist()
        best = min(
            count + max(sum(costs[i:j]) for i, j in itertools.pairwise(
                [0, *cuts, n]))
            for count in range(1, n + 1)
            for cuts in itertools.combinations(range(1, n), count - 1))
        check(exercise, costs, best)
