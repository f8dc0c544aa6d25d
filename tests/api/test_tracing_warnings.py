"""Guard warnings about Python that runs only while a program is traced."""

import random
import re
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from io import StringIO
from types import SimpleNamespace

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core import seams
from autodiff_mini.wings.messages import progress, tracing_warnings as slips

rng = np.random.default_rng(1)


@pytest.fixture(autouse=True)
def nothing_is_said_yet():
    slips.SAID.clear()


@pytest.fixture
def hundred_is_long(monkeypatch):
    for module in seams, slips:
        monkeypatch.setattr(module, 'LONG_LOOP', 100)


def warned(program, *args):
    """Return (the line, the text) of each warning that a program gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('default')
        program(*args)
    assert {w.category for w in caught} <= {UserWarning}
    assert {w.filename for w in caught} <= {__file__}
    return [(w.lineno, str(w.message)) for w in caught]


def line_of(f, offset=1):
    return f.__code__.co_firstlineno + offset


LOOPS = {
    'jit': lambda f: ad.jit(f)(1.0),
    'jit_of_grad': lambda f: ad.jit(ad.grad(f))(1.0),
    'grad_of_jit': lambda f: ad.grad(ad.jit(f))(1.0),
}


@pytest.mark.parametrize('name', LOOPS)
def test_a_long_loop_is_named_once_while_it_is_traced(
        name, hundred_is_long):
    def steps(x):
        for _ in range(250):
            y = np.sin(x)
            x = x + y
        return x

    [(number, text)] = warned(lambda: [LOOPS[name](steps) for _ in range(2)])
    assert number in (line_of(steps, 2), line_of(steps, 3))
    assert re.search(r'steps: 1\d\d operations of this line', text)
    assert 'ad.fori_loop' in text and 'ad.scan' in text


def test_programs_without_a_long_loop_are_traced_in_silence(
        hundred_is_long):
    def steps(x, n=98):
        for _ in range(n):
            x = x * 1.001
        return x

    assert warned(ad.make_jaxpr(steps), 1.0) == []
    assert warned(ad.grad(partial(steps, n=200)), 1.0) == []  # not unrolled
    lines = [f'    x = x * {1 + i / 1e6}' for i in range(110)]
    scope = {}
    exec('\n'.join(['def many_lines(x):', *lines, '    return x']), scope)
    assert warned(ad.make_jaxpr(scope['many_lines']), 1.0) == []


def test_a_recursion_under_jit_is_named():
    @ad.jit
    def factorial(n):
        return np.where(n < 1, 1, n * factorial(n - 1))

    def fibonacci(n):
        return ad.cond(n < 2, lambda n: n,
                       lambda n: fibonacci(n - 1) + fibonacci(n - 2), n)

    def deep(x, n=10_000):
        return x if n == 0 else deep(np.sin(x), n - 1)

    for program, name in ((factorial, 'factorial'), (ad.jit(deep), 'deep'),
                          (fibonacci, 'fibonacci')):
        with pytest.raises(RecursionError, match=(
                f'{name}.* calls itself.*ad.while_loop')) as e:
            program(3.0)
        assert e.value.__cause__ is None


def of_numpy(x):
    return x * np.random.normal(size=3)


def of_python(x):
    return x * random.random()


def of_a_generator(x):
    return x * rng.normal()


class Model:
    def __init__(self):
        self.rng = np.random.default_rng(2)

    def draw(self, x):
        return x * self.rng.normal()


def of_an_inner_function(x):
    return ad.grad(lambda y: y * rng.normal())(x)


def of_a_closure():
    inner = np.random.default_rng(3)

    def closure(x):
        return x * inner.normal()
    return closure


DRAWN = [of_numpy, of_python, of_a_generator, Model().draw,
         of_an_inner_function, of_a_closure()]


TRACED = {
    'jit': ad.jit,
    'make_jaxpr': ad.make_jaxpr,
    'grad_of_jit': lambda f: ad.grad(ad.jit(lambda x: np.sum(f(x)))),
    'scan': lambda f: lambda x: ad.scan(lambda c, _: (c, f(c)), x, length=2),
}


@pytest.mark.parametrize('name', TRACED)
def test_random_numbers_in_a_program_are_named_once(name):
    for f in DRAWN:
        slips.SAID.clear()
        program = TRACED[name](f)
        [(number, text)] = warned(lambda: [program(1.0), program(2.0)])
        assert number == line_of(f)
        assert 'constants of its program' in text and 'as an argument' in text


def test_random_numbers_that_stay_random_are_met_in_silence():
    for program in (ad.grad(lambda x: np.sum(of_a_generator(x))),
                    ad.vmap(of_a_generator),
                    ad.jit(lambda x: x * len([rng, np.random, random])),
                    partial(ad.eval_shape, of_a_generator),
                    lambda x: ad.cond(True, of_a_generator, np.sin, x[0])):
        rng.normal()
        assert warned(program, np.ones(3)) == []
    [] = warned(ad.jit(lambda x, noise: x * noise), 1.0, rng.normal())


@pytest.mark.parametrize('watched', ['terminal', 'notebook', 'thread', ''])
def test_a_person_sees_how_far_a_long_compilation_is(
        watched, hundred_is_long, monkeypatch):
    """The line of an inner jit is not shown, and an error erases it, too."""
    def written(f):
        monkeypatch.setattr(sys, 'stderr', StringIO())
        sys.stderr.isatty = lambda: watched in ('terminal', 'thread')
        run = partial(warned, ad.jit(f), 1.0)
        with suppress(ZeroDivisionError), ThreadPoolExecutor(1) as pool:
            pool.submit(run).result() if watched == 'thread' else run()
        assert len(max(sys.stderr.getvalue().split('\r'), key=len)) < 80
        return re.sub(r' +(?=\r)|[^\r]*: ', '', sys.stderr.getvalue())

    def f(x):
        for _ in range(99):
            x = ad.jit(np.sin)(x) * x
        return x

    is_seen = watched in ('terminal', 'notebook')
    monkeypatch.setitem(sys.modules, 'IPython', watched == 'notebook' and
                        SimpleNamespace(get_ipython=lambda: True))
    assert written(f) == ''     # it was not long
    monkeypatch.setattr(progress, 'SECONDS', -1)
    assert written(f) == is_seen * (
        '\rrecording\r100 operations recorded\rcompiling 198 operations\r\r')
    assert written(lambda x: 1 / 0).endswith('recording\r\r' * is_seen)


def test_jit_needs_no_terminal_to_write_to(monkeypatch):
    closed = StringIO()
    closed.close()
    for stream in None, closed, SimpleNamespace(write=len):
        monkeypatch.setattr(sys, 'stderr', stream)
        assert ad.jit(abs)(-1.0) == 1.0
