"""Values equal NumPy's to the bit, or a table gives the reason.

-0.0 is not 0.0 here. NaN is NaN, whatever its bits.
"""

import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import autodiff_mini as ad
from tests.support import amount
from tests.support.statements import results
from tests.support.tangents import tangents_for
from tests.tables.programs import PROGRAMS, is_inexact

FILLS = {'own': None, 'zeros': [-0.0, 0.0, 0.0, -0.0, 0.0],
         'signed zeros': [0.0, -0.0, 1.0, -0.0, -1.0],
         'ties': [1.0, 1.0, -1.0, 1.0, 2.0],
         'subnormal': [5e-324, -5e-324, 0.0, 1e-310, -0.0],
         'nan': [np.nan, 1.0, -0.0, 0.0, 2.0],
         'inf': [np.inf, -np.inf, 0.0, -0.0, 1.0]}
WAYS = {
    'jvp': lambda f: lambda args, tangents: ad.jvp(f, args, tangents)[0],
    'vmap': lambda f: lambda args, tangents: [
        y[1] for y in ad.vmap(lambda *xs: results(f(*xs)))(*args)],
    'jit': lambda f: lambda args, tangents, g=ad.jit(f): g(*args)}

UNSAID = 'NumPy does not say what the result is.'

# By the beginning of a program's name.
WHY_NOT = {
    'They add products in another order.': (
        'correlate_', 'einsum_', 'vecmat'),
    'Either NumPy or the library adds to 0.0, which turns -0.0 into 0.0. '
    'The other multiplies.': (
        'dot_scalars', 'dot_stacks', 'tensordot_0', 'add_reduceat'),
    'Where 0.0 and -0.0 tie, they return the other one.': (
        'clip_arrays', 'clip_float', 'nanmax_axis',
        'nanmin', 'nanmedian', 'nanquantile', 'quantile_',
        'sort_None', 'write_by_methods'),
    'A small power of an array is a product, which is much faster.': (
        'pow_array_int', 'pow_ufunc_array_int', 'power_3'),
    'NumPy itself gives one number and an array different bits.': (
        'pow_float_on_the_left', 'power_0.5_of_float', 'fmax_', 'fmin_'),
    'They are composed of several operations, and each of them rounds.': (
        'round_complex', 'sinc_', 'interp_period',
        'linspace_open', 'mixed_numbers', 'cond_stack',
        'histogram_weights_density', 'matrix_norm_stack'),
    'They call a different LAPACK routine.': ('lstsq', 'polyfit', 'eig'),
    UNSAID: ('searchsorted_', 'empty_like')}


def reason(program):
    """Return why the bits of a program can differ from NumPy's, or None."""
    for why, beginnings in WHY_NOT.items():
        if program.name.startswith(beginnings):
            return why
    return None


def filled(x, numbers):
    """Return an argument of this type, with other numbers in it."""
    if numbers is None or not is_inexact(x):
        return x
    y = np.resize(np.array(numbers), np.shape(x))
    y = y.astype(np.result_type(x))
    if np.iscomplexobj(x):
        y.imag = np.resize(numbers[2:], np.shape(x))
    return type(x)(y[()]) if isinstance(x, float | complex) else y[()]


def same_bits(y, z):
    y, z = np.asarray(y), np.asarray(z)
    if y.shape != z.shape or y.dtype != z.dtype:
        return False
    if y.dtype.kind == 'c':
        return same_bits(y.real, z.real) and same_bits(y.imag, z.imag)
    is_same = np.equal(y, z)
    if y.dtype.kind == 'f':
        is_same &= np.signbit(y) == np.signbit(z)
        is_same |= np.isnan(y) & np.isnan(z)
    return bool(np.all(is_same))


def differing(program, way):
    """Return the numbers at which the bits of values differ from NumPy's."""
    f, found = partial(program.function, np), []
    g = WAYS[way](f)
    tangents = tangents_for(program)
    for name, numbers in FILLS.items():
        if name == 'inf' and program.name.startswith('special_'):
            continue    # there, some slopes take SciPy very long
        args = tuple(filled(x, numbers) for x in program.args)
        if way == 'vmap':
            args = tuple(np.stack([x, x]) for x in args)
        with warnings.catch_warnings(), np.errstate(all='ignore'):
            warnings.simplefilter('ignore')
            try:
                expected = results(f(*[x[1] for x in args] if way == 'vmap'
                                     else args))
                ys = results(g(args, tangents))
            except Exception:
                continue    # NumPy, or a test of errors, gives the reason
        if not all(map(same_bits, ys, expected)):
            found.append(name)
    return found


@pytest.mark.parametrize('way', WAYS)
def test_values_equal_numpys_to_the_bit(way):
    for program in PROGRAMS:
        is_first = program.leads and not program.is_of_a_wing
        if (is_first or amount.WHOLE) and not reason(program):
            assert differing(program, way) == [], program.name


def test_no_exception_is_out_of_date():
    for why, beginnings in WHY_NOT.items():
        for beginning in beginnings if why != UNSAID else ():
            assert any(differing(program, way) for program in PROGRAMS
                       if program.name.startswith(beginning)
                       for way in ('jvp', 'vmap')), beginning


def test_the_book_says_where_the_bits_differ():
    page = (Path(__file__).parents[2] / 'book/appendix/what_works.md'
            ).read_text()
    for why in WHY_NOT.keys() - {UNSAID}:
        assert f'| {why} |' in page
