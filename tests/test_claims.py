"""What the book says and no other test shows; CLAIMS.md has the list."""

import math
import re
import sys
import tracemalloc
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from mpmath import mp

import autodiff_mini as ad
from autodiff_mini import draft
from autodiff_mini.interpreters.lowering import Lowered
from autodiff_mini.interpreters.partial_eval import PartialEvalTrace
from autodiff_mini.interpreters.transpose import transpose_equation
from tests.numerical import assert_close
from tests.wings import needs

ROOT = Path(__file__).parent.parent
near = np.testing.assert_allclose


# Chapter 11

# Chapter 12

def quietly(x):
    with np.errstate(divide='ignore'):
        return 1 / x


def test_the_state_in_which_it_was_written_is_not_in_the_program():
    """The state inside was that outside, so a later caller's holds."""
    x = np.zeros(2)
    f = ad.jit(quietly)
    with np.errstate(divide='ignore'):
        f(x)
        assert 'errstate' not in str(ad.make_jaxpr(quietly)(x))
    with np.errstate(divide='raise'), pytest.raises(FloatingPointError):
        f(x)


def test_an_error_state_is_lost_by_the_draft_and_kept_by_the_library():
    x = np.zeros(2)
    with np.errstate(divide='raise'):
        assert np.isinf(quietly(x)).all()
        assert np.isinf(ad.jit(quietly)(x)).all()
        with pytest.raises(FloatingPointError):
            draft.jit(quietly)(x)


# Chapter 24

def test_numpy_has_no_erf_and_that_of_math_wants_one_number():
    assert not hasattr(np, 'erf')
    assert math.erf(np.float64(0.5)) == math.erf(0.5)
    with pytest.raises(TypeError):
        math.erf(np.ones(3))


def test_a_rule_on_what_is_not_numpy_s_is_for_derivatives_only():
    @ad.custom_jvp
    def erf(x):
        return np.vectorize(math.erf, otypes=[float])(x)
    erf.defjvp(lambda p, t: (
        erf(*p), 2 / np.sqrt(np.pi) * np.exp(-p[0] ** 2) * t[0]))

    x = np.array([0.0, 0.5, 1.0])
    slopes = [float(mp.diff(mp.erf, v)) for v in x.tolist()]
    assert_close(ad.jvp(erf, (x,), (np.ones(3),))[1], np.array(slopes))
    assert_close(ad.grad(erf)(0.5), slopes[1])
    for f in ad.jit(erf), ad.vmap(erf):
        with pytest.raises(ad.errors.TracerArrayConversionError):
            f(x)


def test_a_jacobian_brings_an_axis_and_asks_the_rule():
    square = ad.custom_vmap(lambda x: x * x)
    square.def_vmap(lambda axis_size, in_batched, x: (3 * x * x, True))
    assert ad.jacfwd(square)(2.0) == 12
    assert ad.grad(square)(2.0) == 4


def test_slopes_of_a_root_that_begins_beyond_it():
    def root(a):
        y = 1 + a
        while abs(y * y - a) > 1e-12 * a:
            y = (y + a / y) / 2
        return y

    for a in 1.0, 2.0, 1e-6, 1e6:
        near(ad.grad(root)(a), 0.5 / np.sqrt(a), 1e-9)


# Chapter 14

def test_no_choice_after_the_branch_helps():
    x = np.array([4.0, -1.0])
    after = lambda x: np.where(x > 0, np.sqrt(x), 2 * x)
    before = lambda x: np.where(
        x > 0, np.sqrt(np.where(x > 0, x, 1.0)), 2 * x)
    with np.errstate(all='ignore'):
        np.testing.assert_equal(ad.vmap(ad.grad(after))(x), [0.25, np.nan])
    assert_close(ad.vmap(ad.grad(before))(x), np.array([0.25, 2.0]))


# Chapter 14

def newton(system, step=lambda x, a: (x + a / x) / 2):
    return lambda a: system.while_loop(
        lambda x: (x * x / a - 1) ** 2 > 1e-24, lambda x: step(x, a), a)


def test_the_loop_of_the_root_ends_for_numbers_of_any_size():
    for a in 10.0 ** np.arange(-100, 101, 10):
        assert_close(newton(draft)(a) / np.sqrt(a), 1.0)


@pytest.mark.parametrize('system', [draft, ad])
def test_where_no_step_is_taken_the_slope_is_that_of_no_step(system):
    slope = lambda a: system.jvp(newton(system), (a,), (1.0,))[1]
    assert slope(1.0) == 1.0
    near(slope(2.0), 0.5 / np.sqrt(2.0), 1e-9)


# Chapter 15

