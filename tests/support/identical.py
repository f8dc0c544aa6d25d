"""Comparisons to the bit: values, classes, errors, warnings, and memory."""

import warnings

import numpy as np

import autodiff_mini as ad
from tests.support.numerical import python_type


def assert_identical(actual, expected):
    """Assert the same trees of the same types and bits; NaN equals NaN."""
    leaves, others = map(ad.tree_leaves, (actual, expected))
    assert ad.tree_structure(actual) == ad.tree_structure(expected)
    for x, y in zip(leaves, others, strict=True):
        y = plain(y)
        assert type(x) is type(y), (type(x), type(y))
        x, y = np.asarray(x), np.asarray(y)
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        same = x == y
        if x.dtype.kind == 'f':
            same &= np.signbit(x) == np.signbit(y)
            same |= np.isnan(x) & np.isnan(y)
        assert np.all(same), (x[~same][:5], y[~same][:5], np.sum(~same))


def plain(x):
    """Return `x`, or a scalar if it is an array without axes."""
    return x[()] if isinstance(x, np.ndarray) and x.ndim == 0 else x


def outcome(f, xs, state):
    """Return the result or the error of `f`, and the kinds of its warnings.
    """
    with warnings.catch_warnings(record=True) as caught, \
            np.errstate(**state):
        warnings.simplefilter('always')
        try:
            out = f(*xs)
        except (ArithmeticError, TypeError, ValueError) as error:
            out = Raised(error)
    return out, {(w.category, str(w.message).split(' encountered')[0])
                 for w in caught}


class Raised:
    """An error that equals any other of its type."""

    def __init__(self, error):
        self.error = error

    def __eq__(self, other):
        return type(self.error) is type(getattr(other, 'error', None))

    def __repr__(self):
        return repr(self.error)


def assert_own(outs, others):
    """Assert that outputs share no memory, and return their arrays."""
    outs = arrays_of(outs)
    for i, y in enumerate(outs):
        assert y.ndim and y.flags.writeable
        for other in arrays_of([others, outs[:i]]):
            assert not np.may_share_memory(y, other)
    return outs


def arrays_of(tree):
    return [x for x in ad.tree_leaves(tree) if isinstance(x, np.ndarray)]


class Labeled(np.ndarray):
    """An array of a subclass, which computes like any other."""


def same_bits(x, y):
    """Assert that two results are the same, to the bit and the type."""
    assert python_type(x) is python_type(y)
    x, y = np.asarray(x), np.asarray(y)
    assert (x.shape, x.dtype) == (y.shape, y.dtype)
    np.testing.assert_array_equal(x, y)
    if x.dtype.kind == 'f':
        np.testing.assert_array_equal(np.signbit(x), np.signbit(y))
