"""numpy_api.py: what a NumPy call on a tracer means.

The programs of tests/programs.py cover values; here is the rest.
"""

import enum

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.primitives.elementwise import add_p
from autodiff_mini.primitives.indexing import OPERAND
from tests import what_works
from tests.numerical import assert_same
from tests.traces import SpyTrace, SpyTracer, spied
from tests.wings import needs


def counts_of(f, *args):
    """Return how often `f` asks for each primitive."""
    return dict(spied(f, *args)[1])


def test_a_ufunc_and_its_operator_are_one_primitive():
    assert counts_of(lambda x: np.add(x, 1), np.ones(2)) == {add_p: 1}
    assert counts_of(lambda x: x + 1, np.ones(2)) == {add_p: 1}
    assert counts_of(lambda x: 1 + x, np.ones(2)) == {add_p: 1}
    assert counts_of(lambda x: np.ones(2) + x, np.ones(2)) == {add_p: 1}


@pytest.mark.parametrize('f', [
    lambda x: x.shape, lambda x: np.shape(x), lambda x: x.ndim,
    lambda x: np.ndim(x), lambda x: x.size, lambda x: np.size(x),
    lambda x: np.size(x, 0), lambda x: len(x), lambda x: x.dtype,
])
def test_questions_about_shapes_are_no_operations(f):
    x = np.ones((2, 3))
    answer = []
    assert counts_of(lambda t: answer.append(f(t)) or t, x) == {}
    assert answer == [f(x)]


def test_everything_in_the_tables_has_a_program():
    """A NumPy function that no program calls would go untested."""
    unseen = [f'{title}.{name}'
              for title, module in what_works.MODULES.items()
              for name, f in what_works.functions(module).items()
              if what_works.asks(f) and what_works.stands(f)
              and f not in what_works.calls()]
    assert unseen == []


def test_parameters_are_in_one_form_however_they_were_written():
    """Rules of later interpreters rely on it."""
    forms = {
        lambda x: np.sum(x): {'axis': (0, 1), 'keepdims': False},
        lambda x: np.sum(x, -1, keepdims=1): {'axis': (1,), 'keepdims': True},
        lambda x: x.sum((-1, 0)): {'axis': (1, 0), 'keepdims': False},
        lambda x: np.transpose(x): {'axes': (1, 0)},
        lambda x: np.reshape(x, [np.int64(3), -1]): {'shape': (3, 2)},
        lambda x: np.stack([x, x], axis=-1): {'axis': 2},
        lambda x: np.broadcast_to(x, [4, 2, 3]): {'shape': (4, 2, 3)},
        lambda x: x[np.int8(-1), ..., None]: {'indices': (-1, ..., None)},
        lambda x: x[[1, 0]]: {'indices': (OPERAND,)},
        lambda x: x[:, True]: {'indices': (slice(None), OPERAND)},
        lambda x: x.astype('f4'): {'dtype': np.dtype(np.float32),
                                   'weak_type': False},
        lambda x: x.argmax(): {'axis': 0},
        lambda x: np.argsort(x, None, stable=True): {'axis': 0,
                                                     'kind': 'stable'},
        lambda x: x.cumsum(): {'axis': 0},
        lambda x: np.concatenate([x, x], -1): {'axis': 1},
    }
    for f, expected in forms.items():
        with SpyTrace(f) as trace:
            f(SpyTracer(trace, np.ones((2, 3))))
        params = trace.params[-1]
        assert params == expected
        for key, value in expected.items():
            assert type(params[key]) is type(value)


@pytest.mark.parametrize('f, words', [
    (lambda x: len(x), 'unsized'),
    (lambda x: list(x), 'iteration over a 0-d'),
    (lambda x: [*x], 'iteration over a 0-d'),
])
def test_0d_tracers_have_no_length_and_no_rows(f, words):
    with pytest.raises(TypeError, match=words):
        ad.jvp(f, (1.0,), (1.0,))


# asarray

