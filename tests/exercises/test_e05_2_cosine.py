import numpy as np

from autodiff_mini import draft as ad


def deriv(f):
    return lambda x: ad.jvp(f, (x,), (1.0,))[1]


exp = ad.custom_jvp(lambda x: np.exp(x))
exp.defjvp(lambda primals, tangents: (
    exp(*primals), exp(*primals) * tangents[0]))

dyed = ad.custom_jvp(lambda x: 2 * x)
dyed.defjvp(lambda primals, tangents: (dyed(*primals), 3 * tangents[0]))


def test_custom_functions_are_transformed(exercise):
    assert exercise.cosine(exp)(0.5) == np.cos(0.5)
    assert exercise.cosine(lambda x: x * exp(np.log(x)))(0.5) == (
        0.5 * np.cos(np.cos(0.5)))


def test_derivative_is_of_what_is_computed(exercise):
    assert np.isclose(deriv(exercise.cosine(exp))(0.5), -np.sin(0.5))
    assert deriv(exercise.cosine(dyed))(1.0) == 2.0


def test_rule_of_an_inner_derivative_is_transformed(exercise):
    assert exercise.cosine(deriv(dyed))(1.0) == 3.0
    assert exercise.cosine(deriv(exp))(0.5) == np.cos(0.5)
