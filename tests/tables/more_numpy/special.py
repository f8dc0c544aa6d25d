"""Programs of SciPy's special functions."""

from importlib import import_module

import numpy as np
import scipy.special

from autodiff_mini.wings.more_numpy.scipy_special import gammainc_a_p
from tests.tables.programs import c64, c128, f16, f32, f64, ints, program

HALF = 'SciPy computes in double precision, or in single'
NOT_JAX = 'jax.scipy.special has no such function'
IN_JAX = set('''
    gamma gammaln loggamma gammasgn digamma poch zeta beta betaln gammainc
    gammaincc betainc erf erfc erfcx erfinv dawsn wofz ndtr ndtri log_ndtr
    owens_t expit logit xlogy xlog1py entr rel_entr kl_div i0 i0e i1 i1e
    hyp1f1 hyp2f1 expi exp1 spence'''.split())


def special(np):
    """Return the special functions of the library that a program asks for."""
    if np.__name__ == 'numpy':
        return getattr(np, 'special', scipy.special)
    return import_module('jax.scipy.special')


def of_special(name, *orders):
    """Return a program of a function with constant first operands."""
    return lambda np, *xs: getattr(special(np), name)(*orders, *xs)


def special_program(name, *args, orders=(), suffix='', jax=''):
    """Add a program of one function, which JAX runs if it has it."""
    program(f'special_{name}{suffix}', of_special(name, *orders), *args,
            double=True, jax=jax if name in IN_JAX else NOT_JAX)


# Operands near 1, between 0 and 1, or small

special_program('gammasgn', np.array([-0.5, -1.01]), suffix='_negative')
for name in '''gamma gammaln loggamma rgamma digamma gammasgn erf erfc erfi
        erfcx dawsn ndtr log_ndtr expit log_expit entr expm1 log1p exp2 exp10
        cbrt cosm1 exprel j0 j1 y0 y1 i0 i0e i1 i1e k0 k0e k1 k1e
        expi'''.split():
    special_program(name, f64(3))
special_program('exp1', f64(3), jax='JAX has no second derivative')
for name in '''erfinv erfcinv ndtri logit ellipk ellipe ellipkm1
        spence'''.split():
    special_program(name, f64(2, 3) * 0.5)
special_program('rgamma', f64(3) * -4, suffix='_negative')
special_program('gammaln', f64(3) * 0.4 - 1.7, suffix='_negative')
special_program('log_ndtr', f64(3) * -2, suffix='_low')
special_program('ndtri_exp', -f64(3))
special_program('erfcx', f64(3) + 12, suffix='_far')
special_program('dawsn', f64(3) + 12, suffix='_far')
special_program('ellipk', f64(3) - 2, suffix='_negative')
special_program('ellipe', f64(3) - 2, suffix='_negative')

# Several operands

for name in '''poch beta betaln owens_t xlogy xlog1py rel_entr kl_div
        pseudo_huber boxcox boxcox1p inv_boxcox inv_boxcox1p'''.split():
    special_program(name, f64(2, 1), f64(3))
special_program('huber', f64(2, 1) - 0.4, f64(3) * 3)

# Constant orders or operands, and an argument

THREE = np.array([[1], [2], [3]])
for name, *orders in (
        ('zeta', 2), ('gammainc', 1.5), ('gammaincc', 2), ('chdtr', 3),
        ('chdtrc', 3), ('pdtr', 2), ('pdtrc', 2), ('stdtr', 3),
        ('jn', 2), ('jv', 0.5), ('yn', 2), ('yv', 0.5), ('iv', 1.5),
        ('ive', 1.5), ('kn', 2), ('kv', 1.5), ('kve', 1.5), ('expn', 2),
        ('hyp0f1', 1.5), ('hyp1f1', 0.7, 1.5)):
    special_program(name, f64(3), orders=orders)
for name, *orders in (
        ('gammaincinv', 2.0), ('gammainccinv', 2.0), ('chdtri', 3),
        ('betainc', 2.0, 1.5), ('betaincc', 2.0, 1.5),
        ('betaincinv', 2.0, 1.5), ('betainccinv', 2.0, 1.5),
        ('stdtrit', 3), ('hyp2f1', 0.5, 0.7, 1.5)):
    special_program(name, f64(3) * 0.6, orders=orders)
special_program('expn', f64(3), orders=(0,), suffix='_of_order_0')
special_program('zeta', THREE + 1, f64(3), suffix='_ints')
special_program('jv', THREE, f64(3), suffix='_ints')
special_program('hyp1f1', 0.3, orders=(0.7, 1.5), suffix='_float')
special_program('lambertw', c128(3))

# Two results

for name in 'sici', 'shichi', 'fresnel':
    for kind, x in {'': f64(3), '_single': f32(3)}.items():
        program(f'special_{name}{kind}', lambda np, x, name=name: np.stack(
            of_special(name)(np, x)), x, double=True, jax=NOT_JAX)

# Numbers of other kinds

for name in 'erf', 'expit', 'gammaln', 'log_ndtr', 'i0e', 'digamma':
    special_program(name, f32(3), suffix='_single')
    special_program(name, f16(3), suffix='_half', jax=HALF)
    special_program(name, ints(3), suffix='_ints', jax=(
        'JAX takes no integers' if name == 'log_ndtr' else ''))
    special_program(name, 0.7, suffix='_float')
special_program('xlogy', f32(3), 1.5, suffix='_single_float')
special_program('xlogy', ints(3), f32(3), suffix='_ints_single', jax=HALF)
special_program('gammainc', f32(3), orders=(1.5,), suffix='_single')
for name in '''erf erfc erfcx dawsn wofz log_ndtr exp1 expm1 log1p spence
        '''.split():
    special_program(name, c128(2), suffix='_complex', jax=(
        'JAX takes real numbers only' if name != 'wofz' else ''))
special_program('wofz', f64(2))
special_program('xlogy', c64(2), c64(2), suffix='_complex', jax=(
    'JAX takes real numbers only'))
special_program('kve', c128(2), orders=(1.5,), suffix='_complex')
special_program('erf', f64(0, 2), suffix='_empty')

# Functions of integers, which have values but no derivatives

special_program('zeta', ints(3) + 1, suffix='_riemann', jax=(
    'JAX takes two operands'))
program('special_gammainc_a', lambda np, a, x: gammainc_a_p.bind(a, x),
        ints(3), ints(3), double=True, jax='it has no name')
