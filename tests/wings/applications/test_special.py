"""Guard numbers that survive: values and slopes against mpmath (D14).

Errors are counted in ulps, the distance between two neighboring floats. A
value can be wrong by 4 ulps, or by more if the problem is ill-conditioned, so
that changing the argument by one ulp changes the result by more than one.
"""

from functools import partial

import mpmath
import numpy as np
import pytest
from scipy import special as scipy_special

import autodiff_mini as ad
from autodiff_mini.wings.applications.special import (
    expit, log1pexp, logit, logsumexp)
from tests.support.numerical import assert_close, assert_same_type
from tests.support.traces import assert_named_everywhere

mp = mpmath.mp.clone()
mp.dps = 700    # 1 + 1e-300 is more than 1
INF, NAN = np.inf, np.nan
TINY, SMALLEST = np.finfo(float).tiny, 5e-324


# Expected values: each function with its first two derivatives

def mp_expit(x):
    y, z = 1 / (1 + mp.exp(-x)), 1 / (1 + mp.exp(x))
    return y, y * z, y * z * (z - y)


def mp_logit(x):
    z = 1 - x
    return mp.log(x / z), 1 / (x * z), 1 / z**2 - 1 / x**2


def around(x):
    return [np.nextafter(x, -INF), x, np.nextafter(x, INF)]


SIZES = [
    SMALLEST, 1e-310, TINY, 1e-300, 1e-160, 1e-20, 1e-8, 0.1, *around(0.5),
    *around(1.0), 2.0, 17.0, 36.8, 40.0, 709.7, 709.8, 744.0, 746.0, 1e10,
    1e154, 1e300]
LINE = np.array([*SIZES, *(-x for x in SIZES)])
INSIDE = np.array([x for x in SIZES if x < 1] + [1 - 1e-8, 0.75])
TABLE = {
    'expit': (expit, mp_expit, LINE),
    'log1pexp': (log1pexp, lambda x: (
        mp.log1p(mp.exp(x)), *mp_expit(x)[:2]), LINE),
    'logit': (logit, mp_logit, INSIDE),
}


def exact(oracle, xs, order):
    """Return derivatives, with the condition number of each."""
    rows = [oracle(mp.mpf(float(x))) for x in np.ravel(xs)]
    condition = [abs(x * row[order + 1] / row[order]) if row[order] else 0
                 for x, row in zip(np.ravel(xs).tolist(), rows)]
    return [row[order] for row in rows], condition


def ulp(y, dtype):
    """Return the distance between the floats near the exact number `y`."""
    info = np.finfo(dtype)
    size = min(abs(y), mp.mpf(float(info.max)))
    power = mp.floor(mp.log(size, 2)) if size else info.minexp
    return mp.mpf(2) ** max(power - info.nmant, info.minexp - info.nmant)


def assert_ulps(found, values, condition=None, ulps=4):
    """Assert that floats are right within some ulps times the condition."""
    found = np.ravel(found)
    assert len(found) == len(values)
    largest = mp.mpf(float(np.finfo(found.dtype).max))
    for i, (y, exact) in enumerate(zip(found.tolist(), values)):
        if abs(exact) > largest:
            assert y == INF * float(mp.sign(exact)), (i, y)
            continue
        assert np.isfinite(y), (i, y, mp.nstr(exact, 20))
        allowed = ulps * max(1, condition[i] if condition else 1)
        error = abs(mp.mpf(y) - exact) / ulp(exact, found.dtype)
        assert error <= allowed, (i, y, mp.nstr(exact, 20), float(error))


# Values and derivatives under every transformation

def jvp_of(f):
    return lambda x: ad.jvp(f, (x,), (np.ones_like(x),))[1]


def loop(f):
    """Return `f` applied to each element by a scan."""
    return lambda xs: ad.scan(lambda c, x: (c, f(x)), 0.0, xs)[1]


def total(f):
    return lambda xs: np.sum(f(xs))


VALUES = {
    'plain': lambda f: f, 'vmap': ad.vmap, 'jit': ad.jit, 'scan': loop,
    'vjp': lambda f: lambda x: ad.vjp(f, x)[0],
}
SLOPES = {
    'jvp': jvp_of,
    'vmap of grad': lambda f: ad.vmap(ad.grad(f)),
    'linearize': lambda f: lambda x: ad.linearize(f, x)[1](np.ones_like(x)),
    'jit of grad': lambda f: ad.jit(ad.grad(total(f))),
    'grad of scan': lambda f: ad.grad(total(loop(f))),
    'grad of checkpoint': lambda f: ad.grad(ad.checkpoint(total(f))),
    'grad of cond': lambda f: ad.grad(lambda x: np.sum(
        ad.cond(True, f, np.sin, x))),
}


