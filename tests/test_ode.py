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
from autodiff_mini.applications.ode import (
    BENDS,
    ERRORS,
    NODES,
    WEIGHTS,
    odeint,
)
from autodiff_mini.errors import TracerBoolConversionError
from tests.amount import crossed
from tests.numerical import assert_same_type


def pendulum(y, t, length):
    return {'angle': y['speed'],
            'speed': -9.81 / length * np.sin(y['angle'])}


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


TIMES = np.linspace(0.0, 3.0, 7)
FALL = {'angle': 1.0, 'speed': 0.5}
PROBLEMS = {
    'pendulum': (pendulum, FALL, TIMES, 1.5),
    'lotka_volterra': (lotka_volterra, Prey(10.0, 5.0), TIMES * 2,
                       {'alone': (1.1, 0.4), 'meet': 0.1}),
    'decay': (decay, np.array([[1.0, -2.0, 3.0]]), TIMES, 0.7),
    'forced': (forced, 1.0, TIMES + 1, 2.0),
}
problems = pytest.mark.parametrize('problem', PROBLEMS.values(),
                                   ids=PROBLEMS)


def reference(func, y0, t, *args):
    """Return the solution as SciPy finds it, more exactly."""
    leaves, tree = ad.tree_flatten(y0)
    shapes = list(map(np.shape, leaves))
    ends = np.cumsum([np.size(x) for x in leaves])[:-1]

    def as_tree(flat):
        parts = np.split(flat, ends)
        return tree.unflatten(map(np.reshape, parts, shapes))

    def slope(t, flat):
        return np.concatenate([np.ravel(f) for f in ad.tree_leaves(
            func(as_tree(flat), t, *args))])

    start = np.concatenate(list(map(np.ravel, leaves)))
    found = solve_ivp(slope, (t[0], t[-1]), start, 'DOP853', t,
                      rtol=1e-12, atol=1e-12).y
    return ad.tree_map(lambda *xs: np.stack(xs),
                       *[as_tree(column) for column in found.T])


def assert_near(actual, expected, tolerance=1e-6):
    """Assert that trees agree, as near as the solver's tolerances allow."""
    assert (ad.tree_structure(actual) == ad.tree_structure(expected))
    for x, y in zip(ad.tree_leaves(actual), ad.tree_leaves(expected)):
        np.testing.assert_allclose(x, y, tolerance, tolerance)


# The method

def test_its_numbers_are_the_method_of_dormand_and_prince():
    np.testing.assert_allclose(WEIGHTS.sum(1), NODES, rtol=1e-14)
    np.testing.assert_allclose(WEIGHTS[:5, :5], RK45.A[1:], rtol=1e-15)
    np.testing.assert_allclose(WEIGHTS[5], RK45.B, rtol=1e-15)
    np.testing.assert_allclose(ERRORS, -RK45.E, rtol=1e-13)
    # SciPy's polynomial x + P1 x^2 + ...: its x^4 is what BENDS is about.
    np.testing.assert_allclose(BENDS, RK45.P[:, 3], rtol=1e-12, atol=1e-14)


@problems
def test_d16_it_agrees_with_scipy(problem):
    ys = odeint(*problem)
    assert_near(ys, reference(*problem))
    assert_near(ad.jit(partial(odeint, problem[0]))(*problem[1:]), ys, 1e-12)


# It needs no slope beyond the last time: NumPy would warn.
@pytest.mark.parametrize('end', [1.0, -1.0])
def test_times_may_decrease_and_the_end_is_not_passed(end):
    func = lambda y, t: np.sqrt(1 - end * t)
    np.testing.assert_allclose(
        odeint(func, 0.0, [0.0, end])[1], end * 2 / 3, 1e-6)


def test_tolerances_decide_how_exact_it_is():
    errors = [abs(odeint(decay, 1.0, [0.0, 1.0], 1.0, rtol=tol, atol=tol)[1]
                  - np.exp(-1)) for tol in (1e-3, 1e-6, 1e-9, 1e-12)]
    assert errors == sorted(errors)[::-1]
    assert errors[0] > 1e-6 and errors[-1] < 1e-11


def test_between_steps_it_is_as_exact_as_at_their_ends():
    t = np.linspace(0.0, 3.0, 400)
    assert_near(odeint(pendulum, FALL, t, 1.5),
                reference(pendulum, FALL, t, 1.5), 3e-7)


@pytest.mark.parametrize('t', [TIMES, TIMES.astype('f')])
def test_single_precision_stays_so(t):
    y0, rate = np.array([1, -2], np.float32), np.float32(0.7)
    ys = odeint(decay, y0, t, rate)
    assert ys.dtype == np.float32
    np.testing.assert_allclose(ys[-1], y0 * np.exp(-2.1), 1e-5)
    total = lambda y0, t, rate: odeint(decay, y0, t, rate)[-1].sum()
    bars = ad.grad(total, (0, 1, 2))(y0, t, rate)
    for bar, x in zip(bars, (y0, t, rate)):
        assert_same_type(bar, x)
    np.testing.assert_allclose(bars[2], 3 * np.exp(-2.1), 1e-4)


