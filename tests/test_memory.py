"""Memory: what the library does to that of its users, and when."""

import gc
import tempfile

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.memory import Uncollected


@pytest.fixture
def collector():
    """Restores the garbage collector."""
    enabled, thresholds = gc.isenabled(), gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)
    (gc.enable if enabled else gc.disable)()


def test_the_garbage_collector_waits_while_a_program_is_written_down(
        collector):
    gc.set_threshold(700, 10, 10)
    with Uncollected():
        with Uncollected():
            assert gc.get_threshold()[0] == 0
        assert gc.get_threshold()[0] == 0
    assert gc.get_threshold() == (700, 10, 10)


def test_it_runs_again_after_an_error(collector):
    gc.set_threshold(700, 10, 10)
    with pytest.raises(TypeError):
        ad.make_jaxpr(lambda x: np.sin(x) if x > 0 else x)(1.0)
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize('change', [gc.disable, gc.enable])
@pytest.mark.parametrize('before', [gc.disable, gc.enable])
def test_a_program_that_turns_the_collector_on_or_off_is_obeyed(
        change, before, collector):
    def f(x):
        change()
        return x * 2
    before()
    ad.make_jaxpr(f)(1.0)
    assert gc.isenabled() == (change is gc.enable)


def test_a_program_that_sets_the_thresholds_is_obeyed(collector):
    def f(x):
        gc.set_threshold(123, 4, 5)
        return x * 2
    ad.make_jaxpr(f)(1.0)
    assert gc.get_threshold() == (123, 4, 5)


# What a program has closed over

def test_a_constant_that_becomes_minus_zero_is_another():
    c = np.array([0.0, 1.0])

    def f(x):
        c[0] = 0.0
        y = x / c
        c[0] = -0.0
        return y, x / c

    with np.errstate(divide='ignore'):
        for y, expected in zip(ad.jit(f)(np.ones(2)), f(np.ones(2))):
            np.testing.assert_array_equal(y, expected)


class Labelled(np.ndarray):
    """An array of a user's own class."""


def mapped():
    """Returns an array that is a file."""
    with tempfile.TemporaryFile() as file:
        x = np.memmap(file, float, shape=2)
    x[:] = 2
    return x


ARRAYS = {     # by name: an array, and what owns its memory
    'labelled': lambda: [np.full(2, 2.0).view(Labelled)] * 2,
    'labelled_view': lambda: [np.full(4, 2.0).view(Labelled)[::2]] * 2,
    'labelled_0d': lambda: [np.array(2.0).view(Labelled)] * 2,
    'file': lambda: [mapped()] * 2,
    'view_of_a_file': lambda: (lambda x: (x[::-1], x))(mapped()),
    '0d': lambda: [np.array(2.0)] * 2,
    'broadcast': lambda: (lambda x: (np.broadcast_to(x, (3, 2)), x))(
        np.full(1, 2.0)),
    'a_field': lambda: [np.full(2, 2.0, [('a', float), ('b', float)])['b']]
    * 2,
    'big_endian': lambda: [np.full(2, 2.0, '>f8')] * 2,
}
KEEPERS = {
    'jit': ad.jit,
    'linearize': lambda f: lambda x: ad.linearize(f, x)[1],
    'vjp': lambda f: lambda x: ad.vjp(f, x)[1],
    'make_jaxpr': lambda f: lambda x: (
        lambda jaxpr: lambda x: ad.eval_jaxpr(jaxpr, jaxpr.consts, x)[0])(
            ad.make_jaxpr(f)(x)),
}


@pytest.mark.parametrize('kind', ARRAYS)
@pytest.mark.parametrize('keep', KEEPERS)
def test_a_program_keeps_what_an_array_was(keep, kind):
    array, owner = ARRAYS[kind]()
    x = np.full(np.shape(array), 3.0)[()]
    run = KEEPERS[keep](lambda x: x * array)
    if keep == 'jit':
        run(x)
    else:
        run = run(x)
    owner[...] = 7
    np.testing.assert_array_equal(*np.broadcast_arrays(run(x), 6.0))
