"""The wing `patch`: np.array of traced values, and arrays to fill.

test_textbook.py has whole programs. This file checks NumPy during a trace,
and each way in which an old number could be read by mistake.
"""

import pickle
import threading
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


def test_other_threads_find_numpys_own_functions_during_a_trace():
    found = []

    def look():
        y = np.zeros(2)
        y[0] = 1.0
        found.extend([np.zeros is ZEROS, np.array is ARRAY, np.sum(y) == 1.0,
                      type(y) is np.ndarray, type(np.copy(y)) is np.ndarray])

    def f(x):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        return np.sum(np.array([x, 1.0]))
    assert ad.grad(f)(1.0) == 1.0
    assert found == [True] * 5


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
