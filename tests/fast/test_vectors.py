"""Vectors of few numbers: which become numbers, and what of."""

import math

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.fast.compiler import FastLowered
from autodiff_mini.fast.scalars import MATH, adds_in_turn, as_numpy, in_turn
from tests.fast.test_scalars import assert_same_outcome
from tests.test_jit_equals_eager import assert_identical, outcome
from tests.test_unrolled import unrolled

X, V = np.float64(1.5), np.array([0.5, -2.0])


def lowered(f, *args):
    return FastLowered(ad.make_jaxpr(f)(*args))


def swing(y):
    return np.stack([y[1], -4.0 * np.sin(y[0])])


# Which programs

FEW = {
    'index_and_stack': lambda x, v: np.stack([v[1], -v[0]]),
    'reversed': lambda x, v: np.sum(v[::-1] * x),
    'sum_kept': lambda x, v: v / np.sum(v * v, keepdims=True),
    'constants': lambda x, v: np.sin(v * x + V) + V,
    'choice': lambda x, v: np.where(v > x, v, -v) * v,
    'truths': lambda x, v: np.where((v > 0) & ~(v > x), v, 1.0),
    'squares': lambda x, v: v ** 2 + x ** 2,
}
POWERS = {
    'choice_of_vectors': lambda v: np.where(v > 0, v, 1.0)[1] ** -0.2 + v,
    'choice_in_a_stack': lambda v: np.stack(
        [v[0], np.where(v[1] > 0, v[1], 1.0)])[1] ** -0.2 + v,
    'choice': lambda v: np.where(v[1] > 0, v[1], 1.0) ** -0.2 + v,
    'exponent': lambda v: 1.5 ** np.where(v[1] > 0, v[1], 1.0) + v,
    'of_a_number': lambda v: v[1] ** -0.2 + v + v[0] ** 3,
}
MANY = {
    'of_numpy': lambda x, v: np.tanh(np.sinh(v[0]) - np.tanh(v)),
    'nine': lambda x, v: np.concatenate([v] * 4 + [v[:1]]) * x,
    'powers': lambda x, v: v ** 0.5 + v ** x,
    'products': lambda x, v: v @ v + x,
    'sum_of_all': lambda x, v: np.sum(v[:, None] * v + x),
    'shapeless': lambda x, v: np.reshape(v[:1], ()) ** -0.2,
}


@pytest.fixture
def eager_to_split(monkeypatch):
    """Numbers count for nothing, so that it shows what can be split."""
    monkeypatch.setattr('autodiff_mini.fast.scalars.CALL', 1e6)
    monkeypatch.setattr('autodiff_mini.fast.scalars.price', lambda _: 0)


POINTS = [0.0, -0.0, 1.0, -2.5, 1e200, 5e-324, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize('name', FEW)
def test_these_are_of_few_numbers(eager_to_split, name):
    """And compute what NumPy does, and warn as it does."""
    f = FEW[name]
    assert lowered(f, X, V).fast.scalar
    g = ad.jit(f)
    for x in map(np.float64, POINTS):
        for y in POINTS:
            xs = x, np.array([y, 0.7])
            expected, said = outcome(f, xs, {})
            actual, heard = outcome(g, xs, {})
            assert_same_outcome(actual, expected)
            assert heard == said


@pytest.mark.parametrize('name', POWERS)
def test_a_power_has_the_bits_of_numpy(eager_to_split, name):
    """For which a choice is an array without axes, and an element none."""
    f = POWERS[name]
    assert lowered(f, V).fast.scalar
    g = ad.jit(f)
    for v in np.random.default_rng(0).uniform(0.1, 2, (300, 2)):
        assert_identical(g(v), f(v))


@pytest.mark.parametrize('name', MANY)
def test_these_are_not(eager_to_split, name):
    f = MANY[name]
    assert not lowered(f, X, V).fast.scalar
    assert_identical(ad.jit(f)(X, np.abs(V)), f(X, np.abs(V)))


def test_what_does_not_pay_is_left_alone():
    assert not lowered(lambda v: v * 2 + 1, V).fast.scalar
    assert not lowered(lambda v: np.exp(np.exp(np.exp(v))), V).fast.scalar


def test_a_vector_with_gaps_is_for_the_careful_version():
    f = lambda v: swing(swing(swing(v)))
    fast = lowered(f, V).fast
    assert fast.scalar and fast.takes(V) and not fast.takes(V[::-1])
    assert_identical(ad.jit(f)(np.ones((2, 2))[:, 0]), f(np.ones(2)))


def test_a_while_loop_of_a_vector():
    def f(y, length):
        return ad.while_loop(
            lambda s: (s[1] < 9) & np.isfinite(s[0][0]),
            lambda s: (s[0] + swing(s[0]) / length, s[1] + 1.0), (y, 0.0))

    def by_hand(y, length):
        count = 0.0
        while count < 9 and np.isfinite(y[0]):
            y, count = y + swing(y) / length, count + 1.0
        return y, count
    written = lowered(f, V, X).source
    assert written.count('try:') == 1 and 'np.array([' in written
    for x in map(np.float64, POINTS):
        (y, count), said = outcome(by_hand, (V, x), {})
        (y1, count1), heard = outcome(ad.jit(f), (V, x), {})
        assert_identical([y1, count1], [y, count])
        assert heard == said


LOOPS = {
    'forwards': lambda lib, v, xs: lib.scan(
        lambda c, x: (c + 0.1 * x * swing(c), c), v, xs),
    'matrices': lambda lib, v, xs: lib.scan(
        lambda c, x: (c + np.sin(c * x), c[:, None] * x), v, xs),
    'overflow': lambda lib, v, xs: lib.scan(
        lambda c, x: (np.stack([c[1], c[0] * 1e150]), c[0]), v, xs),
}


@pytest.mark.parametrize('name', LOOPS)
def test_a_loop_is_its_steps(eager_to_split, name):
    loop = LOOPS[name]
    f = ad.jit(lambda v, xs: ad.tree_leaves(loop(ad, v, xs)))
    g = lambda v, xs: ad.tree_leaves(loop(unrolled, v, xs))
    assert 'careful_loop' in lowered(
        lambda *xs: loop(ad, *xs), V, np.ones((6, 2))).source
    rows = np.sin(np.arange(12.0)).reshape(6, 2) + 2
    for y in POINTS:
        for xs in rows, rows * 0, np.asfortranarray(rows):
            v = np.array([0.3, y])
            expected, said = outcome(g, (v, xs), {})
            actual, heard = outcome(f, (v, xs), {})
            assert_identical(actual, [np.asarray(y) for y in expected])
            assert heard == said


# The bits of NumPy

def test_numpy_adds_few_numbers_in_turn():
    assert adds_in_turn()
    in_words = lambda x, y: f'({x}+{y})'
    assert in_turn(list('abc'), in_words, '0') == '(((0+a)+b)+c)'
    assert in_turn(list('abcdefgh'), in_words, '0') == (
        '(0+(((a+b)+(c+d))+((e+f)+(g+h))))')


def test_a_function_with_other_bits_in_numpy_is_found_out(monkeypatch):
    def split(is_other):
        class Split:
            def impl(self, x):
                return np.sin(x) * (1 + 2 ** -52 * is_other(x))
        return Split()

    for is_other in (lambda x: isinstance(x, np.ndarray),
                     lambda x: not isinstance(x, np.ndarray),
                     lambda x: 4 < np.size(x) < 9,
                     lambda x: np.array(x).strides < (0,)):
        primitive = split(is_other)
        monkeypatch.setitem(MATH, primitive, math.sin)
        assert not as_numpy(primitive)
