"""Guard the methods of ufuncs, including small and empty arrays."""

import numpy as np
import pytest

import autodiff_mini as ad
from tests.numerical import assert_close, assert_same

X = np.arange(6.0).reshape(2, 3) + 1
SMALL = np.array([100, 100], np.int8)


@pytest.mark.parametrize('f', [
    lambda x: np.add.reduce(x), lambda x: np.add.reduce(x, dtype=np.int8),
    lambda x: np.multiply.accumulate(x, dtype=np.int8),
    lambda x: np.logical_or.reduce(x > 3), lambda x: np.subtract.reduce(x),
    lambda x: np.add.reduceat(x, [0, 1]), lambda x: np.multiply.outer(x, x),
    lambda x: np.add(x, x, dtype=np.int16),
])
def test_small_integers_have_numpys_dtypes(f):
    assert_same(ad.jit(f)(SMALL), f(SMALL))


@pytest.mark.parametrize('ufunc', [
    np.add, np.multiply, np.logical_and, np.logaddexp])
def test_an_empty_reduction_is_the_identity(ufunc):
    f = lambda x: ufunc.reduce(x, axis=1)
    assert_same(ad.jit(f)(X[:, :0]), f(X[:, :0]))


def test_an_empty_reduction_without_identity_is_an_error():
    for ufunc in np.subtract, np.divide:
        f = lambda x: ufunc.reduce(x[:0])
        for g in f, ad.jit(f):
            with pytest.raises(ValueError, match='zero-size array to'):
                g(X)


def test_the_slope_of_a_running_maximum_belongs_to_its_element():
    x = np.array([1.0, 3.0, 2.0, 5.0])
    gradient = ad.grad(lambda x: np.sum(np.maximum.accumulate(x)))(x)
    assert_same(gradient, np.array([1.0, 2.0, 0.0, 1.0]))


def test_the_slope_of_logaddexp_reduce_is_softmax():
    weights = np.exp(X) / np.sum(np.exp(X))
    g = ad.grad(lambda x: np.logaddexp.reduce(x, axis=None))
    assert_close(g(X), weights)


def test_where_of_a_ufunc_selects_what_is_written():
    def f(x):
        y = np.full_like(x, 7.0)
        np.multiply(x, x, out=y, where=x > 2)
        return y

    assert_same(ad.jit(f)(X), f(X))
    assert_same(ad.jvp(f, (X,), (np.ones_like(X),))[1], 2 * X * (X > 2))
    with pytest.raises(NotImplementedError, match='numpy.sin with where='):
        ad.jvp(lambda x: np.sin(x, where=[True] * 3), (X,), (X,))


def test_an_impossible_dtype_raises_numpys_error():
    f = lambda x: np.add(x, 1.5, dtype=np.int64)
    for g in f, ad.jit(f):
        with pytest.raises(TypeError, match='Cannot cast ufunc'):
            g(X)
