import itertools

import numpy as np
import pytest

from autodiff_mini import draft as ad

X = np.array([0.3, 0.7])
ONES, TENS = [1] * 100, [1] * 90 + [10] * 10
UP = [*range(1, 11)] * 10


def check(exercise, costs, par):
    sizes = exercise.sizes(costs)
    assert sum(sizes) == len(costs)
    assert exercise.score(costs, sizes, X) <= par


def test_layers_that_are_alike(exercise):
    check(exercise, ONES, 20)
    assert exercise.score(ONES, [100], X) == 101
    assert exercise.score(ONES, [10] * 10, X) == 20


def test_ten_layers_are_expensive(exercise):
    check(exercise, TENS, 29)
    assert exercise.score(TENS, [10] * 10, X) == 110


def test_costs_that_go_up(exercise):
    check(exercise, UP, 48)
    assert exercise.score(UP, [10] * 10, X) == 65


def test_one_layer_costs_more_than_all_others(exercise):
    check(exercise, [1, 1, 40, 1, 1], 43)


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


def test_cutting_keeps_the_gradient(exercise):
    costs = [1, 3, 2, 2, 5, 1]
    layers = [exercise.sines(cost) for cost in costs]
    pieces = exercise.cut(layers, exercise.sizes(costs))

    def total(run):
        return lambda x: np.sum(run(x))
    found = ad.grad(total(exercise.chain(pieces)))(X)
    assert found == pytest.approx(
        ad.grad(total(exercise.chain(layers)))(X))
