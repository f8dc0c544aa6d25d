import numpy as np

from autodiff_mini import draft as ad

X = np.array([-3.0, -0.9, -0.25, 0.5, 0.75, 1.5, 30.0])
S = 1 / (1 + np.exp(-X))
SWISH = X * S
SWISH_SLOPES = S * (1 + X * (1 - S))
HAT = np.array([0.0, 0.1, 0.75, 0.5, 0.25, 0.0, 0.0])
HAT_SLOPES = np.array([0.0, 1.0, 1.0, -1.0, -1.0, 0.0, 0.0])


def test_swish_is_within_par(exercise):
    swish, _ = exercise.with_rules()
    assert exercise.bytes_kept(swish, X) <= 8


def test_hat_is_within_par(exercise):
    _, hat = exercise.with_rules()
    assert exercise.bytes_kept(hat, X) <= 1


def test_values(exercise):
    swish, hat = exercise.with_rules()
    assert np.allclose(ad.linearize(swish, X)[0], SWISH)
    assert np.allclose(ad.linearize(hat, X)[0], HAT)


def test_derivatives(exercise):
    swish, hat = exercise.with_rules()
    for f, slopes in (swish, SWISH_SLOPES), (hat, HAT_SLOPES):
        _, f_jvp = ad.linearize(f, X)
        assert np.allclose(f_jvp(np.ones(7)), slopes)
        assert np.allclose(f_jvp(X), slopes * X)
        assert f_jvp(X).dtype == np.float64
