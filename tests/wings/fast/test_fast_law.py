"""The law of the fast lane: whatever is faster equals the interpreters.

Random programs of numbers of all dtypes run as NumPy and Python run them,
with `ad.plain()`, and with the wing, under each transformation. Values,
classes, dtypes, signs of zeros, errors, and warnings must be equal.
100,000 programs run with
`python -m pytest tests/wings/fast/test_fast_law.py --examples 210 -n 2`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.wings.fast import simplify
from tests.support import amount
from tests.tables.random_numbers import (
    Numbers, Outcome, difference, equal, twin)
from tests.tables.random_signs import Signs
from tests.wings.fast.slopes import along, floats, plainly, slope


def curvature(numbers):
    """Return the gradient of all results of the gradient."""
    first = slope(numbers)
    return ad.grad(lambda *xs: sum(np.sum(y) for y in ad.tree_leaves(
        first(*xs))), tuple(floats(numbers)))


def batches(numbers):
    """Return arguments for `vmap`."""
    return [np.stack([x, y, x]) for x, y in zip(numbers.args, numbers.others)]


# By name: what a program is compared with. Each takes a program and returns
# functions, the arguments, and the options of `difference`. The last digits
# can differ where a loop computes the numbers of all steps as one array.

def eager(numbers):
    return numbers.of(ad), numbers.of(twin), numbers.args, {}


def jitted(numbers):
    return ad.jit(numbers.of(ad)), numbers.of(twin), numbers.args, {}


def mapped(numbers):
    f = ad.vmap(numbers.of(ad))
    return f, plainly(f), batches(numbers), {'digits': True}


def mapped_jit(numbers):
    f = ad.vmap(numbers.of(ad))
    return ad.jit(f), plainly(f), batches(numbers), {
        'digits': True, 'dead': True}


def gradient(numbers):
    f = slope(numbers)
    if numbers.seed % 8 == 0:   # until its operations are prepared
        for _ in range(33):
            Outcome(f, numbers.args)
    return f, plainly(f), numbers.args, {'digits': True, 'dead': True}


def jitted_gradient(numbers):
    f = slope(numbers)
    return ad.jit(f), plainly(ad.jit(f)), numbers.args, {
        'digits': True, 'dead': True}


def gradient_of_twin(numbers):
    """If a carry has a tangent at one step, its zero at another is a number.

    Then a zero slope times infinity is NaN.
    """
    return slope(numbers), slope(numbers, twin), numbers.args, {
        'digits': True, 'dead': True, 'zeros': True}


def mapped_gradient(numbers):
    f = ad.vmap(slope(numbers))
    return f, plainly(f), batches(numbers), {'digits': True, 'dead': True}


def second_gradient(numbers):
    f = curvature(numbers)
    return f, plainly(f), numbers.args, {'digits': True, 'dead': True}


def derivative(numbers):
    f = along(numbers)
    return f, plainly(f), numbers.args, {'digits': True, 'dead': True}


def jitted_derivative(numbers):
    f = along(numbers)
    return ad.jit(f), plainly(ad.jit(f)), numbers.args, {
        'digits': True, 'dead': True}


@dataclass(frozen=True)
class Box:
    value: Any


STATIC = [lambda n: n, lambda n: frozenset([n]), lambda n: (n,), Box]
EQUAL = [1, 1.0, True, np.int8(1), np.float32(1), 1 + 0j, 0, 0.0, -0.0, False]


def opened(x):
    while isinstance(x, (frozenset, tuple, Box)):
        x = x.value if isinstance(x, Box) else next(iter(x))
    return x


def with_statics(numbers):
    """Run a program again and again, with equal statics of other types."""
    make = numbers.rng.choice(STATIC)
    statics = [make(n) for n in numbers.rng.sample(EQUAL, 4)]

    def f(lib):
        def scaled(static, *xs):
            n, ys = opened(static), numbers.of(lib)(*xs)
            start = np.asarray(ys[-1] * n, np.result_type(ys[-1], n))[()]
            return lib.scan(lambda c, _: ((c * n).astype(c.dtype), c * n),
                            start, None, 2)
        return scaled

    def all_of(f):
        return lambda *xs: [f(static, *xs) for static in statics]
    g = ad.jit(f(ad), static_argnums=0)
    return (lambda *xs: [all_of(g)(*xs), all_of(f(ad))(*xs)],
            lambda *xs: [all_of(f(twin))(*xs)] * 2, numbers.args, {})


WAYS = [eager, jitted, mapped, mapped_jit, gradient, jitted_gradient,
        gradient_of_twin, mapped_gradient, second_gradient, derivative,
        jitted_derivative, with_statics]
FORWARD = {eager, jitted, mapped, mapped_jit, derivative, jitted_derivative,
           with_statics}
EACH = 40


def what_differs(way, seed):
    """Return the program of a seed, and how its results differ, or None."""
    numbers = Numbers(seed, way not in FORWARD)
    if way not in FORWARD - {derivative} and not floats(numbers):
        return numbers, None
    f, g, args, options = way(numbers)
    found = difference(Outcome(f, args), Outcome(g, args), **options)
    if found is None and way in (jitted, jitted_gradient, jitted_derivative):
        for args in numbers.args, numbers.others:
            found = found or difference(
                Outcome(f, args), Outcome(g, args), **options)
    return numbers, found


@pytest.mark.parametrize('way', WAYS)
def test_a_program_of_numbers_equals_its_interpretation(way):
    start = 1_000_000 * WAYS.index(way)
    for seed in range(start, start + EACH * amount.TIMES):
        numbers, found = what_differs(way, seed)
        assert found is None, f'{way.__name__}: {found}\n{numbers}'


def sum_of(f):
    """Return a function that adds up the results, so that no sign is lost."""
    return lambda *xs: sum(np.sum(y) for y in f(*xs))


SIGNS = [lambda f: (f, f), lambda f: (plainly(ad.grad(sum_of(f), (0, 1))),
                                      ad.grad(sum_of(f), (0, 1))),
         lambda f: (plainly(ad.vmap(f)), ad.vmap(f))]


@pytest.mark.parametrize('transform', SIGNS, ids=['value', 'grad', 'vmap'])
def test_a_program_of_signs_equals_its_interpretation(transform):
    for seed in range(3 * EACH * amount.TIMES):
        program = Signs(seed)
        expected, f = transform(program)
        found = difference(Outcome(ad.jit(f), program.args),
                           Outcome(expected, program.args), dead=True)
        assert found is None, f'{found}\n{program}'


RULES = ['without_sign', 'with_one_mask', 'with_one_step']


def test_programs_of_signs_reach_each_rule(monkeypatch):
    seen = []
    for name in RULES:
        def rule(eqn, *args, old=getattr(simplify, name), name=name):
            new = old(eqn, *args)
            if new is not eqn:
                seen.append(name)
            return new
        monkeypatch.setattr(simplify, name, rule)
    for seed in range(3 * EACH):
        Outcome(ad.jit(Signs(seed)), Signs(seed).args)
    assert {*seen} == {*RULES}


def test_the_comparison_tells_results_apart():
    """Or the law would hold for any compiler."""
    different = [1, 1.0, True, 1 + 0j, np.int8(1), np.float32(1), 0.0, -0.0,
                 np.nan, np.inf, np.ones(1), np.ones((1, 1)), np.ones(2)]
    outcomes = [Outcome(lambda x=x: x, ()) for x in different]
    outcomes += [Outcome(lambda: np.float64(1) / 0 * 0 + 1, ()),
                 Outcome(lambda: np.array('a') + 1, ())]
    for i, x in enumerate(outcomes):
        for j, y in enumerate(outcomes):
            assert (difference(x, y) is None) == (i == j), (i, j)
    x, y = np.float64(1), np.float64(1 + 2 ** -50)
    assert not equal(x, y) and equal(x, y, digits=True)
    assert not equal(x, np.float64(1.001), digits=True)
