import numpy as np

import autodiff_mini as ad
from tests.traces import spied


def test_value_is_that_of_numpy(exercise):
    x = np.array([-1.0, 0.0, 2.0])
    y, _ = spied(lambda x: np.polyval([4.0, 3.0, 2.0], x), x)
    assert np.all(y == np.polyval([4.0, 3.0, 2.0], x))


def test_dtype_is_that_of_numpy(exercise):
    for p in [1, 2], [1.5, 2.0], np.ones(3, np.float32):
        x = np.ones(2, np.float32)
        y, _ = spied(lambda x: np.polyval(p, x), x)
        assert y.dtype == np.polyval(p, x).dtype


def test_coefficients_may_be_traced(exercise):
    p = np.array([4.0, 3.0, 2.0])
    y, _ = spied(lambda p: np.polyval(p, 10.0), p)
    assert y == 432.0


def test_the_derivative_comes_for_nothing(exercise):
    cubic = lambda x: np.polyval([1.0, 0.0, 0.0, 0.0], x)
    assert ad.jvp(cubic, (3.0,), (1.0,)) == (27.0, 27.0)
    assert ad.jvp(lambda x: np.polyval([1.0, 5.0], x), (3.0,), (2.0,))[1] == 2


def test_a_polynomial_without_coefficients_is_zero(exercise):
    y, _ = spied(lambda x: np.polyval([], x), np.ones(2))
    assert np.shape(y) == (2,) and not np.any(y)
