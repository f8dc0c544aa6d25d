"""Guard `odeint`: solutions against SciPy's, derivatives against differences.

Rows D15 (what it closes over is differentiated) and D16 (any tree, the
adjoint, scan over the times).
"""

import tracemalloc
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
from scipy.integrate import RK45, solve_ivp

import autodiff_mini as ad
from autodiff_mini.core.errors import TracerBoolConversionError
from autodiff_mini.wings.applications.ode import (
    BENDS, ERRORS, NODES, WEIGHTS, odeint)
from tests.support.numerical import assert_same_type


class Prey(NamedTuple):
    hares: float
    foxes: float


def lotka_volterra(y, t, rates):
    (birth, death), meet = rates['alone'], rates['meet']
    return Prey(birth * y.hares - meet * y.hares * y.foxes,
                meet * y.hares * y.foxes - death * y.foxes)


def decay(y, t, rate):
    return -rate * y


def forced(y, t, p):
    return -y * np.sin(p * t) + t * t


TIMES = np.linspace(0.0, 6.0, 7)
RATES = {'alone': (1.1, 0.4), 'meet': 0.1}
START = Prey(10.0, 5.0)


def as_scipy_finds_it(t):
    """Return SciPy's solution for hares and foxes, with high accuracy."""
    found = solve_ivp(lambda t, y: lotka_volterra(Prey(*y), t, RATES),
                      (t[0], t[-1]), START, 'DOP853', t,
                      rtol=1e-12, atol=1e-12)
    return Prey(*found.y)


def assert_near(actual, expected, tolerance=1e-6):
    """Assert that trees agree within the solver's tolerances."""
    assert ad.tree_structure(actual) == ad.tree_structure(expected)
    for x, y in zip(ad.tree_leaves(actual), ad.tree_leaves(expected)):
        np.testing.assert_allclose(x, y, tolerance, tolerance)


# The method

def test_odeint_uses_the_method_of_dormand_and_prince():
    np.testing.assert_allclose(WEIGHTS.sum(1), NODES, rtol=1e-14)
    np.testing.assert_allclose(WEIGHTS[:5, :5], RK45.A[1:], rtol=1e-15)
    np.testing.assert_allclose(WEIGHTS[5], RK45.B, rtol=1e-15)
    np.testing.assert_allclose(ERRORS, -RK45.E, rtol=1e-13)
    # SciPy's polynomial x + P1 x^2 + ...: its x^4 is what BENDS is about.
    np.testing.assert_allclose(BENDS, RK45.P[:, 3], rtol=1e-12, atol=1e-14)


@pytest.mark.asks('D16')
def test_odeint_agrees_with_scipy():
    ys = odeint(lotka_volterra, START, TIMES, RATES)
    assert_near(ys, as_scipy_finds_it(TIMES))
    jitted = ad.jit(partial(odeint, lotka_volterra))(START, TIMES, RATES)
    assert_near(jitted, ys, 1e-12)


def test_interpolation_is_as_accurate_as_the_steps():
    t = np.linspace(0.0, 3.0, 400)
    assert_near(odeint(lotka_volterra, START, t, RATES),
                as_scipy_finds_it(t), 3e-7)


def test_single_precision_stays_single():
    y0, rate = np.array([1, -2], np.float32), np.float32(0.7)
    total = lambda y0, t, rate: odeint(decay, y0, t, rate)[-1].sum()
    for t in TIMES / 2, TIMES.astype('f') / 2:
        ys = odeint(decay, y0, t, rate)
        assert ys.dtype == np.float32
        np.testing.assert_allclose(ys[-1], y0 * np.exp(-2.1), 1e-5)
        bars = ad.grad(total, (0, 1, 2))(y0, t, rate)
        for bar, x in zip(bars, (y0, t, rate)):
            assert_same_type(bar, x)
        np.testing.assert_allclose(bars[2], 3 * np.exp(-2.1), 1e-4)


# Derivatives

@pytest.mark.asks('D15')
@pytest.mark.parametrize('func, y0, t, p', [
    (lotka_volterra, START, TIMES[:4], RATES),
    (forced, np.array([[1.0, -2.0]]), TIMES[1:4], 2.0)])
