"""Rows for SciPy's special functions, which are ufuncs.

A slope is written with functions that have rows, so it has derivatives of
every order.  It is computed in double precision, as in SciPy.
Sources are in the *Digital Library of Mathematical Functions* (DLMF).
Chapter 30.
"""

import math

import numpy as np
from scipy import special
from scipy.special import (
    betaln, ellipe, ellipkm1, erf, erfcx, expit, gammaln, hyp0f1, hyp1f1,
    hyp2f1, iv, ive, jv, kv, kve, psi, xlog1py, xlogy, yv, zeta)

from autodiff_mini.core.trace import elementwise, ufunc_table
from autodiff_mini.core.types import convert, typeof
from autodiff_mini.interpreters.jvp import defjvp, match
from autodiff_mini.numpy_functions.table import ufunc
from autodiff_mini.primitives.elementwise import ratio
from autodiff_mini.wings.more_numpy.more_elementwise import LOG_2, LOG_10

PI, ROOT_PI, ROOT_2 = math.pi, math.sqrt(math.pi), math.sqrt(2)


def special_primitive(name, impl, *slopes):
    """Return an element-wise primitive.

    Args:
        name: its name.
        impl: a function that computes it on plain arrays.
        slopes: for each operand `slope(y, *operands)`, the derivative of the
            result `y` with respect to it.
    """
    primitive = elementwise(name, impl)
    defjvp(primitive, *[slope_rule(primitive, slope) for slope in slopes])
    return primitive


def slope_rule(primitive, slope):
    """Return the JVP rule for one operand."""
    def rule(x_dot, y, *xs):
        xs = [convert(x, double_of(x)) for x in xs]
        is_double = double_of(y) == typeof(y).dtype
        z = y if is_double else primitive.bind(*xs)
        return match(x_dot * slope(z, *xs), y)
    return rule


def double_of(x):
    """Return the dtype of `x`, widened to at least double precision."""
    return np.result_type(typeof(x).dtype, np.float64)


SLOPES = {}     # {name of a function: its slopes}


def special_row(name, *slopes):
    """Return the primitive for a SciPy ufunc.

    Args:
        name: its name in SciPy.
        slopes: as for `special_primitive`, or the name of an operand whose
            slope is not known.
    """
    function = getattr(special._ufuncs, name)
    label, SLOPES[name] = name.strip('_'), slopes
    taken = {other.name for other in elementwise.primitives}
    mine = f'scipy_{label}' if label in taken else label
    primitive = special_primitive(mine, function, *[
        refused(f'scipy.special.{label}', slope)
        if isinstance(slope, str) else slope for slope in slopes])
    ufunc(function, primitive)
    return primitive


def refused(what, operand):
    """Return a function that raises the error for an unknown slope."""
    def slope(*_):
        raise NotImplementedError(
            f'The derivative of {what} with respect to `{operand}` is not '
            f'implemented. If `{operand}` is constant, pass it through '
            'ad.stop_gradient.')
    return slope


def complement(name, other):
    """Return the primitive of a function that is a constant minus another."""
    def opposite(slope):
        if isinstance(slope, str):
            return slope
        return lambda *args: -slope(*args)
    return special_row(name, *map(opposite, SLOPES[other]))


def inverse(name, other, place):
    """Return the primitive of the inverse of a function in one operand.

    If `z = other(a, x)`, then `dz = other_a da + other_x dx`.
    """
    slopes = SLOPES[other]

    def solved(i):
        def slope(x, *zs):
            z, xs = zs[place], (*zs[:place], x, *zs[place + 1:])
            moved = 1 if i == place else -slopes[i](z, *xs)
            return moved / slopes[place](z, *xs)
        return slopes[i] if isinstance(slopes[i], str) else slope
    return special_row(name, *map(solved, range(len(slopes))))


def row_of_several(function, **slopes):
    """Return primitives for the results of a ufunc, named in `slopes`."""
    primitives = [special_primitive(name, result_of(function, i), slope)
                  for i, (name, slope) in enumerate(slopes.items())]
    ufunc_table[function] = lambda x: tuple(p.bind(x) for p in primitives)
    return primitives


def result_of(function, i):
    """Return a function that computes the result number `i`."""
    return lambda x: function(x)[i]


def within(domain, slope):
    """Return the slope, which is NaN outside of the domain."""
    return slope * np.where(domain, 1, np.nan)


