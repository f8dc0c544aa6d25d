"""Guard state: exceptions, threads, tasks, generators, and lifetimes.

A fixture checks that the base trace is current after each test.
"""

import asyncio
import dis
import gc
import itertools
import sys
import tracemalloc
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core.trace import (
    Primitive, Trace, current_trace, set_current_trace)
from autodiff_mini.interpreters import abstract, jvp, transpose
from tests.support.numerical import assert_same
from tests.support.transforms import EDGES, d


class Stop(Exception):
    pass


def stop(*_):
    raise Stop


def raises_after_work(x):
    np.sin(x) * x
    raise Stop


RAISING = EDGES | {
    'linear_transpose': lambda f: ad.linear_transpose(f, 1.0),
    'jacrev': lambda f: ad.jacrev(f)(1.0),
    'hessian': lambda f: ad.hessian(f)(1.0),
    'vmap_of_grad': lambda f: ad.vmap(ad.grad(f))(np.ones(2)),
}


@pytest.mark.parametrize('name', RAISING)
def test_an_exception_leaves_the_outer_interpreter_current(name):
    def g(x):
        trace = current_trace()
        for f in (stop, raises_after_work, lambda x: d(d(stop))(x)):
            with pytest.raises(Stop):
                RAISING[name](f)
            assert current_trace() is trace
        return x * x

    assert g(3.0) == 9.0
    assert ad.grad(g)(3.0) == d(g)(3.0) == ad.linearize(g, 3.0)[1](1.0) == 6
    assert ad.grad(ad.grad(g))(3.0) == 2.0
    assert ad.jit(g)(3.0) == 9.0


def test_an_exception_in_a_rule_leaves_the_interpreter_current(monkeypatch):
    """If the function catches it, the rest must still be differentiated."""
    bad_p = Primitive('bad', lambda x: x)
    monkeypatch.setitem(jvp.rules, bad_p, stop)
    monkeypatch.setitem(abstract.rules, bad_p, lambda x: x)
    monkeypatch.setitem(transpose.rules, bad_p, stop)

    def f(x):
        trace = current_trace()
        with pytest.raises(Stop):
            ad.grad(bad_p.bind)(x)
        assert current_trace() is trace
        return x * x

    assert d(f)(3.0) == ad.grad(f)(3.0) == 6.0
    monkeypatch.setitem(     # and now only in the transposition
        jvp.rules, bad_p, lambda xs, ts: (xs[0], bad_p.bind(ts[0])))
    assert d(f)(3.0) == ad.grad(f)(3.0) == 6.0


# Interrupts

# Python checks for Ctrl-C when a function starts, after a call, and at the
# end of each turn of a loop.
LOOKS = {'RESUME', 'CALL', 'CALL_KW', 'CALL_FUNCTION_EX', 'JUMP_BACKWARD'}
LIBRARY = ad.__path__[0]


def interrupted(f, at=None):
    """Run `f`, and interrupt the library at the point with this number.

    Return the points that it passes, each as the function's name and the
    instruction.
    """
    points = []

    def enter(frame, event, _):
        if not frame.f_code.co_filename.startswith(LIBRARY):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        last = None

        def step(frame, event, _):
            nonlocal last
            if event == 'opcode':
                here, before, last = frame.f_lasti, last, frame.f_lasti
                if looks(frame.f_code, before, here):
                    points.append((frame.f_code.co_name, here))
                    if len(points) - 1 == at:
                        raise KeyboardInterrupt
            return step
        return step

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        f()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(before)
    return points


@cache
def looks(code, before, here):
    """Return whether Python checks for Ctrl-C between two instructions.

    An error at the second must be handled like one at the first, in the same
    `try`.
    """
    def name(i):
        return dis.opname[code.co_code[i]]

    def handler(i):
        return next((entry.target for entry in entries
                     if entry.start <= i < entry.end), None)

    if before is None:
        return here > 1 and name(here - 2) == 'RESUME'
    entries = dis.Bytecode(code).exception_entries
    # In Python 3.11, the first of two instructions can do a whole call.
    called = name(before) == 'PRECALL' and name(here) != 'CALL'
    return (called or name(before) in LOOKS) and (
        handler(before) == handler(here))


def sin_times(x):
    return np.sum(np.sin(x) * x)


INTERRUPTED = {
    'grad_at_a_new_size': lambda: ad.grad(sin_times)(
        np.full(next(SIZES), 0.5))[:2],
    'jit': lambda: ad.jit(lambda x: sin_times(x))(X),
    'vmap_of_grad': lambda: ad.vmap(ad.grad(sin_times))(np.stack([X, X])),
    'grad_of_scan': lambda: ad.grad(lambda x: ad.scan(
        lambda c, x: (c * x, c), 1.0, x)[0])(X),
}
X, SIZES = np.linspace(0.5, 1.0, 3), itertools.count(7)
IN_HASTE = {'__enter__', '__exit__', 'paused_f', 'public_f'}


