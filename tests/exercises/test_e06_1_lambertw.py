import numpy as np

import autodiff_mini as ad
from autodiff_mini.primitives.elementwise import exp_p
from tests.traces import spied

W = np.linspace(0.0, 2.0, 6)
X = W * np.exp(W)
SLOPES = 1 / (np.exp(W) * (1 + W))


def deriv(f):
    return lambda x: ad.jvp(f, (x,), (1.0,))[1]


def test_value_and_slope(exercise):
    with np.errstate(all='ignore'):
        w, w_dot = ad.jvp(exercise.lambertw, (X,), (np.full(6, 3.0),))
    assert np.allclose(w, W) and np.allclose(w_dot, 3 * SLOPES)


def test_second_derivative(exercise):
    w = 0.7
    found = deriv(deriv(exercise.lambertw))(w * np.exp(w))
    assert np.isclose(found, -np.exp(-2 * w) * (w + 2) / (1 + w) ** 3)


def test_vmap_of_jvp(exercise):
    with np.errstate(all='ignore'):
        assert np.allclose(ad.vmap(deriv(exercise.lambertw))(X), SLOPES)


def test_jvp_of_vmap(exercise):
    with np.errstate(all='ignore'):
        _, dots = ad.jvp(ad.vmap(exercise.lambertw), (X,), (np.ones(6),))
    assert np.allclose(dots, SLOPES)


def test_the_iteration_is_not_differentiated(exercise):
    _, counts = spied(deriv(exercise.lambertw), 0.5)
    assert counts[exp_p] == 1
    _, counts = spied(deriv(deriv(exercise.lambertw)), 0.5)
    assert counts[exp_p] <= 3