@pytest.mark.asks('D14')
@pytest.mark.parametrize('name', TABLE)
def test_values_and_derivatives_equal_mpmaths(name):
    f, oracle, xs = TABLE[name]
    for order, ways in enumerate([VALUES, SLOPES]):
        truth = exact(oracle, xs, order)
        for way in ways.values():
            with np.errstate(over='ignore'):    # logit'(5e-324) is 2e323
                assert_ulps(way(f)(xs), *truth)


AT_THE_END = {
    # the function: points, values, slopes
    expit: ([-INF, 0.0, -0.0, INF, NAN], [0, 0.5, 0.5, 1, NAN],
            [0, 0.25, 0.25, 0, NAN]),
    log1pexp: ([-INF, 0.0, -0.0, INF, NAN],
               [0, np.log(2), np.log(2), INF, NAN], [0, 0.5, 0.5, 1, NAN]),
    logit: ([0.0, 0.5, 1.0, NAN], [-INF, 0, INF, NAN], [INF, 4, INF, NAN]),
}
OUTSIDE = np.array([-INF, -1e300, -0.5, -1e-300, -SMALLEST, np.nextafter(
    1, 2), 1.5, 1e300, INF])


@pytest.mark.asks('D14')
def test_values_are_right_at_the_end_of_the_number_line():
    # logit has poles, and their sum is inf - inf
    with np.errstate(divide='ignore', invalid='ignore'):
        for f, (xs, ys, slopes) in AT_THE_END.items():
            xs = np.array(xs)
            for way in VALUES.values():
                np.testing.assert_allclose(way(f)(xs), ys, 1e-15)
            for way in SLOPES.values():
                np.testing.assert_allclose(way(f)(xs), slopes, 1e-15)


@pytest.mark.asks('D14')
def test_logit_outside_is_nan_with_all_its_derivatives():
    """JAX 0.10.2 and 0.12.0.1 give -4/3 for the slope at 1.5."""
    for way in *VALUES.values(), *SLOPES.values():
        assert np.isnan(way(logit)(OUTSIDE)).all()
    for second in ad.jacfwd(ad.grad(logit)), ad.jit(ad.hessian(logit)):
        assert np.isnan(ad.vmap(second)(OUTSIDE)).all()


def test_the_slope_of_expit_does_not_round_away():
    """`y * (1 - y)` would be 0 from 37 on."""
    assert expit(40.0) == 1.0
    assert ad.grad(expit)(40.0) == np.exp(-40.0)
    assert ad.grad(ad.grad(expit))(40.0) == -np.exp(-40.0)
    assert ad.grad(expit)(-700.0) == ad.grad(expit)(700.0) > 0


def test_tanh_by_expit_keeps_the_digits_of_its_slope():
    by_expit = lambda x: 2 * expit(2 * x) - 1
    for x in 19.1, 20.0, 300.0:
        assert ad.grad(np.tanh)(x) == 0     # a second exponential costs
        exact = 4 * mp.exp(-2 * x) / (1 + mp.exp(-2 * x)) ** 2
        assert_ulps([ad.grad(by_expit)(x)], [exact])


# Types

@pytest.mark.parametrize('x', [
    0.5, 1, True, np.float32(0.25), np.float16([0.25, 0.5]),
    np.zeros((0, 3)), np.uint8([1, 0]), np.array([True])], ids=repr)
def test_types_equal_scipys(x):
    x_float = np.asarray(x, None if np.asarray(x).dtype.kind == 'f'
                         else np.float64)
    zero = x_float.dtype.type(0)
    for f, theirs in ((expit, scipy_special.expit),
                      (log1pexp, partial(np.logaddexp, zero)),
                      (logit, scipy_special.logit)):
        with np.errstate(divide='ignore'):
            y, expected = f(x), theirs(x_float).astype(x_float.dtype)
            assert_same_type(y, expected)
            tolerance = 2e-3 if y.dtype == np.float16 else 1e-6
            np.testing.assert_allclose(y, expected, tolerance)
            assert_same_type(ad.jit(f)(x), y)
        if np.result_type(x).kind == 'f':
            assert_same_type(jvp_of(f)(x), y)


def test_complex_numbers_are_refused():
    for mistake in (lambda: expit(1j), lambda: log1pexp(np.ones(2) * 1j),
                    lambda: logit(0.5j), lambda: logsumexp([1j]),
                    lambda: logsumexp(np.ones(2), b=1j)):
        assert_named_everywhere(
            mistake, TypeError,
            'logit, and logsumexp take real numbers.*complex')


# logsumexp: vectors and their exact sums

