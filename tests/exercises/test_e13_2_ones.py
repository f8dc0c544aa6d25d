import numpy as np

from autodiff_mini import draft as ad
from autodiff_mini.draft.jit import drop_dead, run

X = np.array([0.5, 2.0])


def names(jaxpr):
    return [eqn.primitive.name for eqn in jaxpr.eqns]


def dropped(exercise, f, *args):
    """Return the names in the new program; it has to return the same."""
    jaxpr = ad.make_jaxpr(f)(*args)
    new = exercise.drop_ones(jaxpr)
    for y, expected in zip(run(new, *args), run(jaxpr, *args), strict=True):
        assert np.shape(y) == np.shape(expected)
        assert np.result_type(y) == np.result_type(expected)
        assert np.array_equal(y, expected)
    return names(new)


def test_the_gradient_of_a_sine_is_one_equation(exercise):
    jaxpr = ad.make_jaxpr(ad.grad(np.sin))(0.5)
    assert names(drop_dead(exercise.drop_ones(jaxpr))) == ['cos']


def test_a_chain_of_ones(exercise):
    assert dropped(exercise, lambda x: np.exp(1.0 * x * 1.0 * 1.0) * 1.0,
                   X) == ['exp']


def test_an_array_of_ones(exercise):
    assert dropped(exercise, lambda x: np.sin(x * np.ones(2)), X) == ['sin']


def test_ones_that_broadcast_stay(exercise):
    f = lambda x: np.sin(x * np.ones(3))
    assert dropped(exercise, f, 2.0) == ['multiply', 'sin']


def test_a_one_that_changes_the_dtype_stays(exercise):
    assert dropped(exercise, lambda n: 1.0 * n, 3) == ['multiply']


def test_other_factors_and_operations_stay(exercise):
    f = lambda x: (2.0 * x, x + 1.0, 1.0 / x, x * np.array([1.0, 3.0]))
    assert dropped(exercise, f, X) == ['multiply', 'add', 'divide',
                                       'multiply']
