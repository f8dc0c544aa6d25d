import numpy as np

import autodiff_mini as ad

RNG = np.random.default_rng(0)
W, B = RNG.standard_normal((4, 3)), RNG.standard_normal(3)
X = RNG.standard_normal((5, 4))
PARAMS = {'w': W, 'b': B}
CT = RNG.standard_normal((5, 3))
GATED = np.where(X @ W + B > 0, CT, 0.0)


def keeps(par, *moving):
    """Return a test that the rule keeps at most `par` bytes."""
    def test(exercise):
        args = {'w': np.ones((100, 50)), 'b': np.ones(50)}, np.ones((64, 100))
        f = exercise.with_rule()
        assert exercise.bytes_kept(f, *args, moving) <= par
    return test


test_par_for_everything = keeps(94400, 'w', 'b', 'x')
test_par_for_the_weights = keeps(54400, 'w', 'b')
test_par_for_the_input = keeps(43200, 'x')
test_par_for_the_bias = keeps(3200, 'b')


def test_value_and_gradients_of_all(exercise):
    f = exercise.with_rule()
    y, pullback = ad.vjp(f, PARAMS, X)
    params_bar, x_bar = pullback(CT)
    assert np.allclose(y, np.maximum(X @ W + B, 0.0))
    assert np.allclose(params_bar['w'], X.T @ GATED)
    assert np.allclose(params_bar['b'], np.sum(GATED, 0))
    assert np.allclose(x_bar, GATED @ W.T)


def test_the_program_is_a_single_call_with_your_rule(exercise):
    jaxpr = ad.make_jaxpr(exercise.with_rule())(PARAMS, X)
    assert [eqn.primitive.name for eqn in jaxpr.eqns] == ['custom_vjp_call']


def test_mixed_second_derivative(exercise):
    f = exercise.with_rule()
    total = lambda w, x: np.sum(f({'w': w, 'b': B}, x))
    slope = lambda x: np.sum(ad.grad(total)(W, x))      # of w, then of x
    gate = (X @ W + B > 0).astype(float)
    expected = np.sum(gate, 1, keepdims=True) * np.ones(4)
    assert np.allclose(ad.grad(slope)(X), expected)
