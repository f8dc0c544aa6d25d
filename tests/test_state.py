"""State: exceptions, threads, tasks, generators, and what stays alive.

That the base trace is current after each test is checked by a fixture.
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
from autodiff_mini.core import Primitive, Trace, current_trace
from autodiff_mini.interpreters.abstract import rules as abstract_rules
from autodiff_mini.interpreters.jvp import JVPTracer
from autodiff_mini.interpreters.jvp import rules as jvp_rules
from autodiff_mini.interpreters.transpose import rules as transpose_rules
from tests.amount import rest
from tests.numerical import assert_same


class Stop(Exception):
    pass


def d(f):
    return lambda x: ad.jvp(f, (x,), (1.0,))[1]


def stop(*_):
    raise Stop


# Exceptions

def raises_at_once(x):
    raise Stop


def raises_after_work(x):
    np.sin(x) * x
    raise Stop


def raises_in_nested(x):
    return d(lambda y: d(lambda z: stop())(y))(x)


def test_exception_in_a_rule_leaves_the_interpreter_at_work():
    """Caught inside the function, it must still be differentiated."""
    bad_p = Primitive('bad', lambda x: x)
    jvp_rules[bad_p] = stop
    try:
        def f(x):
            trace = current_trace()
            with pytest.raises(Stop):
                bad_p.bind(x)
            assert current_trace() is trace
            return x * x

        assert ad.jvp(f, (3.0,), (1.0,)) == (9.0, 6.0)
        assert d(d(f))(3.0) == 2.0
    finally:
        del jvp_rules[bad_p]


# Exceptions in reverse mode and in staging

REVERSE = {
    'jvp': lambda f: ad.jvp(f, (1.0,), (1.0,)),
    'vmap': lambda f: ad.vmap(f)(np.ones(2)),
    'grad': lambda f: ad.grad(f)(1.0),
    'value_and_grad': lambda f: ad.value_and_grad(f)(1.0),
    'vjp': lambda f: ad.vjp(f, 1.0),
    'linearize': lambda f: ad.linearize(f, 1.0),
    'linear_transpose': lambda f: ad.linear_transpose(f, 1.0),
    'make_jaxpr': lambda f: ad.make_jaxpr(f)(1.0),
    'jacrev': lambda f: ad.jacrev(f)(1.0),
    'hessian': lambda f: ad.hessian(f)(1.0),
    'vmap_of_grad': lambda f: ad.vmap(ad.grad(f))(np.ones(2)),
    'custom': lambda f: ad.grad(ad.custom_jvp(f))(1.0),
}
each_reverse = pytest.mark.parametrize('name', REVERSE)


@each_reverse
def test_exceptions_leave_the_base_trace_current_in_every_transform(name):
    for f in (raises_at_once, raises_after_work, raises_in_nested):
        with pytest.raises((Stop, AttributeError)):
            REVERSE[name](f)
        assert current_trace() is Trace.base
    assert ad.grad(lambda x: x * x)(3.0) == 6.0


@each_reverse
def test_exceptions_leave_the_interpreter_outside_at_work(name):
    def g(x):
        trace = current_trace()
        with pytest.raises((Stop, AttributeError)):
            REVERSE[name](raises_after_work)
        assert current_trace() is trace
        return x * x

    assert ad.grad(g)(3.0) == d(g)(3.0) == 6.0
    assert ad.grad(ad.grad(g))(3.0) == 2.0
    jaxpr = ad.make_jaxpr(g)(1.0)
    assert ad.eval_jaxpr(jaxpr, jaxpr.consts, 3.0) == [9.0]
    assert ad.linearize(g, 3.0)[1](1.0) == 6.0


def test_an_exception_in_a_transpose_rule_restores():
    bad_p = Primitive('bad', lambda x: x)
    jvp_rules[bad_p] = lambda xs, ts: (xs[0], bad_p.bind(ts[0]))
    abstract_rules[bad_p] = lambda x: x
    transpose_rules[bad_p] = stop
    try:
        def f(x):
            trace = current_trace()
            with pytest.raises(Stop):
                ad.grad(bad_p.bind)(x)
            assert current_trace() is trace
            return x * x

        assert ad.grad(f)(3.0) == 6.0
        assert ad.linearize(bad_p.bind, 3.0)[1](2.0) == 2.0
        with pytest.raises(Stop):
            ad.vmap(ad.grad(lambda x: bad_p.bind(x.sum())))(np.ones((2, 2)))
    finally:
        for rules in (jvp_rules, abstract_rules, transpose_rules):
            del rules[bad_p]


# Interrupts

# Python looks for Ctrl-C when a function begins, after a call, and at the end
# of a loop's turn.
LOOKS = {'RESUME', 'CALL', 'CALL_KW', 'CALL_FUNCTION_EX', 'JUMP_BACKWARD'}
LIBRARY = ad.__path__[0]


class Interruption:
    """Runs a function, and interrupts the library at one point.

    Args:
        at: the number of the point; None, to pass all of them.
    """

    def __init__(self, at=None):
        self.at = at
        self.points = []    # the names of functions, one for each point

    def __call__(self, f):
        before = sys.gettrace()
        sys.settrace(self.enter)
        try:
            return f()
        finally:
            sys.settrace(before)

    def enter(self, frame, event, _):
        if not frame.f_code.co_filename.startswith(LIBRARY):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        last = None

        def step(frame, event, _):
            nonlocal last
            if event == 'opcode':
                here, before, last = frame.f_lasti, last, frame.f_lasti
                if looks(frame.f_code, before, here):
                    self.points.append(frame.f_code.co_name)
                    if len(self.points) - 1 == self.at:
                        raise KeyboardInterrupt
            return step
        return step


@cache
def looks(code, before, here):
    """Return whether Python looks for Ctrl-C between two instructions.

    An error at the second must be one at the first: in the same `try`.
    """
    def name(i):
        return dis.opname[code.co_code[i]]

    def handler(i):
        return next((entry.target for entry in entries
                     if entry.start <= i < entry.end), None)

    if before is None:
        return name(here) != 'RESUME'
    entries = dis.Bytecode(code).exception_entries
    # In Python 3.11 the first of two instructions may do all of a call.
    called = name(before) == 'PRECALL' and name(here) != 'CALL'
    return (called or name(before) in LOOKS) and (
        handler(before) == handler(here))


def sin_times(x):
    return np.sum(np.sin(x) * x)


INTERRUPTED = {
    'grad': lambda: ad.grad(sin_times)(X),
    'grad_at_a_new_size': lambda: ad.grad(sin_times)(
        np.full(next(SIZES), 0.5))[:2],
    'jvp': lambda: ad.jvp(sin_times, (X,), (X,)),
    'jit': lambda: ad.jit(lambda x: sin_times(x))(X),
    'scan': lambda: ad.scan(lambda c, x: (c * x, c), 1.0, X),
    'vmap_of_grad': lambda: ad.vmap(ad.grad(sin_times))(np.stack([X, X])),
    'grad_of_scan': lambda: ad.grad(lambda x: ad.scan(
        lambda c, x: (c * x, c), 1.0, x)[0])(X),
    'checkpoint': lambda: ad.grad(ad.checkpoint(sin_times))(X),
}
X, SIZES = np.linspace(0.5, 1.0, 3), itertools.count(7)
IN_HASTE = {'__enter__', '__exit__', 'paused_f', 'public_f'}


def points_of(f, every):
    """Return the numbers of points: some, or every one."""
    for _ in range(5):
        f()     # what is done for the first few times only is done
    run = Interruption()
    run(f)
    return [i for i, name in enumerate(run.points)
            if every or i % 60 == 0 or name in IN_HASTE]


def is_interrupted(f, at):
    """Return whether `f` came to this point, and an interrupt came out."""
    run = Interruption(at)
    try:
        run(f)
    except KeyboardInterrupt:
        return True
    assert len(run.points) <= at, 'the interrupt was caught'
    return False


@pytest.mark.parametrize('name, every', [
    *[(name, False) for name in INTERRUPTED],
    *[rest(name, True) for name in INTERRUPTED]])
def test_an_interrupt_at_any_point_leaves_the_base_trace_current(name, every):
    """In `__enter__`, or as `__exit__` began, it left the trace for good."""
    f = INTERRUPTED[name]
    expected, thresholds = f(), gc.get_threshold()
    points = points_of(f, every)
    count = 0
    for i in points:
        count += is_interrupted(f, i)
        assert current_trace() is Trace.base, i
        assert Trace.base.line is None, i
        assert gc.get_threshold() == thresholds, i
        ad.tree_map(assert_same, f(), expected)
    assert count > len(points) / 3


# Threads and tasks

def in_thread(f, *args):
    """Return what `f` returns in a thread, or raises what it raises."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(f, *args).result()


