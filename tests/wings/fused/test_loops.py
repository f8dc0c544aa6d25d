"""Loops of single numbers, which become kernels."""

import math

import numpy as np
import pytest

import autodiff_mini as ad
from tests.wings.fused.programs import Exactly

pytest.importorskip('numba', reason='numba compiles the kernels')

from autodiff_mini.wings.fused import native  # noqa: E402


def assert_equal(f, *args, kernel=True, **modes):
    """Assert that the fused program does what the usual one does."""
    fused = ad.jit(f, backend='fused')
    actual = Exactly(fused, args, **modes)
    assert actual.difference(Exactly(ad.jit(f), args, **modes)) is None
    if kernel is not None:
        assert ('@kernel' in fused.source) == kernel
    return actual


def pendulum(angle, speed, length):
    def step(state, _):
        angle, speed = state
        speed = speed - 0.0981 / length * np.sin(angle)
        return (angle + 0.01 * speed, speed), (angle, speed)
    return ad.scan(step, (angle, speed), None, length=500)


def root(x):
    """Newton's method."""
    return ad.while_loop(
        lambda s: np.abs(s[0] * s[0] - x) > 1e-12 * x,
        lambda s: (0.5 * (s[0] + x / s[0]), s[1] + 1), (x, 0.0))


def test_a_scan_and_its_gradient_are_kernels():
    for args in (1.0, 0.5, 1.0), (np.float64(1), np.array(0.5), 2):
        assert_equal(pendulum, *args)
    last = lambda *args: pendulum(*args)[0][0]
    assert_equal(ad.grad(last, (0, 1, 2)), 1.0, 0.5, 1.0)
    assert_equal(lambda a: ad.jvp(lambda a: last(a, 0.5, 1.0), (a,), (1.0,)),
                 1.0)


@pytest.mark.rest
def test_a_scan_over_rows_and_of_vectors_is_a_kernel():
    def step(c, x):
        c = 0.5 * c + np.stack([x, c[0] * x, -c[1]])
        return c, (c, c[0])
    for xs in np.linspace(-1, 1, 60), np.linspace(-1, 1, 120)[::-2]:
        for reverse in False, True:
            assert_equal(lambda c, xs: ad.scan(step, c, xs, reverse=reverse),
                         np.array([1.0, 2.0, -0.5]), xs)


def test_a_row_that_is_stored_twice_is_returned_twice():
    step = lambda c, _: (c * 0.5 + 1, (c, c, 1.5))
    assert_equal(lambda c: ad.scan(step, c, None, length=100), 3.0)


def test_a_while_loop_is_a_kernel():
    for x in 2.0, 1e10, 1e-200, np.float64(3):
        assert_equal(root, x)


def test_a_long_while_loop_returns_to_python_now_and_then(monkeypatch):
    monkeypatch.setattr('autodiff_mini.wings.fused.loop_kernels.MOST', 10)
    f = lambda x: ad.while_loop(lambda x: x < 1000.5, lambda x: x + 1.0, x)
    assert assert_equal(f, 0.0).leaves == [1001.0]


def test_a_short_loop_is_left_to_python():
    f = lambda x: ad.scan(lambda c, _: (c * 0.5 + 1, c), x, None, length=3)
    assert_equal(f, 3.0, kernel=False)


def test_a_loop_that_needs_numpy_is_left_to_it():
    f = lambda x: ad.scan(lambda c, _: (np.exp(-c), c), x, None, length=100)
    assert_equal(f, 3.0, kernel=False)
    fused = ad.jit(f, backend='fused')
    fused(3.0)
    assert 'scan: not a loop of single numbers' in fused.source


STEPS = {   # each changes 1.0 somehow, and then causes an event
    'divide': lambda c: (c - 0.125, 1 / c),
    'over': lambda c: (c * 1e10, c * c), 'invalid': lambda c: (
        c - 0.125, np.sqrt(c)),
    'unused': lambda c: (c - 0.125, np.where(c != 0, 1 / c, 0.0)),
    'carry': lambda c: (
        np.where(np.abs(1 / c) < 0, 5.0, c - 0.125), c),
    'choice': lambda c: (c - 0.125, np.maximum(np.minimum(1 / c, 2.0), c))}


@pytest.mark.parametrize('mode', ['ignore', 'warn', 'raise', 'call'])
@pytest.mark.parametrize('step', STEPS)
def test_an_event_is_reported_as_the_usual_loop_reports_it(step, mode):
    f = lambda x: ad.scan(lambda c, _: STEPS[step](c), x, None, length=100)
    said = assert_equal(f, np.float64(1), all=mode, under='ignore')
    assert bool(said.said) == (mode in ('warn', 'call'))
    assert bool(said.error) == (mode == 'raise')


def test_an_event_of_a_value_that_only_the_next_step_could_use_is_kept():
    """LLVM would compute only the last of these quotients."""
    f = lambda c, xs: ad.scan(lambda c, x: (1 / x, None), c, xs)[0]
    xs = np.ones(100)
    xs[50] = 0.0
    assert assert_equal(f, 1.0, xs, kernel=None, all='raise').error


def test_a_division_by_zero_in_a_while_loop_stops_it():
    f = lambda x: ad.while_loop(
        lambda x: x != 7.0, lambda x: 1 / (x - 1) * 0 + x - 1, x)
    assert assert_equal(f, 3.0, all='raise').error


@pytest.mark.rest
def test_powers_have_the_bits_of_python():
    rng = np.random.default_rng(0)
    for n in 2, 3, 7, -1, -2, 5:
        step = lambda c, x: (0.5 * c + x ** n, (x + 1.5) ** n)
        assert_equal(lambda c, xs: ad.scan(step, c, xs), 0.25,
                     rng.uniform(0.1, 3.0, 1000))


def test_kernels_call_the_functions_that_python_calls():
    @native.kernel('d', 'ddd')
    def values(x, s, c, p):
        for i in range(x.size):
            s[i] = sin(x[i])
            c[i] = cos(x[i])
            p[i] = power(x[i], 3.0)
        return 0

    rng = np.random.default_rng(1)
    x = rng.standard_normal(200_000) * 10.0 ** rng.integers(-3, 7, 200_000)
    outs = [np.empty(x.size) for _ in range(3)]
    values(x, *outs)
    for y, f in zip(outs, (math.sin, math.cos, lambda x: x ** 3)):
        assert y.tolist() == list(map(f, x.tolist()))