# Derivatives

@problems
def test_d15_check_grads_passes_for_every_argument(problem):
    func, y0, t, *args = problem
    # Small differences would show the steps, large ones the curvature.
    options = {'eps': 1e-4, 'rtol': 1e-4, 'atol': 1e-4}
    f = lambda y0, t, *args: odeint(func, y0, t, *args, rtol=1e-10,
                                    atol=1e-10)
    ad.check_grads(f, (y0, t, *args), 1, modes=('rev', 'fwd'), **options)


@pytest.mark.rest
@pytest.mark.parametrize('order', [
    lambda f: ad.grad(ad.grad(f)), lambda f: ad.jacfwd(ad.jacfwd(f)),
    lambda f: ad.grad(ad.jit(ad.grad(f)))],
    ids=['grad_of_grad', 'jacfwd_of_jacfwd', 'grad_of_jit_of_grad'])
def test_every_second_derivative_is_the_truth(order):
    f = lambda rate: odeint(decay, 1.0, [0.0, 2.0], rate)[1]
    np.testing.assert_allclose(order(f)(0.5), 4 * np.exp(-1), 1e-6)


WRAPS = {
    'as_it_is': lambda f: f,
    'jit_of_checkpoint': lambda f: ad.jit(ad.checkpoint(f)),
    'vmap_of_jit': lambda f: lambda k: ad.vmap(ad.jit(f))(
        np.stack([2 * k, k]))[1],
    'in_a_scan': lambda f: lambda k: ad.scan(
        lambda _, x: (f(x), None), 0.0, np.stack([2 * k, k]))[0],
    'in_a_cond': lambda f: lambda k: ad.cond(k > 0, f, np.cos, k),
}
HELD = {
    'argument': lambda k: odeint(decay, 1.0, [0.0, 2.0], k)[1],
    'closed_over': lambda k: odeint(lambda y, t: -k * y, 1.0,
                                    [0.0, 2.0])[1],
    'in_a_tree': lambda k: odeint(
        lambda y, t, p: {'y': (-p['k'][0] * y['y'][0],)},
        {'y': (1.0,)}, [0.0, 2.0], {'k': [k, 3]})['y'][0][1],
    'as_a_time': lambda k: odeint(lambda y, t: -y, 1.0,
                                  ad.asarray([0.0, 2.0 * k]))[1],
    'beside_an_integer': lambda k: odeint(
        lambda y, t, n: -k * y * n, 1.0, [0, 1], np.int64(2))[1],
}


@crossed('wrap, held', WRAPS, HELD, 3)
def test_d15_derivatives_are_right_inside_every_transform(wrap, held):
    f = WRAPS[wrap](HELD[held])
    truth = -2 * np.exp(-1)
    np.testing.assert_allclose(f(0.5), np.exp(-1), 1e-7)
    np.testing.assert_allclose(ad.grad(f)(0.5), truth, 1e-7)
    np.testing.assert_allclose(ad.jvp(f, (0.5,), (1.0,))[1], truth, 1e-7)


def test_mapped_ends_may_lie_in_both_directions():
    """Each element has its own direction, steps and end."""
    f = lambda end, k: odeint(decay, 1.0, np.stack([0.0, end]), k)[1]
    ends, k = np.array([1.0, -1.0, 0.0, 3.0]), np.array([1.0, 2, 3, 0.1])
    np.testing.assert_allclose(ad.vmap(f)(ends, k), np.exp(-k * ends), 1e-6)
    found = ad.vmap(ad.grad(f, (0, 1)))(ends, k)
    np.testing.assert_allclose(found[0], -k * np.exp(-k * ends), 1e-6)
    np.testing.assert_allclose(found[1], -ends * np.exp(-k * ends), 1e-6)
    total = lambda ends, k: ad.vmap(f)(ends, k).sum()
    assert_near(ad.grad(total, (0, 1))(ends, k), found, 1e-6)


def test_the_first_time_moves_the_whole_solution():
    f = lambda t: odeint(forced, 1.0, t, 2.0)
    t = np.array([0.3, 1.0, 1.0, 2.0])
    forward, back = ad.jacfwd(f)(t), ad.jacrev(f)(t)
    assert_near(forward, back, 1e-6)
    assert not np.any(forward[0]) and np.all(forward[1:, 0])
    assert_near(np.diag(back)[1:], forced(f(t), t, 2.0)[1:], 1e-6)


def test_the_way_back_keeps_no_steps():
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
    assert peak(10.0) < 1.1 * peak(0.1)


# Where there is no solution