def refuse_complex_slope(name, x):
    """Raise an error if `x` is complex and only real slopes are known."""
    if typeof(x).dtype.kind == 'c':
        raise NotImplementedError(
            f'The derivative of scipy.special.{name} is not implemented for '
            f'complex numbers, but got {typeof(x)}.')


# The gamma function, DLMF 5.  SciPy's zeta and polygamma call `_zeta`.
gamma_p = special_row('gamma', lambda y, x: y * psi(x))
gammaln_p = special_row('gammaln', lambda y, x: psi(x))
loggamma_p = special_row('loggamma', lambda y, x: within(y == y, psi(x)))
zeta_p = special_row('_zeta', 'x', lambda y, x, q: -x * zeta(x + 1, q))
riemann_zeta_p = special_row('_riemann_zeta', 'x')


def psi_slope(y, x):
    refuse_complex_slope('psi', x)
    return zeta(2, x)


psi_p = special_row('psi', psi_slope)


def rgamma_slope(y, x):
    """Return the slope of 1 / gamma, which has zeros where psi has poles.

    So on the left it is computed by reflection, DLMF 5.5.3.
    """
    left = np.real(x) < 0.5
    z = np.where(left, 1 - x, x)
    reflected = special.gamma(np.where(left, z, 1)) * np.cos(
        PI * np.where(left, x, 0.5))
    return np.where(left, reflected, 0) - y * psi(z)


rgamma_p = special_row('rgamma', rgamma_slope)
gammasgn_p = special_row('gammasgn', lambda y, x: np.zeros_like(x))
poch_p = special_row(
    'poch', lambda y, z, m: y * (psi(z + m) - psi(z)),
            lambda y, z, m: y * psi(z + m))
beta_p = special_row(
    'beta', lambda y, a, b: y * (psi(a) - psi(a + b)),
            lambda y, a, b: y * (psi(b) - psi(a + b)))
betaln_p = special_row(
    'betaln', lambda y, a, b: psi(a) - psi(a + b),
              lambda y, a, b: psi(b) - psi(a + b))


# Incomplete gamma functions and their distributions, DLMF 8.
def gamma_density(a, x):
    """Return the derivative of gammainc with respect to `x`."""
    x = np.minimum(x, 1e300)    # at infinity it would be inf - inf
    return np.exp(xlogy(a - 1, x) - x - gammaln(a))


def gammainc_in_a(a, x):
    """Return the derivative of gammainc with respect to `a`, below 1e6.

    Differentiate a series for small `x`, DLMF 8.11.4, and otherwise a
    continued fraction, DLMF 8.9.2.
    """
    a = np.where((a > 0) & (a < 1e6), a, np.nan)
    x = np.where(x >= 0, np.minimum(x, 1e300), np.nan)
    small, largest = x <= a + 1, np.max(np.nan_to_num(a), initial=0)
    steps = range(1, 50 + int(10 * np.sqrt(largest)))
    return np.where(small, slope_of_series(a, np.where(small, x, 0), steps),
                    slope_of_fraction(a, np.where(small, a + 1, x), steps))


def slope_of_series(a, x, steps):
    term, psi_n = 1, psi(a + 1)
    total, total_psi = term, psi_n
    for n in steps:
        term, psi_n = term * x / (a + n), psi_n + 1 / (a + n)
        total, total_psi = total + term, total_psi + term * psi_n
    first = gamma_density(a + 1, x)
    return xlogy(first * total, x) - first * total_psi


def slope_of_fraction(a, x, steps):
    h, h_dot = x + 2 * len(steps) + 1 - a, -1
    for n in reversed(steps):
        part = n / h
        h, h_dot = (x + 2 * n - 1 - a - part * (n - a),
                    part - 1 + part * (n - a) / h * h_dot)
    return gamma_density(a, x) * x / h * (psi(a) - np.log(x) + h_dot / h)


def density_in_a(y, a, x):
    density = gamma_density(a, x)
    return xlogy(density, x) - density * psi(a)


gammainc_a_p = special_primitive(
    'gammainc_a', gammainc_in_a,
    refused('the derivative of scipy.special.gammainc', 'a'), density_in_a)

gammainc_p = special_row(
    'gammainc', lambda y, a, x: gammainc_a_p.bind(a, x),
                lambda y, a, x: gamma_density(a, x))
gammaincc_p = complement('gammaincc', 'gammainc')
gammaincinv_p = inverse('gammaincinv', 'gammainc', 1)
gammainccinv_p = inverse('gammainccinv', 'gammaincc', 1)
chdtr_p = special_row(
    'chdtr', lambda y, v, x: gammainc_a_p.bind(v / 2, x / 2) / 2,
             lambda y, v, x: gamma_density(v / 2, x / 2) / 2)
