"""The wing `patch`: np.array of traced values, and arrays that are filled.

Textbooks' programs are in test_textbook.py; here is what NumPy is meanwhile,
and each way in which an old number could be read by mistake.
"""

import gc
import threading
from types import ModuleType

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core import Trace
from autodiff_mini.patch.names import Patch

ZEROS, ARRAY = np.zeros, np.array
X = np.array([1.0, 2.0, 3.0])


# What the numpy module is

def test_numpy_is_an_ordinary_module_after_an_error():
    def f(x):
        assert type(np) is not ModuleType and np.zeros is not ZEROS
        raise KeyError
    for way in (ad.grad(f), ad.jit(f), ad.jit(ad.grad(f)), ad.vmap(f)):
        with pytest.raises(KeyError):
            way(X)
        assert type(np) is ModuleType and np.zeros is ZEROS


def test_numpy_is_an_ordinary_module_after_ctrl_c_cuts_an_exit_short(
        monkeypatch):
    def interrupted(self, *error):
        raise KeyboardInterrupt
    with monkeypatch.context() as patch:
        patch.setattr(Trace, '__exit__', interrupted)
        with pytest.raises(KeyboardInterrupt):
            ad.jvp(np.sin, (1.0,), (1.0,))
    gc.collect()
    assert type(np) is ModuleType and not Patch.running


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


def test_threads_take_gradients_of_filled_arrays_beside_each_other():
    def f(x):
        y = np.zeros(3)
        y[1:] = np.array([x, x * x])
        return np.sum(y)
    slopes = []

    def work(x):
        slopes.extend(ad.grad(f)(x) == 1 + 2 * x for _ in range(30))
    threads = [threading.Thread(target=work, args=(float(i),))
               for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert slopes == [True] * 90 and type(np) is ModuleType


def test_a_generator_that_outlives_its_trace_finds_numpys_own():
    def arrays(x):
        y = np.zeros(2)
        y[0] = x
        yield np.sum(y)
        yield np.zeros(2)
    left = []

    def f(x):
        left.append(arrays(x))
        return next(left[0])
    assert ad.grad(f)(1.0) == 1.0
    assert type(next(left[0])) is np.ndarray


def test_patch_numpy_off_during_a_trace_leaves_filled_arrays_as_they_are():
    def f(x):
        y = np.zeros(2)
        y[0] = x
        try:
            ad.patch_numpy(False)
            y[1] = y[0] * x
            z = np.zeros(2)
            assert type(z) is np.ndarray
            with pytest.raises(ValueError):
                z[0] = x
        finally:
            ad.patch_numpy()
        return np.sum(y * np.array([x, 1.0]))
    assert ad.grad(f)(3.0) == 12.0
