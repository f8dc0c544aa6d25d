import numpy as np

from autodiff_mini import draft as ad
from autodiff_mini.draft.jaxpr import Var
from autodiff_mini.draft.partial_eval import linearize_at

W = np.linspace(0.0, 2.0, 6)
X = W * np.exp(W)
SLOPES = 1 / (np.exp(W) * (1 + W))
BENDS = -np.exp(-2 * W) * (W + 2) / (1 + W) ** 3


def total(f):
    return lambda x: np.sum(f(x))


def watched(exercise):
    """Return the function with its rule, and a list of calls of newton."""
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


def test_iteration_is_run_once_on_plain_numbers(exercise):
    f, seen = watched(exercise)
    f = total(f)
    for order in 1, 2, 3:
        f = total(ad.grad(f))
        f(X)
        assert [type(x) for x in seen] == [np.ndarray]
        seen.clear()


def test_par_is_one_array(exercise):
    f = exercise.with_rule()
    _, linear, residuals = linearize_at(f, (X,))
    kept = [x for eqn in linear.eqns for x in eqn.invars
            if type(x) is not Var]
    assert [np.shape(x) for x in kept + residuals] == [(6,)]
