"""Guard `fixed_point`, `custom_root`, and `root`: values, slopes, failures.

Rows D15 and B1. The expected values come from formulas and difference
quotients.
"""

from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.wings.applications.implicit import (
    custom_root, fixed_point, root)
from tests.support.numerical import assert_close, assert_same
from tests.support.traces import assert_named_everywhere
from tests.support.transforms import d

MODES = 'fwd', 'rev'


def newton(f, x):
    """Newton's method for numbers, as a user would write it."""
    return ad.while_loop(lambda x: np.abs(f(x)) > 1e-12,
                         lambda x: x - f(x) / ad.grad(f)(x), x)


def assert_rows(actual, expected):
    assert_close(actual, np.array(expected))


def scalar_solve(g, y):
    return y / g(1.0)


# Programs of one argument, and their formulas where there is one.

def sqrt(a):
    return root(lambda a, x: x * x - a, a, 1.0)


def lambertw(x):
    return custom_root(lambda w: w * np.exp(w) - x, 0.5, newton,
                       scalar_solve)


def geometric(a):
    return fixed_point(lambda a, x: 1 + a * x, a, 0.0)


def network(a):
    return fixed_point(lambda p, x: np.tanh(p['w'] * x + p['b']),
                       {'w': a, 'b': -0.5}, 0.0)


A = 0.6
W = 0.4015636367870726      # SciPy's lambertw(0.6)
FORMULAS = [    # value, first and second derivative at 0.6
    (sqrt, A ** 0.5, 0.5 * A ** -0.5, -0.25 * A ** -1.5),
    (lambertw, W, W / (A * (1 + W)),
     -W * W * (W + 2) / (A * A * (1 + W) ** 3)),
    (geometric, 1 / (1 - A), (1 - A) ** -2, 2 * (1 - A) ** -3)]


@pytest.mark.parametrize('f, value, slope, second', FORMULAS)
def test_value_and_derivatives_equal_the_formula(
        f, value, slope, second):
    for g in (f, ad.jit(f), ad.checkpoint(f)):
        assert_close(g(A), value)
        assert_close(d(g)(A), slope)
        assert_close(ad.grad(g)(A), slope)
    for outer in (d, ad.grad):
        for inner in (d, ad.grad):
            assert_close(outer(inner(f))(A), second)


def test_third_derivatives_are_right_in_any_mode():
    # of sqrt: 3/8 a^(-5/2); of the geometric series: 6 (1 - a)^-4
    for f, third in ((sqrt, 0.375 * A ** -2.5),
                     (geometric, 6 * (1 - A) ** -4)):
        for g in (d(d(d(f))), d(d(ad.grad(f))), ad.grad(d(ad.grad(f))),
                  ad.grad(ad.grad(ad.grad(f)))):
            assert_close(g(A), third)


# Dtypes and Python numbers

@pytest.mark.parametrize('f, dtype', [
    (sqrt, 'f4'),
    (lambda a: fixed_point(lambda a, x: a + x * x / 4, a, 0.0), 'f2'),
    (lambda a: custom_root(lambda x: x * x - a, 1.0, lambda f, x: (
        ad.fori_loop(0, 9, lambda _, x: x - f(x) / ad.grad(f)(x), x)),
        scalar_solve), 'f2')])
def test_a_solution_has_the_dtype_of_the_function(f, dtype):
    a = np.dtype(dtype).type(0.5)
    d = lambda f: lambda x: ad.jvp(f, (x,), (np.ones_like(x),))[1]
    for g in (f, ad.jit(ad.grad(f)), ad.grad(ad.grad(f)), d(ad.grad(f))):
        y, exact = g(a), g(np.float64(0.5))
        assert y.dtype == dtype and exact.dtype == np.float64
        assert abs(y - exact) < 20 * np.finfo(dtype).eps ** 0.75
    assert ad.vmap(f)(np.full(2, a)).dtype == dtype


def test_python_numbers_become_arrays():
    half = lambda a, x: a + x / 2
    for guess in (0, 0.0, np.float64(0)):
        assert_close(fixed_point(half, 3, guess), 6.0)
        assert_close(root(lambda a, x: half(a, x) - x, 3, guess), 6.0)
    assert np.result_type(fixed_point(half, np.float32(3), 0)) == np.float32
    assert np.ndim(fixed_point(half, 3, 0.0)) == 0
    assert not isinstance(sqrt(2.0), np.ndarray)


# Closures

