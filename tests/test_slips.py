"""Warnings about Python that runs only while a program is traced."""

import random
import warnings
from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.tools.slips import LONG_LOOP, SAID

rng = np.random.default_rng(1)


@pytest.fixture(autouse=True)
def nothing_is_said_yet():
    SAID.clear()


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


def simulated(x, steps=LONG_LOOP):
    for _ in range(steps):
        x = x * 1.001
    return np.sum(x)


LOOPS = {
    'jit': lambda f: ad.jit(f)(1.0),
    'jit_of_grad': lambda f: ad.jit(ad.grad(f))(1.0),
    'grad_of_jit': lambda f: ad.grad(ad.jit(f))(1.0),
}


@pytest.mark.parametrize('name', LOOPS)
def test_a_long_loop_is_named_while_it_is_traced(name):
    with pytest.warns(UserWarning) as caught:
        with pytest.raises(InterruptedError):
            LOOPS[name](interrupted)
    [w] = caught
    assert w.lineno == line_of(interrupted, 2)
    assert f'of interrupted: {LONG_LOOP:,} operations' in str(w.message)
    assert 'ad.fori_loop' in str(w.message) and 'ad.scan' in str(w.message)


def interrupted(x):
    for _ in range(LONG_LOOP + 1):
        x = x * 1.001
    raise InterruptedError


def test_a_long_loop_of_several_lines_is_named_once():
    def steps(x):
        for _ in range(2 * LONG_LOOP):
            y = np.sin(x)
            x = x + y
        return x
    program = ad.make_jaxpr(steps)
    [(number, _)] = warned(lambda: [program(1.0), program(np.ones(2))])
    assert number in (line_of(steps, 2), line_of(steps, 3))


def test_programs_without_a_long_loop_are_traced_in_silence():
    assert warned(ad.make_jaxpr(partial(simulated, steps=LONG_LOOP - 2)), 1.0) == []
    assert warned(ad.grad(simulated), 1.0) == []     # nothing is unrolled
    lines = [f'    x = x * {1 + i / 1e6}' for i in range(LONG_LOOP + 10)]
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

    for program, name in ((factorial, 'factorial'),
                          (ad.jit(fibonacci), 'fibonacci'),
                          (fibonacci, 'fibonacci'), (ad.jit(deep), 'deep'),
                          (ad.grad(factorial), 'factorial')):
        with pytest.raises(RecursionError, match='ad.while_loop') as e:
            program(3.0)
        assert f'{name}' in str(e.value).partition(' calls itself')[0]
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


MODEL = Model()


def of_an_attribute(x):
    return x * MODEL.rng.normal()


def of_an_inner_function(x):
    return ad.grad(lambda y: y * rng.normal())(x)


def of_a_closure():
    inner = np.random.default_rng(3)

    def closure(x):
        return x * inner.normal()
    return closure


DRAWN = {f.__name__: f for f in (
    of_numpy, of_python, of_a_generator, of_an_attribute,
    of_an_inner_function, of_a_closure(), MODEL.draw)}


@pytest.mark.parametrize('transform', [
    ad.jit, ad.make_jaxpr, lambda f: ad.grad(ad.jit(lambda x: np.sum(f(x)))),
    lambda f: lambda x: ad.scan(lambda c, _: (c, f(c)), x, length=2)],
    ids=['jit', 'make_jaxpr', 'grad_of_jit', 'scan'])
@pytest.mark.parametrize('name', DRAWN)
def test_random_numbers_in_a_program_are_named(name, transform):
    f = DRAWN[name]
    [(number, text)] = warned(transform(f), 1.0)
    assert number == line_of(f)
    assert 'constants of its program' in text and 'as an argument' in text


def test_random_numbers_are_named_once():
    f = ad.jit(of_a_generator)
    assert len(warned(lambda: [f(1.0), f(np.ones(2)), f(1.0)])) == 1
    assert f(1.0) == f(1.0)


def test_random_numbers_that_stay_random_are_met_in_silence():
    for program in (ad.grad(lambda x: np.sum(of_a_generator(x))),
                    ad.vmap(of_a_generator),
                    ad.jit(lambda x: x * len([rng, np.random, random])),
                    partial(ad.eval_shape, of_a_generator),
                    lambda x: ad.cond(True, of_a_generator, np.sin, x[0])):
        rng.normal()
        assert warned(program, np.ones(3)) == []
    [] = warned(ad.jit(lambda x, noise: x * noise), 1.0, rng.normal())
