"""interpreters/evaluate.py: where NumPy answers."""

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core import Trace, current_trace
from autodiff_mini.primitives.elementwise import add_p, sin_p
from autodiff_mini.primitives.reductions import reduce_sum_p
from tests.traces import SpyTrace, SpyTracer


def test_base_trace_has_no_parent():
    assert Trace.base.parent is None and current_trace() is Trace.base


def test_evaluation_calls_the_implementation():
    assert add_p.bind(1.5, 2) == 3.5
    x = np.ones((2, 3))
    y = reduce_sum_p.bind(x, axis=(0,), keepdims=True)
    np.testing.assert_array_equal(y, [[2., 2., 2.]])


def test_evaluation_gives_what_numpy_gives():
    x = np.float32(0.5)
    assert type(sin_p.bind(x)) is np.float32


def test_evaluation_lifts_nothing():
    x = np.ones(2)
    assert Trace.base.lift(x) is x
    assert ad.asarray(x) is x


def test_a_tracer_in_evaluation_is_lost():
    trace = SpyTrace(np.sin)
    with pytest.raises(ad.UnexpectedTracerError, match='spy of sin'):
        add_p.bind(1.0, SpyTracer(trace, 1.0))