def test_all_three_functions_can_close_over_values():
    def solve_linear(A, b):
        return custom_root(
            lambda x: A @ x - b, np.zeros(2),
            lambda f, guess: np.linalg.solve(A, b),
            lambda g, y: np.linalg.solve(A, y))
    A, b = np.array([[3.0, 1.0], [-0.5, 2.0]]), np.array([1.0, -2.0])
    ad.check_grads(ad.jit(solve_linear), (A, b), 2, MODES)


SOLVERS = [
    lambda f, guess: fixed_point(lambda _, x: f(x), None, guess),
    lambda f, guess: root(lambda _, x: f(x) - x, None, guess),
    lambda f, guess: custom_root(lambda x: f(x) - x, guess, newton,
                                 scalar_solve)]


@pytest.mark.parametrize('solve', SOLVERS)
def test_functions_can_close_over_traced_values(solve):
    def f(a, n, table):
        return solve(lambda x: a * np.cos(x) / n + table[0] * 0.1, 0.5)
    table = np.array([1.0, 2.0])
    slope = ad.grad(f)(0.6, 2, table)
    assert_close(slope, d(lambda a: f(a, 2, table))(0.6))
    ns = np.array([2, 3])
    slopes = [slope, ad.grad(f)(0.6, 3, table)]
    for g in (ad.jit(ad.grad(f)), ad.grad(ad.jit(f))):
        assert_close(g(0.6, 2, table), slope)
        assert_rows(ad.vmap(g, (None, 0, None))(0.6, ns, table), slopes)
    assert_close(ad.grad(f, 2)(0.6, 2, table)[1], 0.0)


def test_the_guess_has_no_derivative():
    for solve in SOLVERS:
        f = partial(solve, np.cos)
        assert_same(ad.grad(f)(0.5), 0.0)
        assert d(f)(0.5) == 0
        assert ad.grad(ad.jit(f))(0.5) == 0


def test_a_correct_guess_does_not_hide_the_derivative():
    assert_close(ad.grad(lambda a: root(lambda a, x: x * x - a, a, 2.0))(4.0),
                 0.25)
    f = lambda a: fixed_point(lambda a, x: a + x / 2, a, 6.0)
    assert_close(ad.grad(f)(3.0), 2.0)


# Trees, and the cost

def test_solutions_and_parameters_are_trees(node):
    def f(p, x):
        b, (k,) = x.x
        return node(([p @ b[0] + k, None], (np.sum(b[0]) * 0.1 + 1,)), 'm')

    guess = node(([np.zeros(2), None], (0.0,)), 'm')
    p = np.array([[0.3, 0.2], [-0.2, 0.5]])
    for solve, g in ((fixed_point, f), (root, lambda p, x: ad.tree_map(
            np.subtract, f(p, x), x))):
        assert ad.tree_structure(solve(g, p, guess)) == (
            ad.tree_structure(guess))
        total = lambda p: sum(np.sum(x ** 2 + x) for x in ad.tree_leaves(
            solve(g, p, guess)))
        ad.check_grads(total, (p,), 1, MODES)


def test_the_cost_of_derivatives_does_not_grow_with_the_steps():
    def kept(solve, guess):
        _, pullback = ad.vjp(solve, np.linspace(0.0, 1.0, 50), guess)
        pullback(np.ones(50))
        return sum(map(np.size, ad.tree_leaves(pullback)))

    f = lambda a, x: np.tanh(x / 2 + a)
    for solve in (partial(fixed_point, f),
                  partial(root, lambda a, x: f(a, x) - x)):
        few, many = kept(solve, np.zeros(50)), kept(solve, np.full(50, 40.0))
        assert few == many < 50 * 50 * 2 + 999


def test_scales_of_cotangents_and_tangents_make_no_difference():
    slope = ad.grad(network)(A)
    _, pullback = ad.vjp(network, A)
    for scale in (1e-200, 1e20):
        assert_close(pullback(scale)[0] / scale, slope)
        assert_close(ad.jvp(network, (A,), (scale,))[1] / scale, slope)
        second = ad.grad(ad.grad(lambda a: scale * network(a)))(A)
        assert_close(second / scale, ad.grad(ad.grad(network))(A))
    assert pullback(0.0) == (0.0,)


# Failure

def no_root(a):
    return root(lambda a, x: x * x + a, a, 1.0, max_steps=20)


def no_limit(a):
    return fixed_point(lambda a, x: a + 2 * x, a, 1.0)


def no_end(a):
    return fixed_point(lambda a, x: a - x, a, 1.0, max_steps=9)


def singular(a):
    return root(lambda a, x: x * x - a, a, 0.0)