def test_check_grads_passes_for_every_argument(func, y0, t, p):
    f = partial(odeint, func, rtol=1e-10, atol=1e-10)
    # Small differences would show the steps, large ones the curvature.
    ad.check_grads(f, (y0, t, p), 1, modes=('rev', 'fwd'), eps=1e-4,
                   rtol=1e-4, atol=1e-4)


@pytest.mark.rest
def test_every_second_derivative_is_right():
    f = lambda rate: odeint(decay, 1.0, [0.0, 2.0], rate)[1]
    for second in (ad.grad(ad.grad(f)), ad.jacfwd(ad.jacfwd(f)),
                   ad.grad(ad.jit(ad.grad(f)))):
        np.testing.assert_allclose(second(0.5), 4 * np.exp(-1), 1e-6)


INSIDE = [
    ad.jit(ad.checkpoint(lambda k: odeint(
        lambda y, t: -k * y, 1.0, [0.0, 2.0])[1])),
    lambda k: ad.vmap(ad.jit(lambda k: odeint(
        lambda y, t, p: {'y': (-p['k'][0] * y['y'][0],)}, {'y': (1.0,)},
        [0.0, 2.0], {'k': [k, 3]})['y'][0][1]))(np.stack([2 * k, k]))[1],
    lambda k: ad.scan(lambda _, k: (odeint(
        lambda y, t: -y, 1.0, ad.asarray([0.0, 2.0 * k]))[1], None),
        0.0, np.stack([2 * k, k]))[0],
    lambda k: ad.cond(k > 0, lambda k: odeint(
        lambda y, t, n: -k * y * n, 1.0, [0, 1], np.int64(2))[1], np.cos, k)]


@pytest.mark.asks('D15')
def test_derivatives_are_right_inside_every_transform():
    """It is exp(-2k), whether k is captured, an argument, or a time."""
    truth = np.exp(-1)
    for f in INSIDE:
        np.testing.assert_allclose(f(0.5), truth, 1e-7)
        for slope in ad.grad(f)(0.5), ad.jvp(f, (0.5,), (1.0,))[1]:
            np.testing.assert_allclose(slope, -2 * truth, 1e-7)


def test_mapped_end_times_can_lie_in_both_directions():
    """Each element has its own direction, steps and end."""
    f = lambda end, k: odeint(decay, 1.0, np.stack([0.0, end]), k)[1]
    ends, k = np.array([1.0, -1.0, 0.0, 3.0]), np.array([1.0, 2, 3, 0.1])
    np.testing.assert_allclose(ad.vmap(f)(ends, k), np.exp(-k * ends), 1e-6)
    found = ad.vmap(ad.grad(f, (0, 1)))(ends, k)
    np.testing.assert_allclose(found[0], -k * np.exp(-k * ends), 1e-6)
    np.testing.assert_allclose(found[1], -ends * np.exp(-k * ends), 1e-6)
    total = lambda ends, k: ad.vmap(f)(ends, k).sum()
    assert_near(ad.grad(total, (0, 1))(ends, k), found, 1e-6)


def test_the_first_time_has_a_derivative():
    f = lambda t: odeint(forced, 1.0, t, 2.0)
    t = np.array([0.3, 1.0, 1.0, 2.0])
    forward, back = ad.jacfwd(f)(t), ad.jacrev(f)(t)
    assert_near(forward, back, 1e-6)
    assert not np.any(forward[0]) and np.all(forward[1:, 0])
    assert_near(np.diag(back)[1:], forced(f(t), t, 2.0)[1:], 1e-6)


def test_odeint_gradient_memory_does_not_grow_with_steps():
    """D16: memory does not grow with the number of steps."""
    def peak(end):
        f = ad.jit(ad.grad(lambda k: odeint(
            lambda y, t: -k * np.sin(y), np.ones(1000), [0.0, end])[1].sum()))
        f(1.0)
        tracemalloc.start()
        f(1.0)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most
    assert peak(5.0) < 1.1 * peak(0.1)


# Where there is no solution