def test_tracemalloc_counts_the_arrays_of_numpy():
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    x = np.zeros(100_000)
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert x.nbytes <= after - before < x.nbytes + 10_000


def counting_sine(seen):
    sine = ad.Primitive('sine')
    sine.def_impl(lambda x: (seen.append(x), np.sin(x))[1])
    sine.def_abstract_eval(lambda x: x)
    sine.def_jvp(lambda p, t: (sine.bind(*p), np.cos(p[0]) * t[0]))
    return sine.bind


def test_how_many_sines_a_hundred_layers_compute():
    """No layer more than twice, and with jit and no checkpoint once."""
    def sines(cut, wrap=lambda f: f):
        seen = []
        sine = counting_sine(seen)

        def ten(f):
            def run(x):
                for _ in range(10):
                    x = f(x)
                return x
            return run
        f = wrap(ad.grad(lambda x: np.sum(cut(ten, sine)(x))))
        x = np.array([0.5, 1.0])
        f(x)
        seen.clear()
        f(x)
        return len(seen)

    kept = lambda ten, sine: ten(ten(sine))
    pieces = lambda ten, sine: ten(ad.checkpoint(ten(sine)))
    whole = lambda ten, sine: ad.checkpoint(ten(ten(sine)))
    assert [*map(sines, (kept, pieces, whole))] == [100, 190, 199]
    assert sines(kept, ad.jit) <= 100


# Chapter 26

def test_a_formula_that_adds_positive_numbers_loses_no_digits():
    slope = lambda x: np.exp(-x) / (1 + np.exp(-x)) ** 2
    with mp.workdps(400):
        for x in np.linspace(-340.0, 700.0, 60).tolist():
            e = mp.exp(-mp.mpf(x))
            assert abs(slope(x) / (e / (1 + e) ** 2) - 1) < 1e-15


def test_from_37_on_one_minus_expit_is_nothing():
    naive = lambda x: 1 - 1 / (1 + np.exp(-x))
    assert naive(36.0) > 0 and naive(37.0) == 0
    assert 1 - np.nextafter(1.0, 0.0) == 2.0 ** -53


def test_twice_x_minus_one_is_exact_from_a_quarter_on():
    rng = np.random.default_rng(0)
    is_exact = lambda x: Fraction(2 * x - 1) == 2 * Fraction(x) - 1
    assert all(map(is_exact, rng.uniform(0.25, 1.0, 1000).tolist()))
    assert not all(map(is_exact, rng.uniform(0.0, 0.25, 1000).tolist()))


# Chapter 27

@needs('applications')
@pytest.mark.parametrize('jacobian', ['jacfwd', 'jacrev'])
def test_what_gets_small_when_it_is_repeated_is_enough(jacobian):
    """S makes some arrays larger at first, and so does its transpose."""
    s = np.array([[0.5, 100.0], [0.0, 0.5]])
    assert_close(np.linalg.eigvals(s), np.linalg.eigvals(s.T))
    solution = lambda b: ad.fixed_point(
        lambda b, x: b + s @ x, b, np.zeros(2))
    slope = getattr(ad, jacobian)(solution)(np.array([1.0, 2.0]))
    near(slope, np.linalg.inv(np.eye(2) - s), 1e-8)


def test_one_singular_matrix_is_an_error_for_the_whole_batch():
    matrices = np.stack([np.eye(2), np.zeros((2, 2))])
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.solve(matrices, np.ones((2, 2, 1)))


def test_the_slope_is_exactly_zero_where_newton_fails():
    assert 3 * (3 ** -0.5) ** 2 - 1 == 0


@needs('applications')
def test_a_tangent_solve_with_a_while_loop_goes_forwards_only():
    def root(a):
        near = lambda f: lambda x: np.abs(f(x)) > 1e-13
        return ad.custom_root(
            lambda x: x * x - a, 1.5,
            lambda f, x: ad.while_loop(near(f), lambda x: (x + a / x) / 2, x),
            lambda g, y: ad.while_loop(
                near(lambda x: y - g(x)), lambda x: x + (y - g(x)) / 10, y))

    near(ad.jvp(root, (2.0,), (1.0,))[1], 0.5 / np.sqrt(2.0), 1e-9)
    with pytest.raises(TypeError, match='while_loop'):
        ad.grad(root)(2.0)


# Chapter 28

@needs('applications')
def test_a_metre_of_pendulum_swings_almost_five_times_in_ten_seconds():
    """It begins at its farthest, and passes the middle twice in a swing."""
    pendulum = lambda y, t: (y[1], -9.81 * np.sin(y[0]))
    angle = ad.odeint(pendulum, (1.0, 0.0), np.linspace(0.0, 10.0, 201))[0]
    assert np.sum(angle[1:] * angle[:-1] < 0) == 9     # 4.25 to 4.75


