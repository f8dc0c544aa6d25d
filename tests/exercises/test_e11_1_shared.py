import numpy as np

import autodiff_mini as ad

RNG = np.random.default_rng(0)
X = np.array([1.0, 2.0, 4.0])


def dyed(exercise, in_axes):
    """Returns a mapped `x * w`; its rule says ten times the slope of w."""
    return exercise.mapped(
        lambda x, w: x * w, lambda x, w: (x * w, (x, w)),
        lambda res, ct: (ct * res[1], 10 * ct * res[0]), in_axes)


def product(exercise):
    """Returns `x @ w` for many x and one w."""
    return exercise.mapped(
        lambda x, w: x @ w, lambda x, w: (x @ w, (x, w)),
        lambda res, ct: (ct * res[1], ct * res[0]), (0, None))


def test_one_weight_for_all_examples(exercise):
    f = dyed(exercise, (0, None))
    x_bar, w_bar = ad.grad(lambda x, w: np.sum(f(x, w)), (0, 1))(X, 3.0)
    assert np.array_equal(x_bar, [3.0, 3.0, 3.0]) and w_bar == 70.0


def test_shuffled_examples(exercise):
    f = dyed(exercise, (0, None))
    slope = lambda x: ad.grad(lambda w: np.sum(f(x, w)))(3.0)
    assert slope(X) == slope(X[::-1]) == slope(X[[1, 2, 0]])


def test_examples_that_count_differently(exercise):
    _, pullback = ad.vjp(dyed(exercise, (0, None)), X, 3.0)
    assert pullback(np.array([0.0, 1.0, -1.0]))[1] == -20.0


def test_one_example_for_all_weights(exercise):
    f = dyed(exercise, (None, 0))
    x_bar, w_bar = ad.grad(lambda x, w: np.sum(f(x, w)), (0, 1))(3.0, X)
    assert x_bar == 7.0 and np.array_equal(w_bar, [30.0, 30.0, 30.0])


def test_a_weight_that_is_an_array(exercise):
    x, w, ct = RNG.standard_normal((3, 4, 4))
    _, pullback = ad.vjp(product(exercise), x, w[0])
    assert np.allclose(pullback(ct[0])[1], x.T @ ct[0])


def test_it_agrees_with_the_library(exercise):
    f = ad.custom_vjp(lambda x, w: x * np.sin(w))
    fwd = lambda x, w: (f(x, w), (x, w))
    bwd = lambda res, ct: (ct * np.sin(res[1]), ct * res[0] * np.cos(res[1]))
    f.defvjp(fwd, bwd)
    ours = exercise.mapped(f, fwd, bwd, (0, None))
    slope = lambda g: ad.grad(lambda w: np.sum(g(X, w) ** 2))(0.5)
    assert np.isclose(slope(ours), slope(ad.vmap(f, (0, None))))


def test_the_checker_is_content(exercise):
    f = exercise.mapped(
        lambda x, w: x * w, lambda x, w: (x * w, (x, w)),
        lambda res, ct: (ct * res[1], ct * res[0]), (0, None))
    ad.check_grads(f, (X, 0.5), order=2, modes=('rev',))


def test_second_derivative(exercise):
    f = exercise.mapped(
        lambda x, w: np.sin(x * w), lambda x, w: (np.sin(x * w), (x, w)),
        lambda res, ct: (ct * res[1] * np.cos(res[0] * res[1]),
                         ct * res[0] * np.cos(res[0] * res[1])), (0, None))
    found = ad.grad(ad.grad(lambda w: np.sum(f(X, w))))(0.5)
    assert np.isclose(found, -np.sum(X ** 2 * np.sin(0.5 * X)))
