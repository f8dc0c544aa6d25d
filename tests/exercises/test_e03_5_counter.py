import numpy as np

from autodiff_mini import draft as ad


def expit(x):
    return 1 / (1 + np.exp(-x))


def test_each_operation_counts(exercise):
    assert exercise.count(lambda x: x, 2.0) == 0
    assert exercise.count(np.sin, 2.0) == 1
    assert exercise.count(expit, 2.0) == 4
    assert exercise.count(lambda x, y: x * y + x, 2.0, 3.0) == 2


def test_constants_do_not_count(exercise):
    assert exercise.count(lambda x: x + np.sin(np.exp(1.0)), 2.0) == 1
    assert exercise.count(lambda x: np.cos(1.0), 2.0) == 0


def test_a_question_about_plain_numbers_counts(exercise):
    slope = lambda x: ad.jvp(np.sin, (1.0,), (1.0,))[1]
    assert exercise.count(slope, 2.0) == 1


def test_every_count_starts_at_zero(exercise):
    assert [exercise.count(expit, 2.0) for _ in range(3)] == [4, 4, 4]


def test_parameters_reach_the_operation(exercise):
    rows = lambda x: sum(2 * row for row in np.sum(x, -1))
    assert exercise.count(rows, np.ones((2, 3, 4))) == 7


def test_a_slope_is_a_program(exercise):
    slope = lambda x: ad.jvp(expit, (x,), (1.0,))[1]
    assert exercise.count(slope, 2.0) == 8


def test_a_batch_is_one_operation(exercise):
    xs = np.linspace(-1.0, 1.0, 10_000)
    assert exercise.count(ad.vmap(expit), xs) == 4


def test_boxes_of_other_interpreters_stay_shut(exercise):
    counts, shapes = [], []

    def f(s):
        def g(x):
            y = s * x * x
            shapes.append(np.shape(y))
            return y

        counts.append(exercise.count(g, 3.0))
        return s

    ad.jvp(f, (2.0,), (1.0,))
    ad.vmap(f)(np.ones(3))      # to the count, `s` is a single number
    assert counts == [2, 2] and shapes == [(), ()]


def test_two_counts_can_be_nested(exercise):
    inner = []

    def outer(x):
        y = np.sin(x)
        inner.append(exercise.count(lambda z: y * z * y, 3.0))
        return y

    assert exercise.count(outer, 2.0) == 3      # the inner operations, too
    assert inner == [2]
