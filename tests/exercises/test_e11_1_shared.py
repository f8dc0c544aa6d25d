import numpy as np

from autodiff_mini import draft as ad

RNG = np.random.default_rng(0)
X = np.array([1.0, 2.0, 4.0])


def dyed(exercise):
    """Return a batched `x * w`; its rule says ten times the slope of w."""
    return exercise.batched(
        lambda x, w: x * w, lambda x, w: (x * w, (x, w)),
        lambda res, ct: (ct * res[1], 10 * ct * res[0]))


def product(exercise):
    """Return the inner products of many x with one w."""
    return exercise.batched(
        lambda x, w: np.sum(x * w), lambda x, w: (np.sum(x * w), (x, w)),
        lambda res, ct: (ct * res[1], ct * res[0]))


def test_one_weight_for_all_examples(exercise):
    f = dyed(exercise)
    x_bar, w_bar = ad.vjp(f, X, 3.0)[1](np.ones(3))
    assert np.array_equal(x_bar, [3.0, 3.0, 3.0]) and w_bar == 70.0


def test_an_array_of_weights(exercise):
    x, w, ct = RNG.standard_normal((3, 4, 4))
    _, pullback = ad.vjp(product(exercise), x, w[0])
    assert np.allclose(pullback(ct[0])[1], x.T @ ct[0])
