"""Guard SciPy's special functions: far out, at the ends, and refused.

The slopes are compared with mpmath's, at 30 digits.
"""

import mpmath as mp
import numpy as np
import pytest
from mpmath import inf
from scipy import special

import autodiff_mini as ad


def slope(f, x):
    """Return the derivative of `f` at a number, by forward mode."""
    with np.errstate(all='ignore'):
        return ad.jvp(f, (x,), (type(x)(1),))[1]


def of(name, args, i):
    """Return a special function as a function of one operand."""
    return lambda x: getattr(special, name)(*args[:i], x, *args[i + 1:])


def assert_slope(f, truth, x, order=1, tolerance=1e-11):
    with mp.workdps(30):
        expected = float(mp.diff(truth, x, order).real)
    for _ in range(order - 1):
        f = ad.grad(f)
    np.testing.assert_allclose(slope(f, x), expected, tolerance)


def normal(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


TRUTHS = {
    'gammaln': (lambda x: mp.log(abs(mp.gamma(x))), [1e-8, 1e5, -3.3, -20.2]),
    'rgamma': (mp.rgamma, [-20.2, -5.0, -3.0, 0.0, 0.49, 0.51, 30.0]),
    'digamma': (mp.digamma, [-100.25, -3.3, 1e-8, 1e10]),
    'erfinv': (mp.erfinv, [-0.9, 1e-9, 1 - 1e-6]),
    'erfcx': (lambda x: mp.exp(x * x) * mp.erfc(x),
              [-7.3, 11.9, 12.1, 50.0, 1e4, 1e8]),
    'dawsn': (lambda x: mp.exp(-x * x) * mp.erfi(x) * mp.sqrt(mp.pi) / 2,
              [-12.1, 0.3, 11.9, 30.0]),
    'log_ndtr': (lambda x: mp.log(normal(x)), [-1e5, -40.0, -1e-3, 5.0]),
    'logit': (lambda x: mp.log(x / (1 - x)), [1e-12, 0.5, 1 - 1e-6]),
    'entr': (lambda x: -x * mp.log(x), [1e-9, 30.0]),
    'exprel': (lambda x: mp.expm1(x) / x, [-80.0, -1e-6, 1e-3, 80.0]),
    'i0e': (lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), [-30.0, 1e-5, 1e3]),
    'i1e': (lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), [-30.0, 1e-5, 1e3]),
    'k0': (lambda x: mp.besselk(0, x), [1e-8, 150.0]),
    'ellipk': (mp.ellipk, [-1e5, -0.5, -1e-9, 1e-12, 0.499, 1 - 1e-9]),
    'ellipe': (mp.ellipe, [-1e5, -0.5, -1e-9, 1e-12, 0.499, 1 - 1e-9]),
    'ellipkm1': (lambda p: mp.ellipk(1 - p), [1e-9, 0.49, 1.2, 30.0]),
    'spence': (lambda x: mp.polylog(2, 1 - x),
               [1e-9, 0.51, 1 - 1e-9, 1 + 1e-9, 1.49, 1e5]),
    'exp1': (mp.e1, [1e-8, 150.0]),
}


@pytest.mark.parametrize('name', TRUTHS)
def test_slopes_equal_those_of_mpmath(name):
    truth, xs = TRUTHS[name]
    for x in xs:
        assert_slope(getattr(special, name), truth, x)


def test_third_derivatives_equal_those_of_mpmath():
    for name, x in (('rgamma', -3.0), ('erfcx', 12.1), ('dawsn', 12.1),
                    ('i0e', 1e3), ('ellipk', 1e-9), ('log_ndtr', -40.0)):
        assert_slope(getattr(special, name), TRUTHS[name][0], x, 3, 1e-8)


def test_slopes_of_boxcox_are_right_near_the_logarithm():
    for lmbda in -1.0, -1e-9, 0.0, 0.7:
        for order in 1, 2:
            assert_slope(of('boxcox', (3.0, 0), 1), lambda t: mp.quad(
                lambda s: mp.mpf(3) ** (s * t) * mp.log(3), [0, 1]),
                lmbda, order)


GAMMAS = [(1e-3, 0.5), (0.3, 1e-9), (0.3, 1.31), (2.5, 3.4), (2.5, 3.6),
          (2.5, 60.0), (150.0, 151.1), (2000.0, 2100.0)]


