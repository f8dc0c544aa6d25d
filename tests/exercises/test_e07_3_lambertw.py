import numpy as np

from autodiff_mini.draft.core import ShapedArray, typeof
from autodiff_mini.draft.jaxpr import abstract_eval

W = np.linspace(0.1, 2.0, 6)
X = W * np.exp(W)


def check(exercise, x):
    """Check that the rule knows the type of the result for `x`."""
    found = abstract_eval(exercise.lambertw_p, [typeof(x)], {})
    assert found == typeof(exercise.lambertw(x))


def test_shapes(exercise):
    check(exercise, X)
    check(exercise, X.reshape(2, 3))
    check(exercise, np.float64(0.5))


def test_dtypes(exercise):
    for dtype in np.float16, np.float32, np.int8, np.int64:
        check(exercise, np.ones(3, dtype))


def test_a_huge_array_is_not_computed(exercise):
    huge = ShapedArray((10 ** 9, 10 ** 9), np.dtype(np.float32))
    assert abstract_eval(exercise.lambertw_p, [huge], {}) == huge