@needs('applications')
@pytest.mark.rest
def test_a_hundred_swings_leave_four_digits():
    """And one swing seven; the state is what it was at the beginning."""
    pendulum = lambda y, t: (y[1], -9.81 * np.sin(y[0]))
    swing = float(4 * mp.ellipk(mp.sin(0.5) ** 2) / mp.sqrt(9.81))
    near(swing, 2.139137600558689)

    def error(n):
        angle, speed = ad.odeint(pendulum, (1.0, 0.0), [0.0, n * swing])
        return abs(angle[-1] - 1) + abs(speed[-1])
    assert error(1) < 5e-7
    assert 1e-5 < error(100) < 1e-3


@needs('applications')
def test_what_friction_brings_together_flies_apart_backwards():
    slowed = lambda y, t: -y
    ends = np.array([1.0, 1.001])
    forwards = ad.odeint(slowed, ends, [0.0, 5.0])[-1]
    back = ad.odeint(slowed, ends, [5.0, 0.0])[-1]
    near(np.diff(forwards), np.diff(ends) * np.exp(-5.0), 1e-4)
    near(np.diff(back), np.diff(ends) * np.exp(5.0), 1e-4)


# Chapters 31 to 34

def test_sums_of_pieces_are_not_the_sum():
    differ = 0
    for seed in range(20):
        x = np.random.default_rng(seed).normal(size=100_000)
        differ += sum(map(np.sum, np.split(x, 10))) != np.sum(x)
    assert differ


@needs('fast')
def test_a_loop_taken_apart_adds_in_another_order():
    """Eager mode takes it apart, too; the small compiler does not."""
    rng = np.random.default_rng(0)
    xs, u = rng.normal(size=(50, 4)), rng.normal(size=(4, 4)) / 4
    slope = ad.grad(lambda u: np.sum(ad.scan(
        lambda c, x: (np.tanh(c @ u + x), None), np.zeros(4), xs)[0]))
    small, = Lowered(ad.make_jaxpr(slope)(u))(u)
    assert np.array_equal(ad.jit(slope)(u), slope(u))
    assert not np.array_equal(small, slope(u))
    assert_close(small, slope(u))


@needs('fast')
def test_the_small_compiler_has_the_bits_of_programs_without_a_loop():
    slope = ad.grad(lambda x: np.sum(x * (1 + np.tanh(x * (1 + x * x)))))
    x = np.linspace(-4.0, 4.0, 1000)
    small, = Lowered(ad.make_jaxpr(slope)(x))(x)
    assert np.array_equal(small, slope(x))
    assert np.array_equal(small, ad.jit(slope)(x))


def test_the_hyperbolic_tangent_of_python_has_other_bits():
    xs = np.linspace(-4.0, 4.0, 1001).tolist()
    distances = [abs(math.tanh(x) - float(np.tanh(x))) for x in xs]
    assert 0 < max(distances) < 1e-15


def test_numpy_says_nothing_of_underflow_by_default():
    assert np.geterr()['under'] == 'ignore'
    assert np.float64(1e-200) * np.float64(1e-200) == 0.0


# Chapter 35

def calls_of_interpreters(f, x):
    """Returns how often a call computes or transposes an operation."""
    interpreters, found = {
        PartialEvalTrace.process_primitive.__code__,
        transpose_equation.__code__}, []

    def profile(frame, event, _):
        if event == 'call' and frame.f_code in interpreters:
            found.append(frame)
    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        f(x)
    finally:
        sys.setprofile(before)
    return len(found)


@needs('fast')
def test_a_plain_gradient_stops_running_the_interpreters():
    from autodiff_mini.fast.prepared import OFTEN
    loss, x = lambda x: np.sum(np.sin(x) * x), np.array([0.5, 1.0])
    slope = ad.grad(loss)
    assert calls_of_interpreters(slope, x)
    for _ in range(OFTEN):
        slope(x)
    assert not calls_of_interpreters(slope, x)
    assert calls_of_interpreters(lambda x: ad.vjp(loss, x)[1](1.0), x)
    assert calls_of_interpreters(ad.make_jaxpr(slope), x)


# The list itself

def test_every_test_that_the_list_names_exists():
    proofs = re.findall(r'([\w/]+\.py)::(\w+)',
                        (ROOT / 'tests/CLAIMS.md').read_text())
    assert len(proofs) > 200
    for path, name in set(proofs):
        text = (ROOT / path).read_text()
        assert re.search(rf'^def {name}\(', text, re.MULTILINE), (path, name)
