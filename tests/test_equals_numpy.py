"""What NumPy's functions hand out: arrays or numbers, and where they write.

The programs are text, run in plain NumPy and under each transformation.
"""

import itertools
import warnings

import numpy as np
import pytest

from autodiff_mini.core import function_table, ufunc_table
from autodiff_mini.more import on_demand
from tests.amount import rest
from tests.statements import WAYS, assert_every_way_is_numpy, ran, results

for name in on_demand.MODULES:
    on_demand.module(name)
X = np.array([0.5, 1.5, 2.5])


# Of shape (): a number, which does not change, or an array, which does.

BEFORE = 's = np.sum(x); a = np.copy(s); m = np.outer(x, x)\n'
AFTER = '''
w = w[0] if isinstance(w, (tuple, list)) else w
v = w
w += 1
r = [v + 0, s + 0, a + 0, x + 0]'''
ARRAYS = [
    'np.where(s > 0, s, a)', 'np.select([s > 0], [s])', 'np.cov(x)',
    'np.piecewise(s, [s > 0], [2.0])', 'np.tensordot(x, x, 1)',
    'np.linalg.tensordot(m, m)', 'np.roll(s, 1)', 'np.pad(s, 0)',
    'np.block(s)', 'np.tile(s, ())', 'np.i0(s)', 'np.copy(s)',
    'np.linalg.tensorsolve(s, s)', 'np.expand_dims(s, ())',
    'np.broadcast_arrays(s, s)', 'np.broadcast_arrays(a, s)',
    'np.asarray(s, like=x)', 'np.array(s, like=x)', 'np.fft.fftn(s)',
    'np.fft.fftn(a)', 'np.zeros_like(s)', 'np.full_like(s, s)', 'a.copy()',
    'a.astype(float)', 'a.astype(float, copy=False)', 'copy.copy(a)',
    'copy.deepcopy(a)', 'a[...]', 'a.T', 'a.real', 'np.transpose(a)',
    '(x * 1)[0, ...]', '(x[:1] * 1).squeeze()']
NUMBERS = [
    's', 's.copy()', 'copy.copy(s)', 'copy.deepcopy(s)', 's.imag', 's.real',
    's.astype(float)', 's[()]', 's.T', 's.squeeze()', 's.reshape(())',
    'a[()]', 'x[0]', 'a + 0', 'np.negative(a)', 'np.einsum(a, ())',
    'np.linalg.norm(x)', 'np.max(x)', 'np.nanargmax(x)', 'np.interp(s, x, x)',
    'np.nanmax(x)', 'np.dot(x, x)', 'np.cumsum(x)[1]', 'np.trace(m)',
    'np.where(s > 0, s, a)[()]', 'np.clip(a, 0, 1)', 'np.round(a)',
    'np.nan_to_num(s)', 'np.average(x)', 'np.take(x, 1)', 'x.flat[1]']


@pytest.mark.parametrize('expression', ARRAYS + NUMBERS)
def test_a_result_of_shape_empty_is_an_array_if_numpys_is(expression):
    """An array's other names see `+=`, and a number's do not."""
    kind = type(results(ran(f'{BEFORE}r = {expression}')(X))[0])
    assert (kind is np.ndarray) == (expression in ARRAYS)
    assert_every_way_is_numpy(f'{BEFORE}w = {expression}{AFTER}', X)


ARGUMENTS = [
    '{o}', '{o}, {o}', '{o}, 0', '{o}, 1', '{o}, ()', '[{o}, {o}]', '[{o}]',
    '{o}, {o}, {o}', 'True, {o}, 2.', '[True], [{o}]', '{o}, 1., 2.',
    'x, {o}, 1', 'x, {o}', '{o}, None', '"ii", {o}', '"i->", {o}',
    '{o}, [0]', 'np.sum, {o}, 0', '0, [{o}, {o}]']


def spelled(function):
    """Returns how a program calls a function of NumPy's, or None."""
    for prefix, module in (('np.', np), ('np.linalg.', np.linalg),
                           ('np.fft.', np.fft), ('np.emath.', np.emath)):
        if getattr(module, function.__name__, None) is function:
            return prefix + function.__name__
    return None


def hands_out_shape_empty(expression):
    try:
        w = results(ran(f'{BEFORE}r = {expression}')(X.copy()))[0]
    except Exception:
        return False    # a call that NumPy does not take
    return (isinstance(w, np.ndarray | np.generic) and w.ndim == 0
            and w.dtype.kind in 'iufc')


def calls_by_function():
    """Returns, for each function, calls of it that make shape ()."""
    calls = {}
    functions = {f for f in (*function_table, *ufunc_table)
                 if getattr(f, '__module__', 'numpy').startswith('numpy')
                 and not isinstance(f, tuple)}
    with warnings.catch_warnings(), np.errstate(all='ignore'):
        warnings.simplefilter('ignore')
        for name in sorted(filter(None, map(spelled, functions))):
            found = [call for arguments, o in itertools.product(
                ARGUMENTS, ('s', 'a', 'x', 'm', 'x[:1]'))
                if hands_out_shape_empty(call := (
                    f'{name}({arguments.format(o=o)})'))]
            if found:
                calls[name] = found
    return calls


CALLS = calls_by_function()
UNSET = {'np.empty', 'np.empty_like',    # what they hold is anything
         'np.modf'}                     # it writes twice into one array


@pytest.mark.filterwarnings('ignore')
@pytest.mark.parametrize('name', [
    name if i % 8 == 0 else rest(name)
    for i, name in enumerate(sorted(CALLS.keys() - UNSET))])
def test_no_function_takes_an_array_for_a_number(name):
    """What a call refuses is an error; what it computes is NumPy's."""
    for call in dict.fromkeys(CALLS[name]):
        f = ran(f'{BEFORE}w = {call}{AFTER}')
        with np.errstate(all='ignore'):
            try:
                expected = f(X.copy())
            except ValueError as error:
                expected = error    # it may only be read
            for way in WAYS.values():
                try:
                    ys = way(f)(X.copy())
                except Exception:
                    continue
                assert not isinstance(expected, Exception), call
                for y, z in zip(ys, expected, strict=True):
                    np.testing.assert_allclose(y, z, 1e-12, 0, err_msg=call)


def test_functions_that_make_shape_empty_are_found():
    assert len(CALLS) > 150 and sum(map(len, CALLS.values())) > 1500