ROWS = [
    [3.0], [0.0, -50.0], [1e-300, -1e300, -700.0], [SMALLEST, -SMALLEST],
    [2.0, 2.0, 2.0, -1.0], [1000.0, 1000.5, 999.0], [-1e300, -1e300],
    [-745.0, 0.25, 710.0, 709.0], [0.0, -36.0, -37.0, -38.0, -800.0],
    [np.log(0.25), np.log(0.75)],   # their logarithms cancel
]
WEIGHTS = [     # a row, and its weights
    ([1.0, 2.0, 3.0], [1.0, 1.0, 1.0]),
    ([1000.0, 0.0, 1.0], [0.0, 2.0, 1.0]),
    ([1.0, 3.0, 2.0], [-1.0, 2.0, 0.5]),
    ([2.0, 1.9], [-1.0, 5.0]),
    ([0.0, 1.0], [1e-20, 1e-300]),
    ([-700.0, 700.0], [1e100, 1e-100]),
    ([0.0, -50.0], [1.0, -2.0]),
    ([1.0, 1.0, 0.0], [1.0, -1.0, 1.0]),
    ([5.0, 0.0], [0.0, 1.0]),    # JAX gives 0 for the slope in the 0
]
WRAPS = [lambda f: f, ad.jit,
         lambda f: lambda *xs: ad.tree_map(
             lambda y: y[0], ad.vmap(f)(*[x[None] for x in xs]))]


def mp_logsumexp(x, b=None):
    """Return the value, the shares, and condition numbers of both."""
    b = [mp.mpf(1)] * len(x) if b is None else list(map(mp.mpf, b))
    x = list(map(mp.mpf, x))
    terms = [w * mp.exp(a) if w else mp.mpf(0) for a, w in zip(x, b)]
    y, one = sum(terms), any(w != 1 for w in b)
    p = [t / y for t in terms]
    lever = sum(abs(a * q) + one * abs(q) for a, q in zip(x, p))
    value = mp.log(y) if abs(y - 1) > 0.5 or one else mp.log1p(
        sum(terms, -1))
    return value, p, lever / abs(value) if value else 0, [
        abs(a) * abs(1 - q) + lever - abs(a * q) for a, q in zip(x, p)]


@pytest.mark.asks('D14')
def test_logsumexp_equals_exact_sums():
    for row in ROWS:
        x = np.array(row)
        value, p, condition, conditions = mp_logsumexp(row)
        for wrap in WRAPS:
            assert_ulps(wrap(logsumexp)(x), [value], [condition])
            for slopes in (wrap(ad.grad(logsumexp)),
                           ad.jacfwd(wrap(logsumexp))):
                assert_ulps(slopes(x), p, conditions)


@pytest.mark.asks('D14')
def test_logsumexp_with_weights_equals_exact_sums():
    f = lambda x, b: logsumexp(x, b=b)
    for x, b in WEIGHTS:
        value, p, condition, conditions = mp_logsumexp(x, b)
        # the rate of 1000, which has no weight, would be too large
        rates = [mp.exp(mp.mpf(a) - value) if a < 1000 else 0 for a in x]
        levers = [c + condition * abs(value) + 1 for c in conditions]
        for wrap in WRAPS:
            both = np.array(x), np.array(b)
            assert_ulps(wrap(f)(*both), [value], [condition])
            x_bar, b_bar = wrap(ad.grad(f, (0, 1)))(*both)
            assert_ulps(x_bar, p, levers)
            assert_ulps(b_bar, rates, levers)


def test_an_entry_with_weight_zero_can_be_anything():
    b = np.array([0.0, 1.0, 2.0])
    f = lambda x: logsumexp(x, b=b)
    rest = lambda x: logsumexp(x, b=b[1:])
    for garbage in INF, NAN, 1000.0, -INF, 1e308:
        x = np.array([garbage, 2.0, 3.0])
        for wrap in WRAPS:
            assert_close(wrap(f)(x), rest(x[1:]))
            slopes = ad.grad(wrap(f))(x)
            assert slopes[0] == 0
            assert_close(slopes[1:], ad.grad(rest)(x[1:]))


# As in JAX, but for the first, the fourth, and the last: it gives NaN.
INFINITE = [
    ([-INF, -INF], [1, 1], -INF, [0, 0]),
    ([INF, 1.0], [1, 1], INF, [NAN, 0]),
    ([INF, INF, -INF], [1, 1, 1], INF, [NAN, NAN, 0]),
    ([INF, 1000.0], [1, 1], INF, [NAN, 0]),
    ([-INF, 2.0], [1, 1], 2.0, [0, 1]),
    ([NAN, 1000.0, -INF], [1, 1, 1], NAN, [NAN, NAN, NAN]),
    ([INF, 1.0], [2, -1], INF, [NAN, 0]),
    ([INF, 1.0], [-2, 1], NAN, [NAN, NAN]),
    ([1.0, 2.0], [1, -1], NAN, [NAN, NAN]),
    ([1.0, 2.0], [0, 0], -INF, [0, 0]),
    ([1.0, -INF], [0, 1], -INF, [0, 0]),
]


