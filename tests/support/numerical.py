"""Numerical derivatives, and the tolerances of comparisons.

The differences use long double if the machine has it, and formulas of fourth
order, so their error is far below the tolerances.
"""

import numpy as np

# By the dtype of the result, in one place for all tests.
TOLERANCES = {np.dtype(kind): tolerance for kinds, tolerance in (
    ('e', 8e-3), ('fF', 2e-5), ('dDg', 1e-8)) for kind in kinds}


def assert_close(actual, expected, dtype=None):
    """Assert that the values agree within the precision of their dtype."""
    dtype = np.dtype(dtype or np.result_type(actual))
    tolerance = TOLERANCES.get(dtype, 0)
    actual, expected = widen(actual), widen(expected)
    np.testing.assert_allclose(actual, expected, tolerance, tolerance)


def assert_same_type(actual, expected):
    """Assert equal shapes and dtypes."""
    assert np.shape(actual) == np.shape(expected)
    assert np.result_type(actual) == np.result_type(expected)


def assert_same(actual, expected, ulps=1):
    """Assert equal values, shapes, and dtypes, and the same Python types."""
    assert python_type(actual) is python_type(expected)
    assert_same_type(actual, expected)
    dtype = np.result_type(expected)
    # NumPy's own operator and ufunc may differ in the last bit.
    last_bit = np.finfo(dtype).eps if dtype.kind in 'fc' else 0
    np.testing.assert_allclose(actual, expected, rtol=ulps * last_bit,
                               atol=(ulps - 1) * last_bit)


def python_type(x):
    """Return the type of a Python number, or None for an array."""
    return type(x) if type(x) in (bool, int, float, complex) else None


def widen(x):
    """Return `x` in the widest dtype of its kind."""
    kind = np.result_type(x).kind
    wide = {'f': np.longdouble, 'c': np.clongdouble}.get(kind)
    return x if wide is None else np.asarray(x, wide)[()]


def derivative(f, h=1e-3):
    """Return the derivative at 0 of a function of one number."""
    return (f(-2 * h) - 8 * f(-h) + 8 * f(h) - f(2 * h)) / (12 * h)


def second_derivative(f, h=1e-3):
    """Return the second derivative at 0 of a function of one number."""
    return (-f(-2 * h) + 16 * f(-h) - 30 * f(0) + 16 * f(h)
            - f(2 * h)) / (12 * h * h)


def along(f, xs, x_dots):
    """Return `s -> f(xs + s * x_dots)`, widened, for differences.

    An argument whose entry in `x_dots` is None does not change.
    """
    def line(s):
        moved = [x if x_dot is None else widen(x) + s * widen(x_dot)
                 for x, x_dot in zip(xs, x_dots, strict=True)]
        return np.asarray(f(*moved), np.clongdouble)
    return line
