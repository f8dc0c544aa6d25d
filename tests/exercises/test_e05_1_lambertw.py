import numpy as np

from autodiff_mini import draft as ad

W = np.linspace(0.0, 2.0, 6)
X = W * np.exp(W)
SLOPES = 1 / (np.exp(W) * (1 + W))


def deriv(f):
    return lambda x: ad.jvp(f, (x,), (1.0,))[1]


def exponentials(f):
    """Count the exponentials of `f`, where a call is one operation."""
    eqns = ad.make_jaxpr(f)(0.5).eqns
    return [eqn.primitive.name for eqn in eqns].count('exp')


def test_value_and_slope(exercise):
    w, w_dot = ad.jvp(exercise.lambertw, (X,), (np.full(6, 3.0),))
    assert np.allclose(w, W) and np.allclose(w_dot, 3 * SLOPES)


def test_second_derivative(exercise):
    w = 0.7
    found = deriv(deriv(exercise.lambertw))(w * np.exp(w))
    assert np.isclose(found, -np.exp(-2 * w) * (w + 2) / (1 + w) ** 3)


def test_the_iteration_is_not_differentiated(exercise):
    assert exponentials(deriv(exercise.lambertw)) == 1
    assert exponentials(deriv(deriv(exercise.lambertw))) <= 3
