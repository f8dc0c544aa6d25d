import numpy as np

from autodiff_mini import draft as ad

RNG = np.random.default_rng(0)
MATRIX = np.diff(np.eye(5), axis=0)


def pull(exercise, x, ct):
    return ad.vjp(exercise.difference, x)[1](ct)[0]


def test_rows_of_a_table(exercise):
    y = RNG.standard_normal((3, 4))
    assert np.allclose(pull(exercise, np.ones((3, 5)), y), y @ MATRIX)


def test_batch_of_cotangents(exercise):
    _, pullback = ad.vjp(exercise.difference, np.ones(5))
    assert np.array_equal(ad.vmap(pullback)(np.eye(4))[0], MATRIX)


def test_gradient_agrees_with_a_difference_twice(exercise):
    f = lambda x: np.sum(np.sin(exercise.difference(x)))
    ad.check_grads(f, (RNG.standard_normal(5),))
    ad.check_grads(ad.grad(f), (RNG.standard_normal(5),))
