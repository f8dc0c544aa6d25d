"""The wing `patch`: np.array of traced values, and arrays to fill.

test_textbook.py has whole programs. This file checks NumPy during a trace,
and each way in which an old number could be read by mistake.
"""

import asyncio
import inspect
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from types import ModuleType

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core.trace import current_trace

ZEROS, ARRAY, LINALG_OUTER = np.zeros, np.array, np.linalg.outer
X = np.array([1.0, 2.0, 3.0])


# The numpy module during a trace

def test_numpy_is_an_ordinary_module_after_an_error():
    """Even if something keeps the trace alive."""
    kept = []

    def f(x):
        kept.append(current_trace())
        assert type(np) is not ModuleType and np.zeros is not ZEROS
        assert np.linalg.outer is LINALG_OUTER is not np.outer
        raise KeyError
    for way in (ad.grad(f), ad.jit(f), ad.jit(ad.grad(f)), ad.vmap(f)):
        with pytest.raises(KeyError):
            way(X)
        assert type(np) is type(np.linalg) is ModuleType and np.zeros is ZEROS


@contextmanager
def a_trace_in_another_thread():
    """Differentiate a function in another thread, which waits for the end."""
    running, end = threading.Event(), threading.Event()

    def f(x):
        running.set()
        assert end.wait(60)
        assert np.array is not ARRAY
        return np.sum(np.array([x, 1.0]))
    with ThreadPoolExecutor(1) as pool:
        slope = pool.submit(ad.grad(f), 1.0)
        try:
            assert running.wait(60)
            assert type(np) is not ModuleType
            yield
        finally:
            end.set()
        assert slope.result() == 1.0


def numpy_as_it_is():
    """Return what a program can see of NumPy, except for the type of np."""
    from numpy import array, zeros
    y = zeros(2)
    y[0] = 1.0
    with pytest.raises(AttributeError) as missing:
        np.no_such_name     # noqa: B018
    return [
        zeros is ZEROS, array is ARRAY, np.linalg.outer is LINALG_OUTER,
        [getattr(module, name) is x for module in (np, np.linalg)
         for name, x in vars(module).items()],
        dir(np), repr(np), str(missing.value), sorted(vars(np)),
        isinstance(np, ModuleType), inspect.ismodule(np.linalg),
        sys.modules['numpy'] is np, pickle.dumps([np.zeros, y, np.r_[y, y]]),
        [type(x) for x in (y, np.copy(y), np.arange(3), np.r_[y, 1.0],
                           np.linalg.inv(np.eye(2)), np.array([y, y]))]]


def test_another_thread_sees_numpy_as_it_is_during_a_trace():
    before = numpy_as_it_is()
    with a_trace_in_another_thread():
        assert numpy_as_it_is() == before


def test_a_module_is_pickled_by_its_name_during_a_trace():
    with a_trace_in_another_thread():
        assert pickle.loads(pickle.dumps([np, np.linalg])) == [np, np.linalg]


def test_a_function_replaced_by_a_test_is_found_in_all_threads(monkeypatch):
    with a_trace_in_another_thread():
        monkeypatch.setattr(np, 'zeros', len)
        assert np.zeros is vars(np)['zeros'] is len
        monkeypatch.undo()
        assert np.zeros is vars(np)['zeros'] is ZEROS


def test_a_task_that_outlives_its_trace_sees_numpy_as_it_is():
    """A task that a traced program starts runs after the trace has ended."""
    async def later():
        return np.zeros is ZEROS, type(np.zeros(2)) is np.ndarray

    async def main():
        def f(x):
            tasks.append(asyncio.create_task(later()))
            contexts.append(copy_context())
            return np.array([x, x * x])[1]
        tasks, contexts = [], []
        assert ad.grad(f)(2.0) == 4.0
        before = numpy_as_it_is()
        with a_trace_in_another_thread():
            assert await tasks[0] == (True, True)
            assert contexts[0].run(numpy_as_it_is) == before
    asyncio.run(main())


def test_a_generator_sees_what_its_caller_sees():
    def names():
        while True:
            yield np.zeros is ZEROS
    looks = names()

    def f(x):
        assert not next(looks)
        return x * x
    assert next(looks) and ad.grad(f)(1.0) == 2.0 and next(looks)