def test_asarray_of_plain_values_is_a_plain_array():
    x = np.ones(2)
    assert ad.asarray(x) is x
    assert_same(ad.asarray([1, 2]), np.array([1, 2]))
    assert_same(ad.asarray([[1., 2], [3, 4]]), np.array([[1., 2], [3, 4]]))
    assert_same(ad.asarray(2.0), np.float64(2.0))
    assert_same(ad.asarray(1, np.float32), np.float32(1))
    assert_same(ad.asarray([1, 2], dtype='float32'),
                np.array([1, 2], np.float32))


def test_asarray_lifts_constants_to_the_interpreter_at_work():
    def f(x):
        for a in (ad.asarray(np.ones(2)), ad.asarray(1.0), ad.asarray([1, 2]),
                  ad.asarray(np.ones(2), np.float32),
                  ad.asarray([1, 2], np.float32)):
            assert type(a) is SpyTracer and a._trace is x._trace
        assert ad.asarray(x) is x
        return x

    spied(f, np.ones(2))


def test_a_plain_array_can_be_indexed_by_a_tracer():
    """NumPy asks no tracer about `array[i]`; its error names asarray."""
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


@pytest.mark.parametrize('a', ['text', None, ['a'], [None], {}, [[1], [2, 3]],
                               np.eye(2).view(np.matrix)], ids=str)
def test_asarray_refuses_what_is_no_array(a):
    with pytest.raises((TypeError, ValueError)):
        ad.asarray(a)


@needs('more')
def test_none_for_the_dtype_of_a_ufunc_means_the_default():
    f = lambda x: np.add(x, 1, dtype=None)
    assert f(1.0) == 2.0
    assert ad.jvp(f, (1.0,), (1.0,)) == (2.0, 1.0)


class Kind(enum.IntEnum):
    SECOND = 2


class Length(float):
    """A number of a user's own class."""


@pytest.mark.parametrize('dtype', [np.float32, np.int8, float, complex])
@pytest.mark.parametrize('f', [
    lambda x: x * Kind.SECOND, lambda x: Kind.SECOND - x,
    lambda x: x ** Kind.SECOND, lambda x: np.where(x == 1, x, Kind.SECOND),
    lambda x: np.add(x, Length(2.5)), lambda x: Length(2.5) * x])
def test_a_number_of_a_subclass_is_what_numpy_makes_of_it(f, dtype):
    for x in np.arange(3).astype(dtype), np.dtype(dtype).type(1):
        y = ad.jit(f)(x)
        assert y.dtype == np.asarray(f(x)).dtype
        assert_same(y, np.asarray(f(x)))
@pytest.mark.parametrize('n', [Kind.SECOND, Length(2.5)])
@pytest.mark.parametrize('x', [2.0, np.float32(2), np.arange(3.0)])
def test_an_argument_may_be_a_number_of_a_subclass(x, n):
    f = lambda x, n: np.sin(x) * n + n
    for way in (ad.jit(f), lambda *args: ad.vjp(f, *args)[0],
                lambda *args: ad.linearize(f, *args)[0],
                ad.vmap(f, (None, None), axis_size=1),
                lambda x, n: ad.scan(lambda c, _: (c, f(x, c)), n, None, 1)[1],
                lambda x, n: ad.cond(n > 1, f, np.add, x, n)):
        assert np.result_type(way(x, n)) == np.result_type(f(x, n))
        np.testing.assert_array_equal(np.squeeze(way(x, n)), f(x, n))
    assert_same(ad.jit(ad.grad(lambda x, n: np.sum(f(x, n))))(x, n),
                ad.grad(lambda x: np.sum(f(x, n)))(x))


@pytest.mark.parametrize('other', [None, 'auto', ''])
@pytest.mark.parametrize('transform', [
    ad.grad, ad.vmap, ad.jit, lambda f: lambda x: ad.jvp(f, (x,), (x,))[1]])
def test_a_tracer_is_no_word_and_not_none(transform, other):
    """As NumPy says of arrays; so an option may be looked at."""
    def f(x):
        told = x != other, x == other, x in ('auto', None)
        assert told == (True, False, False)
        return 3 * x

    transform(f)(np.ones(2) if transform is ad.vmap else 2.0)


