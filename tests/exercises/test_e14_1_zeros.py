import numpy as np
import pytest

from autodiff_mini import draft as ad

X = np.linspace(-1.0, 1.0, 5)


def model(x, w, b):
    return np.sum(np.tanh(w * x) * np.sin(b))


def slope(f, i):
    """Return the derivative of f along its argument number i."""
    def along(*args):
        def moved(x):
            return f(*args[:i], x, *args[i + 1:])
        return ad.jvp(moved, (args[i],), (1.0 + 0.0 * args[i],))[1]
    return along


def equations(f, i, *args):
    """Return how many equations the linear half of `jit(f)` has."""
    [eqn] = [eqn for eqn in ad.make_jaxpr(slope(ad.jit(f), i))(*args).eqns
             if eqn.primitive.name == 'linear']
    return len(eqn.params['fun'].eqns)


def test_other_tangents_take_no_equation(exercise):
    f = lambda x, y: x * np.sin(y)
    assert equations(f, 0, 2.0, 3.0) == 1
    assert equations(f, 1, 2.0, 3.0) == 2
    assert equations(model, 2, X, X, 0.5) < equations(model, 0, X, X, 0.5)


def test_derivatives_with_respect_to_each_argument(exercise):
    for i in range(3):
        assert slope(ad.jit(model), i)(X, 2 * X, 0.5) == pytest.approx(
            slope(model, i)(X, 2 * X, 0.5))


def test_derivatives_with_respect_to_all_arguments(exercise):
    ad.check_jvp(ad.jit(model), (X, 2 * X, 0.5))
    ad.check_grads(ad.jit(model), (X, 2 * X, 0.5))


def test_nothing_is_computed_twice(exercise):
    jaxpr = ad.make_jaxpr(slope(ad.jit(model), 1))(X, X, 0.5)
    names = [eqn.primitive.name for call in jaxpr.eqns
             if 'fun' in call.params for eqn in call.params['fun'].eqns]
    assert names.count('tanh') == names.count('sin') == 1


def test_a_rule_inside_survives_twice(exercise):
    dye = ad.custom_jvp(lambda x: 2 * x)
    dye.defjvp(lambda primals, tangents: (dye(*primals), 3 * tangents[0]))
    f = ad.jit(lambda w, x: w * x * dye(x))
    assert slope(f, 1)(1.0, 5.0) == 10 + 15
    assert slope(slope(f, 1), 1)(1.0, 5.0) == 3 + 3