@pytest.mark.parametrize('a, x', GAMMAS)
def test_incomplete_gamma_functions_have_slopes_in_a(a, x):
    upper = x > a   # or mpmath would subtract almost equal numbers

    def truth(a):
        limits = (x, inf) if upper else (0, x)
        return mp.gammainc(a, *limits, regularized=True) * (1 - 2 * upper)

    assert_slope(of('gammainc', (a, x), 0), truth, a, 1, 1e-10)
    assert_slope(of('gammaincc', (a, x), 0), lambda a: -truth(a), a, 1, 1e-10)


FAR = [
    ('expit', 800.0, 0.0), ('expit', -800.0, 0.0), ('expit', inf, 0.0),
    ('log_expit', 800.0, 0.0), ('log_expit', -800.0, 1.0),
    ('erf', inf, 0.0), ('erf', -inf, 0.0), ('erfc', inf, 0.0),
    ('ndtr', -inf, 0.0), ('log_ndtr', inf, 0.0), ('log_ndtr', -inf, np.inf),
    ('log_ndtr', -1e8, 1e8), ('dawsn', 1e8, -5e-17), ('dawsn', inf, 0.0),
    ('erfcx', inf, 0.0), ('i0e', 1e10, -1.9947114020819652e-16),
]
ENDS = [
    ('logit', 0.0, np.inf), ('logit', 1.0, np.inf), ('logit', 1.5, np.nan),
    ('ndtri', 0.0, np.inf), ('ndtri', 1.0, np.inf), ('ndtri', 1.5, np.nan),
    ('erfinv', -1.0, np.inf), ('erfcinv', 0.0, -np.inf),
    ('ndtri_exp', -inf, 0.0), ('ndtri_exp', 0.0, np.inf),
    ('gamma', 0.0, -np.inf), ('gamma', -1.0, np.nan),
    ('gammaln', 0.0, -np.inf), ('gammaln', -1.0, np.nan),
    ('loggamma', -0.5, np.nan), ('digamma', 0.0, np.inf),
    ('gammasgn', -0.5, 0.0), ('entr', 0.0, np.inf), ('entr', -1.0, np.nan),
    ('i0e', 0.0, 0.0), ('i1e', 0.0, 0.5), ('i1', 0.0, 0.5),
    ('j1', 0.0, 0.5), ('spence', 1.0, -1.0), ('spence', 0.0, -np.inf),
    ('ellipk', 0.0, np.pi / 8), ('ellipk', 1.0, np.nan),
    ('ellipe', 1.0, -np.inf),
    ('exprel', 0.0, 0.5), ('log1p', -2.0, np.nan), ('cbrt', 0.0, np.inf),
    ('exp1', 0.0, -np.inf), ('exp1', -1.0, np.nan),
]


@pytest.mark.parametrize('name, x, expected', FAR + ENDS)
def test_slopes_far_out_and_at_the_ends_are_right(name, x, expected):
    f, x = getattr(special, name), float(x)
    with np.errstate(all='ignore'):
        np.testing.assert_equal(ad.jvp(f, (x,), (x,))[0], f(x))
        for y in slope(f, x), ad.grad(f)(x):
            np.testing.assert_allclose(y, expected, 1e-15)


POLES = [     # and gammainc inside, which is constant at its edges
    ('zeta', (1.0, 2.0)), ('zeta', 1.0), ('gammaincinv', (2.0, 1.0)),
    ('hyp2f1', (0.5, 0.7, 1.0, 1.0)), ('stdtrit', (3.0, 1.0)),
    ('gammainc', (2.0, 1.0)),
]
EDGES = [
    ('xlogy', (0.0, 0.0), (-np.inf, 0.0)),
    ('xlogy', (0.0, 2.0), (np.log(2), 0.0)),
    ('xlogy', (2.0, 0.0), (-np.inf, np.inf)),
    ('xlogy', (2.0, -1.0), (np.nan, np.nan)),
    ('xlog1py', (0.0, -1.0), (-np.inf, 0.0)),
    ('rel_entr', (0.0, 0.0), (np.nan, 0.0)),    # it has no limit in x / y
    ('rel_entr', (0.0, 1.0), (-np.inf, 0.0)),
    ('rel_entr', (1.0, 0.0), (np.inf, -np.inf)),
    ('rel_entr', (1.0, -1.0), (np.nan, np.nan)),
    ('kl_div', (0.0, 1.0), (-np.inf, 1.0)),
    ('kl_div', (0.0, 0.0), (np.nan, 1.0)),
    ('huber', (1.0, 1.0), (0.0, 1.0)),
    ('huber', (-1.0, 0.5), (np.nan, np.nan)),
    ('pseudo_huber', (0.0, 0.0), (0.0, 0.0)),
    ('pseudo_huber', (0.0, 2.0), (2.0, 0.0)),
    ('pseudo_huber', (-1.0, 2.0), (np.nan, np.nan)),
    ('gammainc', (2.0, 0.0), (0.0, 0.0)),
    ('gammainc', (1.0, 0.0), (0.0, 1.0)),
    ('gammainc', (0.5, 0.0), (0.0, np.inf)),
    ('gammainc', (2.0, np.inf), (0.0, 0.0)),
    ('gammainc', (2.0, -1.0), (np.nan, np.nan)),
    ('boxcox', (0.0, 1.0), (1.0, np.nan)),
    ('inv_boxcox', (-1.0, 1.0), (1.0, np.nan)),
]


