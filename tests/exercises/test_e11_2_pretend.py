import numpy as np

from autodiff_mini import draft as ad

X = np.array([0.4, 1.6, -2.7])


def test_values(exercise):
    assert np.array_equal(exercise.straight(X), [1.0, 1.0, -1.0])
    assert np.array_equal(exercise.against(X), X)


def test_slopes(exercise):
    square = lambda f: lambda x: np.sum(f(x) ** 2)
    assert np.array_equal(ad.grad(square(exercise.straight))(X),
                          [2.0, 2.0, -2.0])
    assert np.array_equal(ad.grad(square(exercise.against))(X), -2 * X)


def test_second_derivative(exercise):
    twice = lambda f: ad.grad(ad.grad(lambda x: f(x) ** 2 / 2))(1.6)
    assert twice(exercise.straight) == 1.0
    assert twice(exercise.against) == 1.0       # two changes of sign


def test_pullback_that_is_not_linear(exercise):
    unit = exercise.pretend(np.sin, lambda ct: ct / np.sum(ct * ct) ** 0.5)
    weighted = lambda x, w: np.sum(unit(x) * w)
    found = ad.vmap(ad.grad(weighted))(
        np.ones((2, 2)), np.array([[3.0, 4.0], [0.0, -2.0]]))
    assert np.allclose(found, [[0.6, 0.8], [0.0, -1.0]])


def test_a_cotangent_can_be_none(exercise):
    f = exercise.pretend(lambda p: p['a'] * p['b'],
                         lambda ct: {'a': ct, 'b': None})
    assert ad.grad(f)({'a': 2.0, 'b': 3.0}) == {'a': 1.0, 'b': 0.0}