@pytest.mark.filterwarnings('ignore')
@pytest.mark.parametrize('f, words', [
    (no_root, 'root of the lambda in line .* within 20 steps, so the result '
     'is nan'),
    (no_limit, 'fixed_point of the lambda in line .* within 10000 steps.*nan'),
    (no_end, 'fixed_point of the lambda in line .* within 9 steps.*nan'),
    (singular, 'root of the lambda in line .*nan')])
def test_a_solution_that_is_not_found_is_nan_with_a_warning(
        f, words):
    for g in (f, ad.grad(f), ad.jit(d(f)), ad.grad(ad.checkpoint(f)),
              d(ad.grad(f)), lambda a: ad.vmap(ad.grad(f))(np.full(2, a))):
        with pytest.warns(RuntimeWarning, match=words), \
                np.errstate(all='ignore'):
            assert np.isnan(g(1.0)).all()


def test_in_a_batch_only_elements_without_a_solution_are_nan():
    a = np.array([-4.0, 1.0, -9.0])
    with pytest.warns(RuntimeWarning, match='root of the lambda in line'):
        assert_rows(ad.vmap(no_root)(a), [2.0, np.nan, 3.0])
    with pytest.warns(RuntimeWarning, match='root of the lambda in line'):
        slopes = ad.vmap(ad.grad(no_root))(a)
    assert_rows(slopes, [-1/4, np.nan, -1/6])
    guess = np.array([1.0, 0.0, -1.0])
    with pytest.warns(RuntimeWarning):      # a singular Jacobian
        x = ad.vmap(lambda g: root(lambda a, x: x * x - a, 4.0, g))(guess)
    assert_rows(x, [2.0, np.nan, -2.0])


def test_a_diverging_repetition_has_a_nan_derivative():
    """The guess is a solution but not a limit, because the slope is 2."""
    f = lambda a: fixed_point(lambda a, x: a + 2 * x, a, -1.0)
    assert f(1.0) == -1.0
    with pytest.warns(RuntimeWarning, match='a derivative of .*nan'), \
            np.errstate(all='ignore'):
        assert np.isnan(ad.grad(f)(1.0))


def test_tol_determines_when_to_stop():
    f = lambda a, tol: fixed_point(lambda a, x: a + x / 2, a, 0.0, tol=tol)
    assert 1e-4 < 2 - f(1.0, 1e-3) < 1e-2
    assert abs(2 - f(1.0, 1e-14)) < 1e-13
    assert 1e-4 < 2 - ad.grad(f)(1.0, 1e-3) < 1e-2
    assert 1 < 2e6 - f(1e6, 1e-3) < 1e4     # it is relative, too
    # a rule sees the solution, even after few steps
    grad = ad.grad(lambda a: root(lambda a, x: x * x - a, a, 3.0, tol=1e-3))
    assert abs(grad(9.0) - 1 / 6) < 1e-12


# Errors

WRONG = [
    (lambda a, x: a * x, np.ones((2, 1)), np.ones(2),
     r'the guess, float64\[2\], but got float64\[2,2\]'),
    (lambda a, x: a * x, np.ones(2), np.ones(2, 'f'),
     r'float32\[2\], but got float64\[2\]'),
    (lambda a, x: a * x, 2, np.arange(3), r'int64\[3\]\. Make the guess'),
    (lambda a, x: (x, x), 1.0, 1.0, 'structure must match the guess, '),
    (lambda a, x: {'u': x['u'], 'v': np.ones(3)}, 1.0, {'u': 1.0, 'v': 1.0},
     r"output\['v'\]: shapes"),
    (lambda a, x: x if x > 0 else -x, 1.0, 1.0,
     'Attempted boolean conversion'),
]


def test_wrong_guesses_and_wrong_outputs_are_named():
    for f, a, guess, words in WRONG:
        for solve, name in (fixed_point, 'fixed_point'), (
                root, 'custom_root'):
            named = f'(?=.*{name} of .*lambda).*{words}'
            assert_named_everywhere(partial(solve, f, a, guess), TypeError,
                                    named)


def test_wrong_solvers_are_named():
    def solve(g, y):
        return y, y
    f, good = lambda x: x * x - 4.0, lambda f, guess: guess + 1.0
    for first, second in (solve, scalar_solve), (good, solve):
        assert_named_everywhere(
            lambda: custom_root(f, 1.0, first, second), TypeError,
            r'custom_root of .*solve: output pytree structure must match '
            r'the guess, PyTreeDef\(\*\), but got PyTreeDef\(\(\*, \*\)\)')
