"""numpy_functions: NumPy calls on tracers.

The programs of programs.py cover the values, and this file covers the
rest.
"""

import enum

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.primitives.elementwise import add_p
from tests.commands import what_works
from tests.support.numerical import assert_same, assert_same_type
from tests.support.traces import SpyTracer, spied
from tests.support.wings import needs


def counts_of(f, *args):
    """Return how often `f` uses each primitive."""
    return dict(spied(f, *args)[1])


def test_a_ufunc_and_its_operator_are_one_primitive():
    for f in (lambda x: np.add(x, 1), lambda x: x + 1, lambda x: 1 + x,
              lambda x: np.ones(2) + x):
        assert counts_of(f, np.ones(2)) == {add_p: 1}


def test_questions_about_shapes_are_not_operations():
    x, answers = np.ones((2, 3)), []
    for f in (lambda x: x.shape, np.shape, lambda x: x.ndim, np.ndim,
              lambda x: x.size, np.size, lambda x: np.size(x, 0), len,
              lambda x: x.dtype):
        assert counts_of(lambda t: answers.append(f(t)) or t, x) == {}
        assert answers.pop() == f(x)


def test_everything_in_the_tables_has_a_program():
    """A NumPy function without a program would not be tested."""
    unseen = [f'{title}.{name}'
              for title, module in what_works.MODULES.items()
              for name, f in what_works.functions(module).items()
              if what_works.asks(f) and what_works.stands(f)
              and f not in what_works.calls()]
    assert unseen == []


def test_0d_tracers_have_no_length_and_no_rows():
    for f, words in (len, 'unsized'), (list, 'iteration over a 0-d'):
        with pytest.raises(TypeError, match=words):
            ad.jvp(f, (1.0,), (1.0,))


# asarray

def test_asarray_of_plain_values_is_a_plain_array():
    x = np.ones(2)
    assert ad.asarray(x) is x
    for a, expected in (
            ([1, 2], np.array([1, 2])), (2.0, np.float64(2.0)),
            ([[1., 2], [3, 4]], np.array([[1., 2], [3, 4]]))):
        assert_same(ad.asarray(a), expected)
    assert_same(ad.asarray(1, np.float32), np.float32(1))
    for a in ('text', None, ['a'], [None], {}, [[1], [2, 3]],
              np.eye(2).view(np.matrix)):
        with pytest.raises((TypeError, ValueError)):
            ad.asarray(a)


def test_asarray_lifts_constants_to_the_current_interpreter():
    def f(x):
        for a in (ad.asarray(np.ones(2)), ad.asarray(1.0), ad.asarray([1, 2]),
                  ad.asarray(np.ones(2), np.float32),
                  ad.asarray([1, 2], np.float32)):
            assert type(a) is SpyTracer and a._trace is x._trace
        assert ad.asarray(x) is x
        return x

    spied(f, np.ones(2))


def test_a_plain_array_can_be_indexed_by_a_tracer():
    """For `array[i]`, NumPy does not ask the tracer; its error names asarray.
    """
    a = np.arange(10.)
    y, _ = spied(lambda i: ad.asarray(a)[i], np.array([3, 5]))
    assert_same(y, a[[3, 5]])
    y, _ = spied(lambda i: ad.asarray(a)[[i, i]], np.array(3))
    assert_same(y, a[[3, 3]])
    y, _ = spied(lambda i: ad.asarray(a.reshape(2, 5))[1, i], np.array(3))
    assert_same(y, np.float64(8.))


def test_asarray_stacks_nested_lists_of_tracers():
    f = lambda x: ad.asarray([[x, 1.0], (2.0, x * x)])
    y, y_dot = ad.jvp(f, (3.0,), (1.0,))
    assert_same(y, np.array([[3., 1], [2, 9]]))
    assert_same(y_dot, np.array([[1., 0], [0, 6]]))


@needs('more_numpy')
def test_none_for_the_dtype_of_a_ufunc_means_the_default():
    f = lambda x: np.add(x, 1, dtype=None)
    assert f(1.0) == 2.0
    assert ad.jvp(f, (1.0,), (1.0,)) == (2.0, 1.0)


class Kind(enum.IntEnum):
    SECOND = 2


class Length(float):
    """A number of a user's own class."""


def test_a_number_of_a_subclass_is_converted_as_in_numpy():
    for f in (lambda x: x * Kind.SECOND, lambda x: Kind.SECOND - x,
              lambda x: x ** Kind.SECOND, lambda x: Length(2.5) * x,
              lambda x: np.where(x == 1, x, Kind.SECOND),
              lambda x: np.add(x, Length(2.5))):
        for dtype in map(np.dtype, 'f4 i1 f8 c16'.split()):
            for x in np.arange(3).astype(dtype), dtype.type(1):
                assert_same(ad.jit(f)(x), np.asarray(f(x)))


@pytest.mark.parametrize('n', [Kind.SECOND, Length(2.5)])
def test_an_argument_can_be_a_number_of_a_subclass(n):
    f = lambda x, n: np.sin(x) * n + n
    for x in 2.0, np.float32(2), np.arange(3.0):
        for way in (
                ad.jit(f), lambda *args: ad.linearize(f, *args)[0],
                ad.vmap(f, (None, None), axis_size=1),
                lambda x, n: ad.scan(lambda c, _: (c, f(x, c)), n, None,
                                     1)[1]):
            assert np.result_type(way(x, n)) == np.result_type(f(x, n))
            np.testing.assert_array_equal(np.squeeze(way(x, n)), f(x, n))


def test_a_tracer_is_not_a_string_and_not_none():
    """Arrays answer the same in NumPy, so code can test an option."""
    def f(x):
        for other in None, 'auto', '':
            told = x != other, x == other, x in ('auto', None)
            assert told == (True, False, False)
        return 3 * x

    for way in ad.grad(f), ad.jit(f), lambda x: ad.vmap(f)(np.array([x])):
        way(2.0)


def test_astype_takes_its_options_as_numpys_method_does():
    x = np.array([1.5, 2.5])
    for convert in (lambda x: x.astype(dtype='f'),
                    lambda x: x.astype('f', 'C', 'same_kind'),
                    lambda x: x.astype('f', copy=False)):
        assert_same_type(ad.jit(convert)(x), convert(x))
        assert ad.grad(lambda x: np.sum(convert(x)))(x).tolist() == [1, 1]
    with pytest.raises(TypeError, match="according to the rule 'safe'"):
        ad.jit(lambda x: x.astype(int, casting='safe'))(x)
