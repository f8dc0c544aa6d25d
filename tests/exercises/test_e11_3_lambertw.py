import numpy as np

import autodiff_mini as ad
from autodiff_mini.primitives.elementwise import exp_p
from tests.traces import spied

W = np.linspace(0.0, 2.0, 6)
X = W * np.exp(W)
SLOPES = 1 / (np.exp(W) * (1 + W))
BENDS = -np.exp(-2 * W) * (W + 2) / (1 + W) ** 3


def total(f):
    return lambda x: np.sum(f(x))


def watched(exercise):
    """Returns the function with its rule, and a list of what newton gets."""
    newton, seen = exercise.newton, []
    exercise.newton = lambda x: seen.append(x) or newton(x)
    return exercise.with_rule(), seen


def test_value_and_slope(exercise):
    w, pullback = ad.vjp(exercise.with_rule(), X)
    assert np.allclose(w, W)
    assert np.allclose(pullback(np.full(6, 3.0))[0], 3 * SLOPES)


def test_second_derivative(exercise):
    slope = ad.grad(total(exercise.with_rule()))
    assert np.allclose(ad.grad(total(slope))(X), BENDS)


def test_third_order(exercise):
    ad.check_grads(exercise.with_rule(), (0.8,), order=3, modes=('rev',))


def test_jacobian(exercise):
    jacobian = ad.jacrev(exercise.with_rule())(X)
    assert np.allclose(jacobian, np.diag(SLOPES))


def test_the_iteration_is_run_once_on_plain_numbers(exercise):
    f, seen = watched(exercise)
    f = total(f)
    for order in 1, 2, 3:
        f = total(ad.grad(f))
        f(X)
        assert [type(x) for x in seen] == [np.ndarray]
        seen.clear()


def test_a_slope_costs_one_exponential(exercise):
    _, counts = spied(ad.grad(exercise.with_rule()), 0.5)
    assert counts[exp_p] == 1


def test_par_is_one_array(exercise):
    _, f_jvp = ad.linearize(exercise.with_rule(), X)
    assert [np.shape(x) for x in f_jvp.residuals] == [(6,)]
