"""Guard the methods of ufuncs, including small and empty arrays."""

import numpy as np
import pytest

import autodiff_mini as ad
from tests.support import amount
from tests.support.numerical import assert_close, assert_same
from tests.support.statements import assert_every_way_is_numpy
from tests.tables.more_numpy.ufunc_calls import Call, WAYS, difference

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


# What NumPy computes in another dtype, or with another first element.
FIRST = [
    'np.logical_or.accumulate(x - 2)', 'np.logical_xor.reduce(x[2:])',
    'np.hypot.reduce(x[:1].astype(np.int8))', 'np.hypot.reduce(-x[:1])',
    'np.gcd.reduce(np.array([-3], like=x))',
    'np.logical_and.reduceat(x, [2, 0])', 'np.maximum.reduceat(x, [])',
    'np.power.accumulate(x, dtype=np.complex64)',
    'np.subtract.reduce(x, initial=2.5, where=[True, False, True])',
    'np.bitwise_and.reduce(x[:0].astype(np.uint8))',
    'np.logical_or.reduce(x[:0], initial=3)',
    'y = np.copy(x); np.subtract.at(y, 0, np.array([3], np.uint8)[0]); r = y']


def test_a_method_converts_the_first_element_too():
    """`np.logical_or.accumulate([2., 0., 3.])` had a first element of 2."""
    for program in FIRST:
        program = program if 'r = ' in program else f'r = {program}'
        assert_every_way_is_numpy(program, np.array([2.0, 0.0, 3.0]))


def test_a_method_of_any_ufunc_is_numpys():
    for seed in range(4000 if amount.WHOLE else 100):
        call = Call(seed)
        for way in WAYS if amount.WHOLE else list(WAYS)[seed % 2::2]:
            assert difference(call, way) is None, f'{seed}: {way} of {call}'


def test_a_masked_reduction_has_no_slope_where_the_mask_is_false():
    x = np.array([3.0, np.nan, 4.0])
    mask = np.array([True, False, True])
    f = lambda x: np.hypot.reduce(x, where=mask)
    for g in ad.grad(f), ad.jit(ad.grad(f)), ad.jacfwd(f):
        assert_close(g(x), np.array([0.6, 0, 0.8]))


def test_the_reduction_of_one_row_has_memory_of_its_own():
    assert_every_way_is_numpy(
        'a = x * 1; r = np.subtract.reduce(a[None]); r[0] = 7; r = [r, a]',
        X[0])