@pytest.mark.parametrize('transform', [
    ad.grad, lambda f: lambda x: ad.linearize(f, x), lambda f: lambda x:
    ad.vjp(f, x), ad.make_jaxpr, lambda f: lambda x: ad.jvp(f, (x,), (x,)),
    lambda f: lambda x: ad.vmap(f)(np.ones(2))])
def test_transforms_begin_anew_in_another_thread(transform):
    def f(x):
        assert in_thread(current_trace) is Trace.base
        assert in_thread(ad.grad(np.sin), 0.5) == np.cos(0.5)
        with pytest.raises(ad.UnexpectedTracerError,
                           match='New threads do not inherit .*copy_context'):
            in_thread(np.sin, x)
        return in_thread(copy_context().run, lambda: np.sin(x) * 2)

    transform(f)(0.5)
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
        return await asyncio.gather(*[inner(2.0, n) for n in range(2, 8)])

    assert asyncio.run(main()) == [
        2 * n * 2.0**(n - 1) + n * (n - 1) * 2.0**(n - 2)
        for n in range(2, 8)]


# Generators

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


@pytest.mark.parametrize('name', ['grad', 'vjp', 'linearize', 'make_jaxpr',
                                  'jacrev'])
def test_a_tracer_that_escapes_from_reverse_mode_is_named(name):
    leaked = []
    REVERSE[name](lambda x: leak(leaked, x))
    with pytest.raises(ad.UnexpectedTracerError) as info:
        leaked[0] + 1
    line = leak.__code__.co_firstlineno + 1
    assert f'made at {__file__}:{line} in ' in str(info.value)
    assert 'had returned' in str(info.value)