def test_traces_of_several_threads_end_in_any_order():
    steps = {name: threading.Event() for name in ('a in', 'b in', 'a out')}

    def a(x):
        steps['a in'].set()
        assert steps['b in'].wait(60)
        return np.sum(np.array([x, 1.0]))

    def b(x):
        assert steps['a in'].wait(60)
        steps['b in'].set()
        assert steps['a out'].wait(60)      # np is still exchanged for b
        y = np.zeros(2)
        y[0] = x
        return np.sum(y)
    with ThreadPoolExecutor(2) as pool:
        slopes = [pool.submit(ad.grad(f), 1.0) for f in (a, b)]
        assert slopes[0].result(60) == 1.0 and type(np) is not ModuleType
        assert numpy_as_it_is()[0]
        steps['a out'].set()
        assert slopes[1].result(60) == 1.0
    assert type(np) is type(np.linalg) is ModuleType


def test_nested_traces_in_four_threads_leave_numpy_unchanged():
    before = numpy_as_it_is()

    def f(x):
        if x > 2.0:
            raise KeyError
        y = np.zeros(3)
        y[1] = ad.grad(lambda x: np.prod(np.array([x, x, 2.0])))(x)
        return np.sum(y)

    def slope(x):
        try:
            return ad.jit(ad.grad(f))(x) if x < 0 else ad.grad(f)(x)
        except (KeyError, ad.TracerBoolConversionError):
            return None
    with ThreadPoolExecutor(4) as pool:
        slopes = [pool.submit(slope, x) for x in [1.0, 3.0, -1.0] * 20]
        while not all(one.done() for one in slopes):
            assert numpy_as_it_is() == before
        assert [one.result() for one in slopes] == [4.0, None, None] * 20
    assert numpy_as_it_is() == before and type(np) is ModuleType


# Arrays that are filled

