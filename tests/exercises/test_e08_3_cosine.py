import numpy as np

from autodiff_mini import draft as ad
from autodiff_mini.draft.calls import call_p


def call(f, *xs):
    return call_p.bind(*xs, fun=f)


def deriv(f):
    return lambda x: ad.jvp(f, (x,), (1.0,))[1]


exp = ad.custom_jvp(lambda x: np.exp(x))
exp.defjvp(lambda primals, tangents: (
    exp(*primals), exp(*primals) * tangents[0]))

dyed = ad.custom_jvp(lambda x: 2 * x)
dyed.defjvp(lambda primals, tangents: (dyed(*primals), 3 * tangents[0]))


def test_functions_of_one_number_become_cosines(exercise):
    f = lambda x, y: np.exp(x) * y + np.tanh(np.log(y))
    assert exercise.cosine(f)(0.5, 2.0) == (
        np.cos(0.5) * 2.0 + np.cos(np.cos(2.0)))


def test_parameters_and_constants(exercise):
    table = np.array([[2.0, 5.0], [1.0, 0.0]])
    f = lambda x: np.sum(x * table, 0) + 0 * np.sin(x)
    assert np.array_equal(exercise.cosine(f)(3.0), [9.0, 15.0])


def test_calls_are_opened(exercise):
    assert exercise.cosine(lambda x: x * call(np.tanh, x))(0.5) == (
        0.5 * np.cos(0.5))
    assert exercise.cosine(lambda x: x * call(np.tanh, 2.0))(0.5) == (
        0.5 * np.cos(2.0))
    assert exercise.cosine(exp)(0.5) == np.cos(0.5)


def test_the_cosine_of_the_derivative(exercise):
    assert exercise.cosine(deriv(dyed))(1.0) == 3.0
    assert exercise.cosine(deriv(exp))(0.5) == np.cos(0.5)


def test_the_cosine_of_the_cosine_is_the_cosine(exercise):
    twice = exercise.cosine(exercise.cosine(lambda x: x + exp(x)))
    assert twice(0.5) == 0.5 + np.cos(0.5)
