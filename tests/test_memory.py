"""Memory: what the library does to that of its users, and when."""

import gc

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