NOWHERE = {     # problems, and the time from which the solution is nan
    'too_many_steps': ((decay, 1.0, [0.0, 1e-4, 9.0, 9.1], 1.0), 2, 5),
    'times_turn': ((decay, 1.0, [0.0, 1.0, 0.2, 1.0], 1.0), 2, np.inf),
    'nan_time': ((decay, 1.0, [0.0, np.nan], 1.0), 1, np.inf),
    'infinite_time': ((decay, 1.0, [0.0, np.inf], 1.0), 1, np.inf),
    'nan_slope': ((decay, 1.0, [0.0, 1.0], np.nan), 1, np.inf),
    'infinite_slope': ((lambda y, t: np.where(t < 1, -y, np.inf), 1.0,
                        [0.0, 0.5, 1.5]), 2, np.inf),
    'pole': ((lambda y, t: y * y, 1.0, [0.0, 0.5, 1.5]), 2, 200),
}


def test_a_solution_that_does_not_exist_is_nan():
    """The solution is nan from the first time that is not reached."""
    with np.errstate(all='ignore'):
        for name, (problem, start, steps) in NOWHERE.items():
            last = lambda y0: odeint(problem[0], y0, *problem[2:],
                                     mxstep=steps)
            reached = (~np.isnan(last(problem[1]))).tolist()
            assert reached == [i < start for i in range(len(reached))], name
            assert np.isnan(ad.grad(lambda y0: last(y0)[-1])(1.0)), name
        mapped = ad.vmap(last)(np.array([1.0, 0.5]))
        assert np.isnan(mapped).sum() == 1
        np.testing.assert_allclose(mapped[1], [0.5, 2 / 3, 2], 1e-6)


# Mistakes

MISTAKES = [
    (decay, 1j, TIMES, TypeError,
     'odeint of decay: y0: expected real numbers, but got complex128'),
    (decay, {'a': 'x'}, TIMES, TypeError,
     r"odeint of decay: y0\['a'\]: .*str"),
    (decay, 1.0, TIMES[None], ValueError,
     r'odeint of decay: t must be a 1-D array.*float64\[1,7\]'),
    (decay, 1.0, 1.0, ValueError, r'got float64\[\]'),
    (decay, 1.0, [], ValueError, r'got float64\[0\]'),
    (decay, 1.0, [0j], TypeError, 'odeint of decay: t: expected real'),
    (decay, {}, TIMES, ValueError,
     'odeint of decay: the state y0 contains no numbers'),
    (lambda y, t, k: (y, y), 1.0, TIMES, TypeError,
     r'odeint of .*lambda.*: the function must return a slope with the '
     r'tree structure of y0, PyTreeDef\(\*\), but returned '
     r'PyTreeDef\(\(\*, \*\)\)'),
    (lambda y, t, k: -y * np.ones(3), 1.0, TIMES, TypeError,
     r'slope: expected float64\[\] as in y0, but got float64\[3\]'),
    (decay, np.float32(1), TIMES, TypeError,
     r'expected float32\[\] as in y0, but got float64\[\]'),
    (lambda y, t, k: 1j * y, 1.0, TIMES, TypeError, 'complex128'),
    (lambda y, t, k: y if y > 0 else -y, 1.0, TIMES,
     TracerBoolConversionError, 'odeint of .*np.where'),
]


def test_mistakes_are_named():
    for func, y0, t, error, words in MISTAKES:
        with pytest.raises(error, match=f'(?s){words}'):
            odeint(func, y0, t, np.float64(1))


@pytest.mark.rest
def test_odeint_agrees_with_jax():
    jax = pytest.importorskip('jax')
    from jax.experimental.ode import odeint as theirs
    jax.config.update('jax_enable_x64', True)
    f = lambda odeint, np: lambda y0, t, k: np.sum(odeint(
        lambda y, t, k: -k * np.sin(y) * t, y0, t, k) ** 2)
    args = np.array([1.0, 0.5]), np.array([0.5, 1.0, 1.7]), 0.8
    ours = ad.grad(f(odeint, np), (0, 1, 2))(*args)
    theirs = jax.grad(f(theirs, jax.numpy), (0, 1, 2))(*args)
    assert_near(ours, ad.tree_map(np.asarray, theirs), 1e-6)