@pytest.mark.parametrize('name, args, expected', EDGES)
def test_slopes_at_the_edges_of_two_operands_are_right(name, args, expected):
    for i in range(2):
        np.testing.assert_allclose(
            slope(of(name, args, i), args[i]), expected[i], 1e-15)


def test_values_at_the_poles_and_ends_equal_scipys():
    for name, args, *_ in POLES + EDGES + FAR + ENDS:
        f = getattr(special, name)
        xs = np.float64(args).reshape(-1, 1) * [1, 0.75]
        with np.errstate(all='ignore'):
            np.testing.assert_equal(ad.vmap(f)(*xs), f(*xs), name)


def test_a_result_of_single_precision_does_not_spoil_the_slope():
    """-804.6 has an error of 3e-5, which the slope would inherit."""
    np.testing.assert_allclose(slope(special.log_ndtr, np.float32(-40)),
                               np.float32(40.024968847207276), 1e-7)


REFUSED = {
    'zeta': (0, (2.0, 1.5), 'x'), 'betainc': (0, (2.0, 1.5, 0.3), 'a'),
    'pdtr': (0, (2.0, 1.5), 'k'),
    'betaincinv': (1, (2.0, 1.5, 0.3), 'b'),
    'stdtr': (0, (2.0, 1.5), 'df'), 'jv': (0, (2.0, 1.5), 'v'),
    'kn': (0, (2.0, 1.5), 'n'), 'expn': (0, (2.0, 1.5), 'n'),
    'hyp2f1': (2, (0.5, 0.7, 1.5, 0.3), 'c'),
}


def test_an_unknown_slope_is_refused():
    for name, (i, args, operand) in REFUSED.items():
        words = (f'The derivative of scipy.special.{name} with respect to '
                 f'`{operand}` is not implemented.*pass it through '
                 'ad.stop_gradient')
        with pytest.raises(NotImplementedError, match=words):
            ad.grad(of(name, args, i))(args[i])
    value = lambda v: special.jv(ad.stop_gradient(v), 1.5)
    assert ad.grad(value)(2.0) == 0
    assert ad.vmap(value)(np.array([2.0])) == value(2.0)


def test_a_refusal_names_the_function_of_scipy():
    with pytest.raises(NotImplementedError, match=(
            'of the derivative of scipy.special.gammainc with .* `a`')):
        ad.grad(ad.grad(special.gammainc))(2.0, 1.5)
    with pytest.raises(NotImplementedError, match=(
            'of scipy.special.riemann_zeta with respect to `x`')):
        ad.grad(special.zeta)(2.5)


def test_a_slope_at_complex_numbers_is_refused():
    z = np.array([0.5 + 1j])
    for name, f in (('psi', special.digamma),
                    ('ive', lambda z: special.ive(1, z))):
        with pytest.raises(NotImplementedError, match=(
                f'of scipy.special.{name} is not implemented for complex')):
            ad.jvp(f, (z,), (z,))
        np.testing.assert_array_equal(ad.vmap(f)(z), f(z))


def test_complex_error_functions_are_right_far_from_zero():
    def w(z):
        return mp.exp(-z * z) * mp.erfc(-1j * z)

    def dawson(z):
        return mp.exp(-z * z) * mp.erfi(z) * mp.sqrt(mp.pi) / 2

    for f, truth, zs in (
            (special.wofz, w, [3 + 40j, 40 + 3j, 40 - 3j, 11 - 12j]),
            (special.dawsn, dawson, [40 + 3j, -40 + 3j, 11 - 12j]),
            (special.erfcx, lambda z: w(1j * z), [40 + 3j, 3 + 40j])):
        for z in zs:
            with mp.workdps(60):
                expected = complex(mp.diff(truth, z))
            np.testing.assert_allclose(slope(f, np.complex128(z)), expected,
                                       1e-11)
