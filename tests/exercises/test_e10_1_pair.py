import numpy as np

import autodiff_mini as ad

X = np.array([1.0, 2.0])
SLOPES = np.cos(X)


def pull(exercise, f, *cts):
    """Returns the cotangent of X, for those of what `f` returns."""
    _, f_jvp = ad.linearize(f, X)
    (ct,) = exercise.backward_pass(f_jvp.program.jaxpr, f_jvp.residuals, cts)
    return ct


def twice(x):
    y = np.sin(x)
    return y, y


def test_a_result_that_is_returned_twice(exercise):
    assert np.allclose(pull(exercise, twice, X, np.ones(2)),
                       SLOPES * (X + 1))


def test_an_argument_that_is_returned_twice(exercise):
    assert np.allclose(pull(exercise, lambda x: (x, x), X, 2 * X), 3 * X)


def test_a_result_that_is_returned_twice_and_used(exercise):
    f = lambda x: (*twice(x), 2 * np.sin(x), np.sin(x) + x)
    ones = np.ones(2)
    assert np.allclose(pull(exercise, f, ones, ones, ones, ones),
                       5 * SLOPES + 1)


def test_the_last_of_them_does_not_count(exercise):
    assert np.allclose(pull(exercise, twice, X, np.zeros(2)), SLOPES * X)
