import numpy as np

from autodiff_mini import draft as ad


def test_an_odd_power_keeps_the_order(exercise):
    assert exercise.bounds(lambda x: x ** 3)((-2.0, 1.0)) == (-8, 1)


def test_the_power_zero_is_one(exercise):
    assert exercise.bounds(lambda x: x ** 0)((-1.0, 1.0)) == (1, 1)


def test_arrays_and_pieces_of_an_interval(exercise):
    ends = np.linspace(-1.0, 1.0, 5)
    square = exercise.bounds(lambda x: x ** 2)
    lows, highs = square((ends[:-1], ends[1:]))
    assert np.array_equal(lows, [0.25, 0, 0, 0.25])
    assert np.array_equal(highs, [1, 0.25, 0.25, 1])


def test_the_cliff_is_never_steeper_than_1000(exercise):
    tanh = ad.custom_jvp(np.tanh)
    tanh.defjvp(lambda primals, tangents: (
        tanh(*primals), (1 - tanh(*primals) ** 2) * tangents[0]))
    cliff = lambda x: tanh(1000 * (x - 0.3337))
    assert exercise.bounds(ad.grad(cliff))((0.0, 1.0)) == (0, 1000)
