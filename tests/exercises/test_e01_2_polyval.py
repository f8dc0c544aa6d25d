import numpy as np

from autodiff_mini.draft import jvp
from autodiff_mini.draft.core import numpy_table


def polyval_of(exercise):
    """Return `np.polyval`, for which the draft asks the exercise."""
    assert numpy_table.get(np.polyval) is exercise.polyval
    return np.polyval


def test_value_agrees_with_numpy(exercise):
    polyval, x = polyval_of(exercise), np.array([-1.0, 0.0, 2.0])
    y, _ = jvp(lambda x: polyval([4.0, 3.0, 2.0], x), (x,), (x,))
    assert np.array_equal(y, np.polyval([4.0, 3.0, 2.0], x))


def test_dtype_agrees_with_numpy(exercise):
    polyval, x = polyval_of(exercise), np.ones(2, np.float32)
    for p in [1, 2], [1.5, 2.0], np.ones(3, np.float32):
        y, _ = jvp(lambda x: polyval(p, x), (x,), (x,))
        assert y.dtype == np.polyval(p, x).dtype


def test_coefficients_can_be_traced(exercise):
    polyval, p = polyval_of(exercise), np.array([4.0, 3.0, 2.0])
    y, y_dot = jvp(lambda p: polyval(p, 10.0), (p,), (np.ones(3),))
    assert (y, y_dot) == (432.0, 111.0)


def test_polynomial_without_coefficients_is_zero(exercise):
    polyval = polyval_of(exercise)
    y, _ = jvp(lambda x: polyval([], x), (np.ones(2),), (np.ones(2),))
    assert np.array_equal(y, [0.0, 0.0])