chdtrc_p = complement('chdtrc', 'chdtr')
chdtri_p = inverse('chdtri', 'chdtrc', 1)
pdtrc_p = special_row(
    'pdtrc', 'k',
    lambda y, k, m: gamma_density(np.floor(k) + 1, m))
pdtr_p = complement('pdtr', 'pdtrc')


# Incomplete beta functions and their distributions, DLMF 8.17.
def beta_density(a, b, x):
    """Return the derivative of betainc with respect to `x`."""
    return np.exp(xlogy(a - 1, x) + xlog1py(b - 1, -x) - betaln(a, b))


betainc_p = special_row(
    'betainc', 'a', 'b',
    lambda y, a, b, x: beta_density(a, b, x))
betaincc_p = complement('betaincc', 'betainc')
betaincinv_p = inverse('betaincinv', 'betainc', 2)
betainccinv_p = inverse('betainccinv', 'betaincc', 2)
stdtr_p = special_row('stdtr', 'df', lambda y, df, t: np.exp(
    xlog1py(-(df + 1) / 2, t * t / df) - betaln(0.5, df / 2)) / np.sqrt(df))
stdtrit_p = inverse('stdtrit', 'stdtr', 1)


# The error function and its relatives, DLMF 7.
def one_minus(product, far, u):
    """Return `1 - product`; far away use a series to avoid cancellation.

    It is `-(u + 3u^2 + 15u^3 + ...)`, DLMF 7.12.
    """
    rest = 0
    for k in range(11, 0, -1):
        rest = (2 * k - 1) * u * (1 + rest)
    return np.where(far, -rest, 1 - product)


def dawsn_slope(y, x):
    far = np.abs(np.real(x)) > np.abs(np.imag(x)) + 12
    near_x, far_x = np.where(far, 0, x), np.where(far, x, 12)
    return one_minus(2 * near_x * y, far, 0.5 / far_x / far_x)


def erfcx_slope(y, x):
    far = (np.real(x) > 12) | (
        np.abs(np.imag(x)) > np.abs(np.real(x)) + 12)
    near_x, far_x = np.where(far, 0, x), np.where(far, x, 12)
    return -2 / ROOT_PI * one_minus(ROOT_PI * near_x * y, far,
                                    -0.5 / far_x / far_x)


erf_p = special_row('erf', lambda y, x: 2 / ROOT_PI * np.exp(-x * x))
erfc_p = complement('erfc', 'erf')
erfi_p = special_row('erfi', lambda y, x: 2 / ROOT_PI * np.exp(x * x))
erfinv_p = inverse('erfinv', 'erf', 0)
erfcinv_p = inverse('erfcinv', 'erfc', 0)
dawsn_p = special_row('dawsn', dawsn_slope)
erfcx_p = special_row('erfcx', erfcx_slope)
wofz_p = special_row('wofz', lambda y, z: -1j * erfcx_slope(y, -1j * z))


def normal_density(x):
    return np.exp(-x * x / 2) / (ROOT_2 * ROOT_PI)


def log_ndtr_slope(y, x):
    """Return the density over `exp(y)`; on the left both can underflow.

    There, use erfcx, which is a multiple of their ratio.
    """
    left = np.real(x) < 0
    low, high = np.where(left, x, 0), np.where(left, 0, x)
    return np.where(left, ROOT_2 / ROOT_PI / erfcx(-low / ROOT_2),
                    normal_density(high) / np.exp(np.where(left, 0, y)))


ndtr_p = special_row('ndtr', lambda y, x: normal_density(x))
ndtri_p = inverse('ndtri', 'ndtr', 0)
log_ndtr_p = special_row('log_ndtr', log_ndtr_slope)
ndtri_exp_p = inverse('ndtri_exp', 'log_ndtr', 0)
owens_t_p = special_row(
    'owens_t', lambda y, h, a: normal_density(h) * erf(a * h / ROOT_2) / -2,
    lambda y, h, a: normal_density(h) * normal_density(a * h) / (1 + a * a))


# Exponentials, logarithms, powers, and losses.
def quotient(x, y):
    """Return `x / y`, and 0 where both are 0."""
    both = (x == 0) & (y == 0)
    return np.where(both, 0, np.divide(x, np.where(both, 1, y)))


