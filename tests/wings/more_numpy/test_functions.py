"""Guard NumPy functions made of primitives: hard points, views, errors."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import autodiff_mini as ad
from autodiff_mini.core.errors import TracerError
from tests.support.numerical import assert_close, assert_same, derivative

nan, inf = np.nan, np.inf
assert_near = partial(np.testing.assert_allclose, rtol=1e-12, atol=1e-12)


def gradient(f, *x):
    """Return the gradient of the sum of `f`, with jit and without."""
    def total(x):
        return np.sum(f(x))
    x = np.array(x, float)
    expected = ad.grad(total)(x)
    np.testing.assert_array_equal(ad.jit(ad.grad(total))(x), expected)
    return expected


def tangent(f, *x):
    """Return the tangents of `f` along ones."""
    x = np.array(x, float)
    return ad.jvp(f, (x,), (np.ones_like(x),))[1]


# Order statistics

def test_the_slope_of_a_median_belongs_to_its_elements():
    assert_near(gradient(np.median, 3, 1, 2), [0., 0, 1])
    assert_near(gradient(np.median, 3, 1, 2, 9), [0.5, 0, 0.5, 0])
    assert_near(np.sum(gradient(np.median, 1, 1, 1, 1)), 1.0)


def test_a_quantile_of_nan_is_nan_and_so_is_its_slope():
    for f in np.median, partial(np.quantile, q=0.3):
        assert np.isnan(ad.jit(f)(np.array([1., nan, 2])))
        assert np.isnan(gradient(f, 1, nan, 2)).any()
    for f in np.nanmedian, partial(np.nanquantile, q=0.3):
        assert_near(gradient(f, 1, nan, 2)[1], 0.0)
        assert_near(np.sum(gradient(f, 1, nan, 2)), 1.0)
        assert np.isnan(ad.jit(f)(np.array([nan, nan])))
        assert np.isnan(gradient(f, nan, nan)).any()


def test_a_quantile_has_a_slope_in_q():
    def f(q):
        return np.quantile(np.array([1., 2, 4, 8]) * np.ones_like(q), q)
    assert_near(ad.grad(f)(1 / 3), 6.0)    # a knot: the slope to its right
    assert_near(ad.grad(f)(1.0), 0.0)


# Sums, extrema and variances that leave NaN out

def test_nan_that_is_left_out_has_no_slope():
    for f in (np.nansum, np.nanprod, np.nanmean, np.nanmax, np.nanmin,
              np.nanvar, np.nanstd, np.nancumsum, np.nancumprod):
        assert gradient(f, 1, nan, 3, nan)[1] == 0
        assert np.isfinite(gradient(f, 1, nan, 3, nan)).all()


def test_extrema_share_their_slope_only_with_numbers():
    assert_near(gradient(np.nanmax, 1, nan, 1), [0.5, 0, 0.5])
    assert_near(gradient(np.nanmax, nan, nan), np.zeros(2))
    assert np.isnan(ad.jit(np.nanmin)(np.array([nan, nan])))


def test_nanargmax_of_all_nan_is_minus_one():
    x = np.array([[nan, nan], [1, nan]])
    for how in (ad.jit, ad.vmap):
        np.testing.assert_array_equal(
            how(partial(np.nanargmax, axis=-1))(x), [-1, 0])
    place, _ = ad.jvp(np.nanargmin, (x[0],), (x[0],))
    assert place == -1


# Numbers and their parts

def test_the_slope_of_frexp_is_a_power_of_two():
    x = np.array([0, 5e-324, inf, -inf, nan, -8, 0.75])
    for part in 0, 1:
        np.testing.assert_array_equal(
            ad.jit(np.frexp)(x)[part], np.frexp(x)[part])
    assert_near(tangent(lambda x: np.frexp(x)[0], -8, 0.75, 0),
                 [1 / 16, 1, 1])
    assert_near(ad.grad(lambda x: np.ldexp(x, 3))(0.7), 8.0)


def test_piecewise_functions_are_called_only_inside_their_piece():
    def f(x):
        return np.piecewise(x, [x < 0, x > 0], [np.exp, np.sqrt])
    x = np.array([-1., 4, 0])
    for how in (lambda f: f, ad.jit):
        assert_near(how(ad.grad(lambda x: np.sum(f(x))))(x),
                     [np.exp(-1), 0.25, 0])
    with np.errstate(invalid='ignore', divide='ignore'):
        slopes = ad.vmap(ad.grad(f))(x)     # each has two empty pieces
    assert_near(slopes, [np.exp(-1), 0.25, 0])


# Grids

def test_unwrap_steps_up_at_half_a_period():
    x = np.array([0, np.pi, 2 * np.pi, np.pi, 0, -np.pi])
    assert_same(ad.jit(np.unwrap)(x), np.unwrap(x))
    assert_near(ad.jacfwd(np.unwrap)(x), np.eye(6))


# Neighbors of NaN and infinity

def test_convolve_edges_do_not_turn_infinity_into_nan():
    for f, mode in product([np.convolve, np.correlate],
                           ['full', 'same', 'valid']):
        for x, v in ([1., 2, 0], [inf, nan]), ([inf, 2, 0], [0., 1]), (
                [nan, 1.], [1., 2, 3, inf]):
            x, v = np.array(x), np.array(v)
            with np.errstate(invalid='ignore'):
                np.testing.assert_array_equal(
                    ad.jit(partial(f, mode=mode))(x, v), f(x, v, mode))


# Polynomials


def test_polydiv_pads_its_remainder_with_zeros():
    u, v = np.array([1., 5, 6, 0]), np.array([1., 2])
    assert np.polydiv(u, v)[1].shape == (1,)
    for u, v in (u, v), (u[:1], v), (u, v[:1]), (u, u), (u, 1 + u):
        ours = ad.jit(np.polydiv)(u, v)
        for x, expected in zip(ours, np.polydiv(u, v), strict=True):
            assert x.dtype == expected.dtype
            assert_near(x[len(x) - len(expected):], expected)
            assert_near(x[:len(x) - len(expected)], 0)


def test_a_leading_zero_of_a_traced_polynomial_is_refused():
    """NumPy leaves it out, so the shape would depend on values."""
    p = np.array([0.0, 1.0, 2.0])
    for f in np.roots, lambda p: np.polymul(p, [1.0, 2.0]):
        for g in (ad.jit(f), lambda p: ad.vmap(f)(np.stack([p, p])),
                  lambda p: ad.jvp(f, (p,), (p,))):
            with pytest.raises(TracerError, match='leading coefficient'):
                g(p)


def test_roots_of_trailing_zeros_have_slopes():
    p, p_dot = np.array([1.0, 3.0, 2.0, 0.0]), np.array([0.5, 0, 1.0, 2.0])
    f = lambda s: np.roots(p + s * p_dot)[np.array([0, 1])]
    slopes = ad.jvp(f, (0.0,), (1.0,))[1]
    np.testing.assert_allclose(
        slopes, (f(1e-6) - f(-1e-6)) / 2e-6, 1e-6)
    second = ad.jvp(lambda s: ad.jvp(f, (s,), (1.0,))[1], (0.0,), (1.0,))[1]
    np.testing.assert_allclose(
        second, (f(1e-4) - 2 * f(0.0) + f(-1e-4)) / 1e-8, 1e-5)


@pytest.mark.filterwarnings('ignore')
def test_interpolation_beside_infinity_has_slopes():
    xp, x = np.array([-np.inf, 0.0, 1.0, np.inf]), np.array([-3.0, 0.5, 4.0])
    f = lambda fp: np.sum(np.interp(x, xp, fp))
    for g in ad.grad(f), ad.jit(ad.grad(f)), ad.jacfwd(f):
        assert_near(g(np.arange(4.0)), [0, 1.5, 1.5, 0])


def test_roots_are_differentiated_by_the_implicit_function_theorem():
    p, p_dot = np.array([1., -6, 11, -6]), np.array([0.1, 0.2, -0.3, 0.4])
    roots, roots_dot = ad.jvp(np.roots, (p,), (p_dot,))
    assert roots.dtype == complex
    assert_near(roots, np.roots(p))
    assert_near(roots_dot, -np.polyval(p_dot, roots)
                 / np.polyval(np.polyder(p), roots))
    assert ad.jit(np.roots)(p[:1]).shape == (0,)


# Memory

def test_parts_are_views_that_can_be_written():
    def f(np, x, y):
        top, bottom = np.vsplit(y, 2)
        top[...] = x
        np.hsplit(bottom, 2)[1][...] = x[:2]
        np.unstack(y, axis=1)[0][1] = 7 * x[3]
        return np.rollaxis(y, 1)
    x = np.arange(4.)
    expected = f(np, x, np.zeros((2, 4)))
    assert_same(ad.jit(lambda x: f(np, x, np.zeros((2, 4), like=x)))(x),
                expected)
    y, y_dot = ad.jvp(lambda x: f(np, x, np.zeros((2, 4), like=x)),
                      (x,), (x,))
    assert_same(y, expected)
    assert_same(y_dot, expected)


def test_new_arrays_share_no_memory():
    def f(x):
        for y in (np.append(x, x), np.resize(x, 3), np.block(x),
                  np.delete(x, []), np.insert(x, [], []), np.kron(x, 1.0),
                  np.partition(x, 1), np.choose(0, [x])):
            y[0] = 9.0
        return x * 1
    x = np.arange(3.)
    assert_same(ad.jit(f)(x), x)


# Errors

def test_results_whose_size_depends_on_values_are_refused():
    for f in (np.argwhere, np.flatnonzero, np.nonzero, np.trim_zeros,
              np.unique, np.unique_values, partial(np.intersect1d, [1.]),
              partial(np.union1d, [1.]), partial(np.extract, arr=[1.])):
        with pytest.raises(NotImplementedError, match='depends on values'):
            ad.jit(f)(np.array([1., 0]))


def test_functions_that_numpy_extends_by_values_have_slopes():
    with_numbers = {'power': partial(np.emath.power, p=1.5),
                    'logn': partial(np.emath.logn, 3.0)}
    for name in '''sqrt log log2 log10 logn arccos arcsin arctanh power
            '''.split():
        f = with_numbers.get(name, getattr(np.emath, name))
        x = np.array([-0.5, 0.3 if 'arc' in name else 3.0])
        y, y_dot = ad.jvp(f, (x,), (x,))
        np.testing.assert_array_max_ulp(np.abs(y), np.abs(f(x)), 2)
        assert_close(y_dot, derivative(lambda h: f(x + h * x)))


def test_places_of_known_values_work():
    x = np.array([3.0, 0.0, 2.0])
    for places in (np.nonzero, np.where, np.flatnonzero,
                   lambda x: tuple(np.argwhere(x).T),
                   lambda x: x.nonzero()):
        assert_same(ad.jvp(lambda x: x[places(x)], (x,), (x,))[1], x[::2])
        gradient = ad.grad(lambda x: np.sum(x[places(x)] ** 2))
        np.testing.assert_array_equal(gradient(x), [6.0, 0.0, 4.0])
        np.testing.assert_array_equal(
            ad.jacfwd(gradient)(x), np.diag([2.0, 0.0, 2.0]))
        with pytest.raises(NotImplementedError, match='depends on values'):
            ad.vmap(places)(np.stack([x, x]))


REFUSED = [
    ('obj=', lambda x, i: np.delete(x, i)),
    ('obj=', lambda x, i: np.insert(x, i, 1.0)),
    ('weights=', lambda x, i: np.quantile(
        x, 0.5, method='inverted_cdf', weights=[1, 2])),
    ('writeable=', lambda x, i: sliding_window_view(x, 1, writeable=True)),
    ('order=', lambda x, i: np.partition(x, 1, order='f')),
]


def test_unsupported_keywords_are_refused():
    for keyword, f in REFUSED:
        with pytest.raises(NotImplementedError, match=keyword):
            ad.jit(f)(np.ones(2), 1)