# Escape

def leak(leaked, x):
    y = x * 2
    leaked.append(y)
    return y


def test_a_tracer_below_its_own_trace_is_not_at_work_there():
    """Its transformation still runs, but is not asked."""
    def f(x):
        return copy_context().run(lambda: in_base(np.sin, x))

    def in_base(f, x):
        from autodiff_mini.core import set_current_trace
        set_current_trace(Trace.base)
        return f(x)

    with pytest.raises(ad.UnexpectedTracerError, match='in a context where'):
        ad.jvp(f, (1.0,), (1.0,))


# Copies

# What stays alive

@pytest.mark.parametrize('transform', [
    ad.grad, ad.make_jaxpr, lambda f: lambda x: ad.linearize(f, x),
    lambda f: lambda x: ad.vjp(f, x)[1](1.0), ad.hessian])
def test_no_tracer_outlives_reverse_mode(transform):
    """Nor waits for the collector, also if the linear function lives."""
    refs = []

    def f(x):
        y = np.sin(x) * x
        refs.extend(map(weakref.ref, (x, y, current_trace())))
        return y

    gc.collect()
    gc.disable()
    try:
        kept = transform(f)(1.0)
        assert kept is not None
        assert {ref() for ref in refs} == {None}
    finally:
        gc.enable()


def test_an_escaped_tracer_keeps_no_frame_alive():
    """Of where it was made it keeps the line, not the variables."""
    class Big:
        pass

    leaked, refs = [], []

    def f(x):
        big = Big()
        refs.append(weakref.ref(big))
        leaked.append(x * 2)
        return x

    ad.jvp(f, (1.0,), (1.0,))
    assert refs[0]() is None and type(leaked[0]) is JVPTracer
    leaked.clear()


def test_only_residuals_that_belong_to_somebody_are_copied():
    """DESIGN: a hundred layers keep a hundred arrays, and two to compute."""
    def chain(x):
        for _ in range(100):
            x = np.sin(x)
        return x.sum()

    x = np.linspace(0, 1, 100_000)
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