def test_infinite_and_negative_sums_have_values_and_slopes():
    for x, b, y, slopes in INFINITE:
        x, f = np.array(x), partial(logsumexp, b=np.array(b))
        if min(b) > 0:
            f = logsumexp
            for g in f, ad.jit(f):      # without a warning
                np.testing.assert_array_equal(g(x), y)
        with np.errstate(invalid='ignore', divide='ignore'):
            for g in f, ad.jit(f):
                np.testing.assert_array_equal(g(x), y)
            for g in ad.grad(f), ad.jit(ad.grad(f)):
                np.testing.assert_array_equal(g(x), slopes)


MASKED = np.array([[[-INF, -INF, -INF], [0.0, -INF, 1.0]],
                   [[-INF, 2.0, -INF], [-INF, -INF, -INF]]])


@pytest.mark.parametrize('axis', [0, -1, (1, 2)], ids=str)
@pytest.mark.parametrize('wrap', [
    lambda f: f, ad.jit, ad.checkpoint,
    lambda f: lambda x: ad.scan(lambda c, x: (c, f(x)), 0.0, x[None])[1][0],
    lambda f: lambda x: ad.vmap(f)(x[None])[0]])
def test_a_masked_row_of_logsumexp_has_slopes_of_zero(axis, wrap):
    """A row of -inf is a state without a path, as in the CTC loss."""
    f = wrap(partial(logsumexp, axis=axis))
    y, pull = ad.vjp(f, MASKED)
    [found] = pull(np.ones_like(y))
    # A sum that has a term: its neighbors of -inf have slopes of 0, too.
    rows = np.sum(np.exp(MASKED), axis, keepdims=True)
    shares = np.exp(MASKED) / np.where(rows == 0, 1, rows)
    assert np.any(y == -INF) or axis == (1, 2)
    assert_close(found, shares)
    x_dot = np.arange(12.0).reshape(2, 2, 3)
    assert_close(ad.jvp(f, (MASKED,), (x_dot,))[1],
                 np.sum(shares * x_dot, axis))
    g = lambda x: np.sum(np.sin(np.arange(1, 13.0)) * np.ravel(
        ad.vjp(f, x)[1](np.ones_like(y))[0]))
    for second in ad.grad(g), ad.jacfwd(g):
        assert np.isfinite(second(MASKED)).all()


def test_the_slope_of_logsumexp_in_a_weight_is_infinite_if_all_are_zero():
    """So it is in the formula, and a weight can be a mask as well."""
    x = np.array([1.0, -INF])
    zeros = np.zeros(2)
    f = lambda x, b: logsumexp(x, b=b)
    naive = lambda b: np.log(np.sum(b * np.exp(x)))
    with np.errstate(divide='ignore', invalid='ignore'):
        x_bar, b_bar = ad.grad(f, (0, 1))(x, zeros)
        assert b_bar[0] == ad.grad(naive)(zeros)[0] == INF
        assert b_bar[1] == 0
        np.testing.assert_array_equal(x_bar, zeros)
        masked = ad.jvp(lambda x: f(x, zeros), (x,), (np.ones(2),))
        assert masked == (-INF, 0)


@pytest.mark.parametrize('axis', [None, -1, (0, 2), ()], ids=str)
def test_logsumexp_takes_axes_and_keepdims(axis):
    rng = np.random.default_rng(17)
    x, b = rng.standard_normal((2, 3, 4)), rng.uniform(0.5, 2.0, (3, 1))
    for keepdims in False, True:
        options = {'axis': axis, 'keepdims': keepdims}
        f = lambda x, b: logsumexp(x, b=b, **options)
        naive = lambda x, b: np.log(np.sum(np.exp(x) * b, **options))
        for dtype in np.float64, np.float32:
            args = x.astype(dtype), b.astype(dtype)
            assert type(f(*args)) is type(naive(*args))
            assert_same_type(f(*args), naive(*args))
            assert_close(f(*args), naive(*args))
        assert_close(logsumexp(x, **options), naive(x, 1))
        for i in 0, 1:
            loss = lambda f: ad.grad(lambda *a: np.sum(np.sin(f(*a))), i)
            assert_close(ad.jit(loss(f))(x, b), loss(naive)(x, b))


def test_the_logsumexp_of_an_empty_array_is_minus_infinity():
    x = np.zeros((0, 3), np.float32)
    for axis in None, 0, -1:
        expected = np.sum(x, axis) - INF
        f = partial(logsumexp, axis=axis)
        for y in f(x), f(x, b=x), ad.jit(f)(x):
            assert_same_type(y, expected)
            np.testing.assert_array_equal(y, expected)
        assert ad.grad(lambda x: np.sum(f(x)))(x).shape == x.shape
    assert logsumexp(np.zeros(1), b=np.zeros(0)) == -INF