NOWHERE = {     # problems, and from which time on the solution is nan
    'too_many_steps': ((decay, 1.0, [0.0, 1e-4, 9.0, 9.1], 1.0), 2, 5),
    'times_turn': ((decay, 1.0, [0.0, 2.0, 1.0, 3.0], 1.0), 2, np.inf),
    'times_turn_in_a_step': (
        (decay, 1.0, [0.0, 1.0, 0.2, 1.0], 1.0), 2, np.inf),
    'nan_time': ((decay, 1.0, [0.0, np.nan], 1.0), 1, np.inf),
    'infinite_time': ((decay, 1.0, [0.0, np.inf], 1.0), 1, np.inf),
    'nan_slope': ((decay, 1.0, [0.0, 1.0], np.nan), 1, np.inf),
    'infinite_slope': ((lambda y, t: np.where(t < 1, -y, np.inf), 1.0,
                        [0.0, 0.5, 1.5]), 2, np.inf),
    'no_slope_beyond': ((lambda y, t: np.where(t < 1, 1.0, np.nan), 0.0,
                         [0.0, 0.99, 1.5]), 2, np.inf),
}


@pytest.mark.parametrize('name', NOWHERE)
def test_from_a_time_that_is_not_reached_all_is_nan(name):
    problem, start, steps = NOWHERE[name]
    with np.errstate(all='ignore'):
        ys = odeint(*problem, mxstep=steps)
        assert np.isnan(ys).tolist() == [
            i >= start for i in range(len(ys))]
        last = lambda y0: odeint(problem[0], y0, *problem[2:], mxstep=steps)
        assert np.isnan(ad.grad(lambda y0: last(y0)[-1])(1.0))


def test_a_solution_that_does_not_exist_is_nan():
    with np.errstate(all='ignore'):
        f = lambda y: odeint(lambda y, t: y * y, y, [0.0, 0.5, 1.5],
                             mxstep=np.inf)
        ys = f(1.0)
        np.testing.assert_allclose(ys[:2], [1, 2], 1e-6)
        assert np.isnan(ys[2]) and np.isnan(ad.grad(lambda y: f(y)[2])(1.0))
        mapped = ad.vmap(f)(np.array([1.0, 0.5]))
        assert np.isnan(mapped).sum() == 1
        np.testing.assert_allclose(mapped[1], [0.5, 2 / 3, 2], 1e-6)


# Mistakes

@pytest.mark.parametrize('mistake, error, words', [
    (lambda: odeint(pendulum, (1.0, 0.0), TIMES, 1.0), TypeError, 'indices'),
    (lambda: odeint(decay, 1j, TIMES, 1.0), TypeError,
     'odeint of decay: y0: expected real numbers, but got complex128'),
    (lambda: odeint(decay, {'a': 'x'}, TIMES, 1.0), TypeError,
     r"odeint of decay: y0\['a'\]: .*str"),
    (lambda: odeint(decay, 1.0, TIMES[None], 1.0), ValueError,
     r'odeint of decay: t must be a 1-D array.*float64\[1,7\]'),
    (lambda: odeint(decay, 1.0, 1.0, 1.0), ValueError, r'got float64\[\]'),
    (lambda: odeint(decay, 1.0, [], 1.0), ValueError, r'got float64\[0\]'),
    (lambda: odeint(decay, 1.0, [0j], 1.0), TypeError,
     'odeint of decay: t: expected real'),
    (lambda: odeint(decay, {}, TIMES, 1.0), ValueError,
     'odeint of decay: the state y0 contains no numbers'),
    (lambda: odeint(lambda y, t: (y, y), 1.0, TIMES), TypeError,
     r'odeint of .*lambda.*: the function must return a slope with the '
     r'tree structure of y0, PyTreeDef\(\*\), but returned '
     r'PyTreeDef\(\(\*, \*\)\)'),
    (lambda: odeint(decay, 1.0, TIMES, np.ones(3)), TypeError,
     r'odeint of decay: slope: expected float64\[\] as in y0, but got '
     r'float64\[3\]'),
    (lambda: odeint(decay, np.float32(1), TIMES, np.float64(1)), TypeError,
     r'expected float32\[\] as in y0, but got float64\[\]'),
    (lambda: odeint(decay, 1.0, TIMES, 1j), TypeError, 'complex128'),
    (lambda: odeint(lambda y, t: y if y > 0 else -y, 1.0, TIMES),
     TracerBoolConversionError, 'odeint of .*np.where'),
])
def test_mistakes_are_named(mistake, error, words):
    with pytest.raises(error, match=f'(?s){words}'):
        mistake()


@pytest.mark.rest
def test_it_agrees_with_jax():
    jax = pytest.importorskip('jax')
    from jax.experimental.ode import odeint as theirs
    jax.config.update('jax_enable_x64', True)
    f = lambda odeint, np: lambda y0, t, k: np.sum(odeint(
        lambda y, t, k: -k * np.sin(y) * t, y0, t, k) ** 2)
    args = np.array([1.0, 0.5]), np.array([0.5, 1.0, 1.7]), 0.8
    ours = ad.grad(f(odeint, np), (0, 1, 2))(*args)
    theirs = jax.grad(f(theirs, jax.numpy), (0, 1, 2))(*args)
    assert_near(ours, ad.tree_map(np.asarray, theirs), 1e-6)