expit_p = special_row('expit', lambda y, x: y * expit(-x))
log_expit_p = special_row('log_expit', lambda y, x: expit(-x))
logit_p = inverse('logit', 'expit', 0)
xlogy_p = special_row(
    'xlogy', lambda z, x, y: np.log(y),
             lambda z, x, y: within(z == z, quotient(x, y)))
xlog1py_p = special_row(
    'xlog1py', lambda z, x, y: np.log1p(y),
    lambda z, x, y: within(z == z, quotient(x, 1 + y)))
entr_p = special_row('entr', lambda y, x: -np.log(x) - 1)
rel_entr_p = special_row(
    'rel_entr', lambda z, x, y: np.log(x / y) + 1,
    lambda z, x, y: within(y >= 0, -quotient(x, y)))
kl_div_p = special_row(
    'kl_div', lambda z, x, y: np.log(x / y),
    lambda z, x, y: within(y >= 0, 1 - quotient(x, y)))
special_expm1_p = special_row('expm1', lambda y, x: np.exp(x))
special_log1p_p = special_row('log1p', lambda y, x: within(
    y == y, np.divide(1, 1 + x)))
special_exp2_p = special_row('exp2', lambda y, x: LOG_2 * y)
special_exp10_p = special_row('exp10', lambda y, x: LOG_10 * y)
special_cbrt_p = special_row('cbrt', lambda y, x: 1 / (3 * y * y))
cosm1_p = special_row('cosm1', lambda y, x: -np.sin(x))
exprel_p = special_row('exprel', lambda y, x: hyp1f1(2, 3, x) / 2)


def power_in_lmbda(log_x, lmbda):
    """Return the derivative of `(exp(lmbda * log_x) - 1) / lmbda`."""
    return log_x * log_x / 2 * hyp1f1(2, 3, lmbda * log_x)


boxcox_p = special_row(
    'boxcox', lambda y, x, lmbda: np.exp(xlogy(lmbda - 1, x)),
    lambda y, x, lmbda: power_in_lmbda(np.log(x), lmbda))
boxcox1p_p = special_row(
    'boxcox1p',
    lambda y, x, lmbda: np.exp(xlog1py(lmbda - 1, x)),
    lambda y, x, lmbda: power_in_lmbda(np.log1p(x), lmbda))
inv_boxcox_p = inverse('inv_boxcox', 'boxcox', 0)
inv_boxcox1p_p = inverse('inv_boxcox1p', 'boxcox1p', 0)
huber_p = special_row(
    'huber', lambda y, d, r: within(d >= 0, np.maximum(np.abs(r) - d, 0)),
    lambda y, d, r: within(d >= 0, np.clip(r, -d, d)))


def pseudo_huber_in_delta(y, delta, r):
    h = np.hypot(delta, r)
    part = r * ratio(r, h + delta)
    return within(delta >= 0, part * ratio(part, h))


pseudo_huber_p = special_row(
    'pseudo_huber', pseudo_huber_in_delta,
    lambda y, d, r: within(d >= 0, r * ratio(d, np.hypot(d, r))))
lambertw_p = special_row(
    '_lambertw', lambda y, z, k, tol: 1 / (z + np.exp(y)),
    'k', 'tol')


# Bessel functions, DLMF 10.6 and 10.29.
def beside_order(function, v, x, sign):
    """Return half the sum or difference of orders `v - 1` and `v + 1`."""
    return (function(v - 1, x) + sign * function(v + 1, x)) / 2


j0_p = special_row('j0', lambda y, x: -special.j1(x))
j1_p = special_row('j1', lambda y, x: beside_order(jv, 1, x, -1))
jv_p = special_row('jv', 'v', lambda y, v, x: beside_order(jv, v, x, -1))
y0_p = special_row('y0', lambda y, x: -special.y1(x))
y1_p = special_row('y1', lambda y, x: beside_order(yv, 1, x, -1))
yn_p = special_row('yn', 'n', lambda y, n, x: beside_order(yv, n, x, -1))
yv_p = special_row('yv', 'v', lambda y, v, x: beside_order(yv, v, x, -1))
special_i0_p = special_row('i0', lambda y, x: special.i1(x))
i1_p = special_row('i1', lambda y, x: beside_order(iv, 1, x, 1))
iv_p = special_row('iv', 'v', lambda y, v, x: beside_order(iv, v, x, 1))
k0_p = special_row('k0', lambda y, x: -special.k1(x))
k1_p = special_row('k1', lambda y, x: -beside_order(kv, 1, x, 1))
kn_p = special_row('kn', 'n', lambda y, n, x: -beside_order(kv, n, x, 1))
kv_p = special_row('kv', 'v', lambda y, v, x: -beside_order(kv, v, x, 1))
k0e_p = special_row('k0e', lambda y, x: y - special.k1e(x))
k1e_p = special_row('k1e', lambda y, x: y - beside_order(kve, 1, x, 1))
kve_p = special_row(
    'kve', 'v', lambda y, v, x: y - beside_order(kve, v, x, 1))

