"""Guard trace.py and types.py: primitives, traces, tracers, and types."""

import threading

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.calls.call import call, call_p
from autodiff_mini.core.names import TraceTag
from autodiff_mini.core.trace import Trace, current_trace
from autodiff_mini.core.types import is_array
from autodiff_mini.primitives.elementwise import add_p, sin_p
from tests.support.traces import SpyTrace, SpyTracer, spied


def test_bind_computes_where_nothing_is_traced():
    assert sin_p.bind(0.5) == np.sin(0.5)
    assert type(add_p.bind(1, 2)) is int


def test_bind_asks_the_current_trace():
    with SpyTrace(np.sin) as trace:
        y = sin_p.bind(0.5)
    assert trace.counts == {sin_p: 1}
    assert type(y) is SpyTracer and y.value == np.sin(0.5)


def test_trace_is_current_only_inside_its_block():
    with SpyTrace(np.sin) as outer:
        assert current_trace() is outer and outer.parent is Trace.base
        with SpyTrace(np.cos) as inner:
            assert current_trace() is inner and inner.parent is outer
            assert inner.thread == threading.get_ident()
        assert current_trace() is outer and inner.thread is None
    assert current_trace() is Trace.base


def test_trace_must_process_primitives():
    class Half(Trace):
        pass

    with Half(current_trace(), TraceTag('half', np.sin)):
        with pytest.raises(NotImplementedError,
                           match='Half does not define interpret'):
            sin_p.bind(1.0)


def test_call_is_dispatched_without_tracer_arguments():
    """An is_call primitive can close over tracers, so its rule must run."""
    with SpyTrace(np.sin) as trace:
        call(np.sin, 0.5)
    assert trace.counts[call_p] == 1


def test_tracer_answers_for_shape_and_dtype():
    def f(x):
        assert (x.shape, x.ndim, x.size, len(x)) == ((2, 3), 2, 6, 2)
        assert x.dtype == np.float32
        return x

    spied(f, np.ones((2, 3), np.float32))


def test_tracers_are_neither_arrays_nor_hashable():
    with SpyTrace(np.sin) as trace:
        assert not is_array(SpyTracer(trace, 1.0)) and not is_array(1.0)
        with pytest.raises(TypeError, match='unhashable'):
            hash(SpyTracer(trace, 1.0))


def test_tracer_without_a_value_has_no_truth_value():
    class Abstract(SpyTracer):
        __slots__ = ()
        __bool__ = ad.Tracer.__bool__

    with SpyTrace(np.sin) as trace:
        with pytest.raises(ad.TracerBoolConversionError, match='Write'):
            bool(Abstract(trace, 1.0))


def test_typeof_returns_shape_dtype_and_weakness():
    for x, shape, dtype, weak, text in (
            (True, (), bool, True, 'bool[]'),
            (2, (), int, True, 'int64[]'),
            (2j, (), complex, True, 'complex128[]'),
            (np.float32(2), (), np.float32, False, 'float32[]'),
            (np.bool_(True), (), bool, False, 'bool[]'),
            (np.ones((2, 0), np.int8), (2, 0), np.int8, False, 'int8[2,0]')):
        aval = ad.typeof(x)
        assert aval == ad.ShapedArray(shape, np.dtype(dtype), weak)
        assert aval.ndim == len(shape) and str(aval) == text
        assert ad.typeof(aval) is aval


@pytest.mark.parametrize('x', [
    'text', None, [1.0], (1.0,), object(), np.eye(1).view(np.matrix),
    np.ma.array([1.0]), {}, np.sin,
], ids=lambda x: type(x).__name__)
def test_typeof_refuses_values_that_are_not_arrays(x):
    assert not is_array(x)
    with pytest.raises(TypeError, match=f'type {type(x).__name__} cannot'):
        ad.typeof(x)


def test_typeof_refuses_dtypes_without_numbers():
    for x in (np.array(['a']), np.array([None]), np.array([1], 'm8[s]'),
              np.array(['2020'], 'M8[D]'), np.zeros(1, [('a', float)])):
        with pytest.raises(TypeError, match='must be boolean, integer'):
            ad.typeof(x)


def test_objects_with_numpys_protocols_are_arrays():
    class Duck:
        shape, dtype = (2,), np.dtype(np.float32)

        def __array_function__(self, *args):
            raise AssertionError('not asked')

    assert is_array(Duck())
    assert ad.typeof(Duck()) == ad.ShapedArray((2,), np.dtype(np.float32))