@pytest.mark.parametrize('name', INTERRUPTED)
def test_an_interrupt_at_any_point_leaves_the_base_trace_current(name):
    """It left the trace current in `__enter__` or early in `__exit__`."""
    f = INTERRUPTED[name]
    expected, thresholds = [f() for _ in range(5)][0], gc.get_threshold()
    passed = interrupted(f)
    places = {place: i for i, place in enumerate(passed)
              if place[0] in IN_HASTE}
    points = [*range(0, len(passed), 120), *places.values()]
    count = 0
    for i in points:
        found = interrupted(f, i)
        assert len(found) <= i + 1, 'the interrupt was caught'
        count += len(found) == i + 1
        assert current_trace() is Trace.base, i
        assert Trace.base.line is None, i
        assert gc.get_threshold() == thresholds, i
        ad.tree_map(assert_same, f(), expected)
    assert count > len(points) / 3


# Threads and tasks

def in_thread(f, *args):
    """Return the result of `f` in a thread, or raise its error."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(f, *args).result()


def test_a_new_thread_starts_without_transformations():
    def f(x):
        assert in_thread(current_trace) is Trace.base
        assert in_thread(ad.grad(np.sin), 0.5) == np.cos(0.5)
        with pytest.raises(ad.UnexpectedTracerError,
                           match='New threads do not inherit .*copy_context'):
            in_thread(np.sin, x)
        return in_thread(copy_context().run, lambda: np.sin(x) * 2)

    for name in ('jvp', 'vmap', 'grad', 'linearize', 'make_jaxpr'):
        RAISING[name](f)
    assert ad.grad(f)(0.5) == 2 * np.cos(0.5)


def test_transforms_in_interleaved_tasks_keep_their_traces():
    async def inner(x, n):
        assert current_trace() is Trace.base
        y, f_vjp = ad.vjp(lambda x: x**n, x)
        await asyncio.sleep(0)
        slope = f_vjp(1.0)[0] + ad.grad(ad.grad(lambda x: x**n))(x)
        await asyncio.sleep(0)
        return slope + ad.linearize(lambda x: x**n, x)[1](1.0)

    async def main():
        return await asyncio.gather(*[inner(2.0, n) for n in (2, 5)])

    assert asyncio.run(main()) == [2 * 2 * 2.0 + 2, 2 * 5 * 16.0 + 20 * 8]


@pytest.mark.parametrize('outer', [ad.grad, d])
def test_generators_interleave_with_grad(outer):
    def powers(x):
        y = x
        while True:
            yield y
            y = y * x

    def f(x):
        one = powers(x)
        next(one)

        def g(z):
            two = powers(z)
            return next(two) * next(two) * next(one)    # z^3 x^2
        return ad.grad(g)(x) * next(one)                # 3 x^2 x^2 x^3
    assert outer(f)(1.0) == 21.0


def test_a_tracer_that_escapes_is_named_and_keeps_no_frame_alive():
    """It keeps the line where it was made, but not the variables."""
    class Big:
        pass

    def leak(x):
        big = Big()
        refs.append(weakref.ref(big))
        leaked.append(x * 2)
        return x

    for name in ('jvp', 'grad', 'linearize', 'make_jaxpr', 'jacrev'):
        leaked, refs = [], []
        RAISING[name](leak)
        assert refs[0]() is None
        with pytest.raises(ad.UnexpectedTracerError) as info:
            leaked[0] + 1
        line = leak.__code__.co_firstlineno + 3
        assert f'made at {__file__}:{line} in ' in str(info.value)
        assert 'had returned' in str(info.value)


def test_a_tracer_below_its_own_trace_is_refused():
    """Its transformation is still running, but it is not current."""
    def in_base(x):
        set_current_trace(Trace.base)
        return np.sin(x)

    with pytest.raises(ad.UnexpectedTracerError, match='in a context where'):
        ad.jvp(lambda x: copy_context().run(in_base, x), (1.0,), (1.0,))


@pytest.mark.parametrize('name', ['grad', 'make_jaxpr', 'linearize',
                                  'hessian'])
def test_no_tracer_outlives_reverse_mode(name):
    """No cycle keeps it, even while the linear function is alive."""
    refs = []

    def f(x):
        y = np.sin(x) * x
        refs.extend(map(weakref.ref, (x, y, current_trace())))
        return y

    gc.disable()
    try:
        kept = RAISING[name](f)
    finally:
        gc.enable()
    assert kept is not None and {ref() for ref in refs} == {None}


def test_only_residuals_of_the_caller_are_copied():
    """A hundred layers keep a hundred arrays and need two more."""
    def chain(x):
        for _ in range(100):
            x = np.sin(x)
        return x.sum()

    x = np.linspace(0, 1, 20_000)
    gradient = ad.grad(chain)
    gradient(x)
    gc.collect()
    tracemalloc.start()
    try:
        gradient(x)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 100 <= peak / x.nbytes < 102.5