# exp(-|x|) I is a confluent hypergeometric function, DLMF 10.39.5.  i0e has
# a kink at 0, where the slope is set to 0.
i0e_p = special_row('i0e', lambda y, x: -np.sign(x) * hyp1f1(
    1.5, 2, -2 * np.abs(x)))
i1e_p = special_row('i1e', lambda y, x: (
    hyp1f1(1.5, 3, -2 * np.abs(x))
    - np.abs(x) * hyp1f1(2.5, 4, -2 * np.abs(x))) / 2)


def ive_slope(y, v, x):
    refuse_complex_slope('ive', x)
    return beside_order(ive, v, x, 1) - np.sign(x) * y


ive_p = special_row('ive', 'v', ive_slope)

# Hypergeometric functions, DLMF 13.3, 15.5 and 16.3.
hyp0f1_p = special_row('hyp0f1', 'v', lambda y, v, z: hyp0f1(v + 1, z) / v)
hyp1f1_p = special_row('hyp1f1', 'a', 'b', lambda y, a, b, x: (
    a / b * hyp1f1(a + 1, b + 1, x)))
hyp2f1_p = special_row('hyp2f1', 'a', 'b', 'c', lambda y, a, b, c, z: (
    a * b / c * hyp2f1(a + 1, b + 1, c + 1, z)))


# Elliptic integrals, DLMF 19.4 and 19.5, and other integrals, DLMF 6.2.
def near_one(p, series, formula):
    """Return `series(1 - p)` near 1, where `formula(p)` would be 0 / 0."""
    near = np.abs(p - 1) < 0.5
    return np.where(near, series(np.where(near, 1 - p, 0)),
                    formula(np.where(near, 2, p)))


def ellipkm1_slope(y, p):
    return near_one(
        p, lambda m: -PI / 8 * hyp2f1(1.5, 1.5, 2, m),
        lambda p: (ellipkm1(p) - ellipe(1 - p) / p) / (2 * (1 - p)))


ellipkm1_p = special_row('ellipkm1', ellipkm1_slope)
ellipk_p = special_row('ellipk', lambda y, m: -ellipkm1_slope(y, 1 - m))
ellipe_p = special_row('ellipe', lambda y, m: near_one(
    1 - m, lambda m: -PI / 8 * hyp2f1(0.5, 1.5, 2, m),
    lambda p: (ellipe(1 - p) - ellipkm1(p)) / (2 * (1 - p))))
spence_p = special_row('spence', lambda y, x: near_one(
    x, lambda u: -hyp2f1(1, 1, 2, u), lambda x: np.log(x) / (1 - x)))


def expn_slope(y, n, x):
    """Return the slope of expn, whose order 0 is `exp(-x) / x`."""
    zero = n == 0
    return np.where(zero, -y * (1 + 1 / np.where(zero, x, 1)),
                    -special.expn(np.where(zero, 1, n) - 1, x))


def sine_over(x, sine, sign):
    """Return `sine(x) / x`, for `sin` or `sinh`."""
    near = np.abs(x) < 1
    small, large = np.where(near, x, 0), np.where(near, 1, x)
    return np.where(near, hyp0f1(1.5, sign * small * small / 4),
                    sine(large) / large)


expi_p = special_row('expi', lambda y, x: np.exp(x) / x)
exp1_p = special_row('exp1', lambda y, x: within(y == y, -np.exp(-x) / x))
expn_p = special_row('expn', 'n', expn_slope)
si_p, ci_p = row_of_several(
    special.sici, si=lambda y, x: sine_over(x, np.sin, -1),
    ci=lambda y, x: within(y == y, np.cos(x) / x))
shi_p, chi_p = row_of_several(
    special.shichi, shi=lambda y, x: sine_over(x, np.sinh, 1),
    chi=lambda y, x: within(y == y, np.cosh(x) / x))
fresnel_s_p, fresnel_c_p = row_of_several(
    special.fresnel, fresnel_s=lambda y, z: np.sin(PI / 2 * z * z),
    fresnel_c=lambda y, z: np.cos(PI / 2 * z * z))
