"""What every test and every doctest runs in."""

import numpy as np
import pytest

from autodiff_mini.core import Trace, current_trace, set_current_trace


@pytest.fixture(autouse=True, scope='session')
def plain_numbers():
    """Prints numbers as `2.0`, not `np.float64(2.0)`, as the book does."""
    with np.printoptions(legacy='1.25'):
        yield


@pytest.fixture(autouse=True)
def base_trace_stays_current():
    assert current_trace() is Trace.base
    yield
    left = current_trace()
    set_current_trace(Trace.base)   # or every later test would fail too
    assert left is Trace.base, f'the test left {left} current'