def gradient(f, x=0.7):
    """Return the derivative of `f` in each mode, checked by differences."""
    value, slope = f(x), (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
    twice = np.array([x, x])
    np.testing.assert_allclose(ad.jit(f)(x), value, rtol=1e-12)
    np.testing.assert_allclose(ad.vmap(f)(twice)[1], value, rtol=1e-12)
    for way in (ad.grad(f), ad.jacfwd(f), ad.jit(ad.grad(f)),
                ad.grad(ad.jit(f)), ad.grad(ad.checkpoint(f)),
                lambda x: ad.vmap(ad.grad(f))(twice)[1]):
        np.testing.assert_allclose(way(x), slope, rtol=1e-6, atol=1e-8)
    return slope


def written(y, x):
    y[0] = x
    return np.sum(y * np.arange(1.0, 1 + len(y)))


def test_an_array_of_constants_is_filled():
    for make in (
            lambda: np.zeros(3), lambda: np.copy(X),
            lambda: np.arange(6.0)[::2], lambda: np.arange(3) / 2,
            lambda: np.sin(np.linspace(0, 1, 3)),
            lambda: np.linspace(0, 1, 3, retstep=True)[0],
            lambda: np.array(X), lambda: np.where(X > 1, X, 0.0),
            lambda: np.zeros(3, int).astype(float),
            lambda: np.meshgrid(X, X)[0][0], lambda: np.r_[X, 1.0]):
        assert gradient(lambda x: written(make(), x)) != 0


def test_a_numpy_function_takes_a_list_of_traced_values():
    for f in (
            lambda x: np.linalg.norm([x, 1.0]),
            lambda x: np.linalg.det([[x, 1.0], [2.0, x]]),
            lambda x: np.sum(np.linalg.solve(
                [[x, 1.0], [0.0, x]], [1.0, 2.0])),
            lambda x: np.min([x, 1.0]), lambda x: np.dot([x, 1.0], [2.0, x]),
            lambda x: np.vstack([[x, 1.0], [2.0, x]])[1, 1],
            lambda x: written(np.linalg.solve(np.eye(3), X), x),
            lambda x: np.linalg.multi_dot(
                [np.array([[x, 1.0]]), np.array([[x], [2.0]])])[0, 0]):
        assert gradient(f) != 0


VIEWS = [
    lambda y: y.T, lambda y: y[:, 1:], lambda y: y.reshape(6), np.ravel,
    lambda y: y.diagonal(), lambda y: np.split(y, 2, 0)[1],
    lambda y: np.broadcast_to(y, (2, 2, 3)), np.rot90,
    lambda y: np.lib.stride_tricks.sliding_window_view(y, 2, 1),
    lambda y: y.view(), lambda y: np.broadcast_arrays(y, X)[0]]


def test_an_earlier_view_sees_writes():
    for view in VIEWS:
        def f(x):
            y = np.zeros((2, 3))
            seen = view(y)
            y[1, 1] = x
            y[0, 0] = y[1, 2] = x * x
            seen = np.ravel(seen[:])
            return np.sum(np.arange(seen.size) * seen)
        assert gradient(f) != 0


WRITES = [
    lambda y, x: y.T.__setitem__(1, x), lambda y, x: y[1].fill(x),
    lambda y, x: y.reshape(6).__setitem__(slice(None, None, 4), x),
    lambda y, x: y.put([1, 2], x), lambda y, x: np.fill_diagonal(y, x),
    lambda y, x: np.copyto(y[0], x), lambda y, x: y.__imul__(x),
    lambda y, x: y[:, :2].__imatmul__(x * np.eye(2)),
    lambda y, x: np.add.at(y, ([0, 0], [1, 1]), x),
    lambda y, x: np.multiply(X, x, out=y[1]),
    lambda y, x: y.__setitem__(np.ix_([0, 1], [0, 2]), x),
    lambda y, x: y.__setitem__(y > 0, x),
    lambda y, x: np.place(y, y > 0, [x, 1.0]),
    lambda y, x: np.putmask(y, y > 0, x),
    lambda y, x: np.cumsum(x * X, out=y[0]),
    lambda y, x: [row.__setitem__(0, x) for row in y],
    lambda y, x: setattr(y, 'shape', (3, 2)) or y.__setitem__((2, 1), x)]


@pytest.mark.filterwarnings('ignore:Setting the shape')
def test_a_write_of_each_kind_is_traced():
    for write in WRITES:
        def f(x):
            y = np.eye(2, 3)
            whole = y[:]
            write(y, x)
            return (np.sum(np.arange(6.0) * np.ravel(whole))
                    + np.sum(np.ravel(y) * np.arange(6.0)[::-1]) * x)
        assert gradient(f) != 0


def test_c_code_cannot_read_old_numbers_in_a_filled_array():
    def f(x):
        y = np.ones(3)
        memory = memoryview(y)
        y[0] = x
        assert np.isnan(memory.tolist()).all()
        with pytest.raises((TypeError, ValueError)):
            list(map(float, np.nditer(y)))
        return np.sum(y)
    assert ad.grad(f)(2.0) == 1.0


@pytest.mark.filterwarnings('ignore:an .except. clause')
def test_no_array_from_outside_is_filled_through_a_view():
    for view in (
            lambda a: np.reshape(a, (3, 1)), lambda a: np.ravel(a=a),
            np.flip, np.asarray, lambda a: a[1:],
            lambda a: np.einsum('i->i', a), lambda a: np.array(a, copy=None),
            lambda a: np.sum(np.ones((2, 3)), 0, out=a),
            lambda a: np.clip(a, 0, 9, a), lambda a: np.cumsum(a, out=a),
            lambda a: np.asanyarray(a, float)):
        outside = np.ones(3)

        def f(x):
            y = view(outside)
            before = outside.copy()
            with pytest.raises((ValueError, TypeError)):
                y[0] = x
            np.testing.assert_array_equal(outside, before)
            return x * x
        assert ad.grad(f)(2.0) == ad.jit(f)(2.0) == 4.0


def test_writing_a_traced_float_into_integers_warns():
    def f(x):
        y = np.array([0, 0])
        y[0] = x
        return x * np.sum(y)
    with pytest.warns(UserWarning, match='Use an array of floats'):
        assert ad.grad(f)(2.7) == 2.0


def test_an_array_to_be_filled_is_pickled_like_numpys():
    def f(x):
        y = np.arange(3.0)
        y.put([0, 1], [5.0, 6.0])
        z = pickle.loads(pickle.dumps(y))
        assert type(z) is np.ndarray and list(z) == [5.0, 6.0, 2.0]
        return x * np.ascontiguousarray([x, 1.0])[0]
    assert ad.grad(f)(2.0) == 4.0
