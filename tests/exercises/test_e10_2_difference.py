import numpy as np

import autodiff_mini as ad

RNG = np.random.default_rng(0)
MATRIX = np.diff(np.eye(5), axis=0)


def pull(exercise, x, ct):
    return ad.vjp(exercise.difference, x)[1](ct)[0]


def test_it_is_the_transpose(exercise):
    x, y = RNG.standard_normal(5), RNG.standard_normal(4)
    x_bar = pull(exercise, x, y)
    assert np.isclose(np.sum(exercise.difference(x) * y), np.sum(x * x_bar))
    assert np.allclose(x_bar, MATRIX.T @ y)


def test_two_numbers(exercise):
    x_bar = pull(exercise, np.array([3.0, 5.0]), np.array([1.0]))
    assert np.array_equal(x_bar, [-1.0, 1.0])


def test_rows_of_a_table(exercise):
    y = RNG.standard_normal((3, 4))
    assert np.allclose(pull(exercise, np.ones((3, 5)), y), y @ MATRIX)


def test_single_precision(exercise):
    x_bar = pull(exercise, np.ones(5, np.float32), np.ones(4, np.float32))
    assert x_bar.dtype == np.float32
    assert np.array_equal(x_bar, [-1, 0, 0, 0, 1])


def test_a_batch_of_cotangents(exercise):
    assert np.array_equal(ad.jacrev(exercise.difference)(np.ones(5)), MATRIX)


def test_gradient_of_roughness(exercise):
    roughness = lambda x: np.sum(exercise.difference(x) ** 2)
    x = RNG.standard_normal(5)
    assert np.allclose(ad.grad(roughness)(x), 2 * MATRIX.T @ MATRIX @ x)
    assert np.allclose(ad.hessian(roughness)(x), 2 * MATRIX.T @ MATRIX)


def test_reverse_over_reverse(exercise):
    f = lambda x: np.sum(np.sin(exercise.difference(x)))
    ad.check_grads(f, (RNG.standard_normal(5),), order=2)


def test_there_and_back_again(exercise):
    # The transpose of the transpose is the difference.
    back = lambda y: pull(exercise, np.ones(5), y)
    x = RNG.standard_normal(5)
    (found,) = ad.linear_transpose(back, np.ones(4))(x)
    assert np.allclose(found, MATRIX @ x)
