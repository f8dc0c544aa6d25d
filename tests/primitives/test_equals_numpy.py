"""NumPy functions return arrays or numbers, and write, as in NumPy.

The programs are text, run in plain NumPy and under each transformation.
"""

import itertools

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core.trace import function_table, ufunc_table
from autodiff_mini.wings.more_numpy import on_demand
from tests.support import amount
from tests.support.statements import (
    WAYS, assert_every_way_is_numpy, ran, results)

on_demand.bring_all()
X = np.array([0.5, 1.5, 2.5])


# Of shape (): a number, which cannot change, or an array, which can.

BEFORE = 's = np.sum(x); a = np.copy(s); m = np.outer(x, x)\n'
AFTER = '''
w = w[0] if isinstance(w, (tuple, list)) else w
v = w
w += 1
r = [v + 0, s + 0, a + 0, x + 0]'''
ARRAYS = [
    'np.where(s > 0, s, a)', 'np.select([s > 0], [s])', 'np.cov(x)',
    'np.piecewise(s, [s > 0], [2.0])', 'np.tensordot(x, x, 1)',
    'np.pad(s, 0)', 'np.tile(s, ())', 'np.linalg.tensorsolve(s, s)',
    'np.expand_dims(s, ())', 'np.asarray(s, like=x)', 'np.fft.fftn(s)',
    'np.zeros_like(s)', 'a.copy()', 'copy.deepcopy(a)', 'a[...]', 'a.T',
    '(x * 1)[0, ...]', '(x[:1] * 1).squeeze()']
NUMBERS = [
    's', 's.copy()', 'copy.deepcopy(s)', 's.real', 's.astype(float)',
    's[()]', 's.T', 's.squeeze()', 'a[()]', 'x[0]', 'a + 0',
    'np.einsum(a, ())', 'np.linalg.norm(x)', 'np.nanargmax(x)',
    'np.interp(s, x, x)', 'np.dot(x, x)', 'np.trace(m)', 'np.clip(a, 0, 1)',
    'np.average(x)', 'x.flat[1]']


def test_scalar_results_are_arrays_where_numpys_are():
    """An array's other names see `+=`, and a number's do not."""
    for expression in ARRAYS + NUMBERS:
        kind = type(results(ran(f'{BEFORE}r = {expression}')(X))[0])
        assert (kind is np.ndarray) == (expression in ARRAYS), expression
        assert_every_way_is_numpy(f'{BEFORE}w = {expression}{AFTER}', X)


# Errors have NumPy's class if NumPy raises one, and otherwise a class that
# programs do not usually catch.

HABITUAL = (ValueError, IndexError, KeyError, AttributeError,
            ArithmeticError, StopIteration)
KINDS = *HABITUAL, TypeError, RuntimeError
SAME_WORDS = [
    'np.select([], [x])', 'np.linalg.norm(c, 1)', 'np.linalg.norm(m, 7)',
    "np.linalg.norm(x, 'fro')", 'np.diff(x, -1)', 'np.tensordot(x, x[1:], 1)',
    'np.take_along_axis(x, np.array([[0]]), 0)',
    'np.take_along_axis(x, x, 0)', 'np.diag(c)', 'np.array_split(x, 0)',
    'np.split(x, 2)', 'np.squeeze(x, 0)', 'np.moveaxis(m, 0, (0, 1))',
    "np.meshgrid(x, x, indexing='no')", 'y.__setitem__(slice(2), x)',
    'np.place(y, np.ones(3), [])', 'x[x]', 'x[0, 0]', 'x[3]',
    'np.stack([x, x[1:]])', 'np.linalg.det(x)', 'np.linalg.inv(m[:2])',
    'np.max(x, where=[True, False, True])', 'np.broadcast_to(x, 2)',
    'np.apply_along_axis(np.sum, 0, c[:, :0])', 'np.compress([[True]], x)',
    'np.quantile(x, np.zeros((1, 1, 1)))', 'np.quantile(x, 2)',
    'np.cov(x, ddof=0.5)', 'np.cov(x, aweights=[-1, 1, 1])',
    'np.bincount([0, 1], x)', 'np.histogram([1, 2], weights=x)',
    'np.histogramdd(m, bins=[1])',
    'np.histogramdd(m, bins=1, range=[(0, 1)])', "np.linalg.eigh(m, 'X')",
    "np.linalg.qr(m, 'no')", 'np.linalg.pinv(m, rcond=1, rtol=1)',
    'np.piecewise(x, [x > 0], [1, 2, 3])', 'np.fft.fft(x, 0)',
    'np.fft.fftn(m, [1, 2, 3], [0])', 'np.linalg.lstsq(m, x[1:])',
    'np.linalg.svd(x)', 'np.linalg.matrix_rank(m, 1, rtol=1)',
    'np.linalg.cond(m[:0])', 'np.linalg.multi_dot([m])',
    'np.linalg.tensorinv(m, 0)', 'np.linalg.outer(m, m)',
    'np.polyfit(x, x, -1)',
    'np.polyfit(x, x, 2, cov=True)', 'np.roots(m)',
    'np.gradient(x, edge_order=3)', 'np.gradient(x[:1])', 'np.gradient(x, m)',
    'np.gradient(x, x[1:])', 'np.cross(s, s)',
    'np.convolve(m, x)',
    'np.convolve(x, [])', "np.convolve(x, x, 'no')", 'np.broadcast_to(m, 3)',
    'np.linalg.lstsq(c, x)', 'np.diagonal(m).fill(1)',
    "np.fft.fft(x, norm='no')", 'np.fft.hfft(m[:, :1])',
    'np.linalg.eigh(m[:2])', 'np.linalg.norm(c, 2)', 'np.delete(x, 7)',
    'np.partition(x, 7)', 'np.digitize(x, [1., 0, 2])',
    'np.cov(x, aweights=[1, 1])', 'np.histogram(x, [2, 1])',
    'np.histogram(x, 1, (2, 1))', 'np.gradient(x, [[1, 2, 3]])',
    'np.linalg.multi_dot([m, c, m])', 'np.cross(x[0], x)',
    'np.correlate(m, x)', 'np.lib.stride_tricks.sliding_window_view(x, 9)',
    'np.fft.rfft(x * 1j)', 'np.block([(x, x)])', 'np.quantile(x * 1j, 0.5)',
    'np.cov(x, fweights=[0.5, 1, 1])', 'np.cov(x, aweights=[[1, 1, 1]])',
    'np.bincount([1, 2, 0], x * 1j)',
    "np.histogram([1, 2, 3], 'auto', weights=x)", 'np.gradient(x, 1, 2)',
    'np.polyfit(x, x[None, None], 1)', 'np.polyfit(m, x, 1)',
    'np.polyfit(x[:0], x, 1)', 'np.polyfit(x, x[:2], 1)',
    'np.digitize(x * 1j, [1., 2])', 'np.matvec(x, x)', 'np.vecmat(s, m)',
    'np.subtract.reduce(m, axis=None)', 'np.subtract.accumulate(s)',
    'np.add.accumulate(m, axis=None)', 'np.add.reduceat(x, [3])',
    'np.equal.reduce(x)', 'np.bitwise_or.reduce(x[:1])',
    'np.add.reduce(x, initial=1j)', 'np.cos(x.astype(int), casting="no")',
    'np.sum(x, where=x)', 'np.mean(x, where=x)', 'np.std(x, where=x)',
    'np.any(x, where=np.ones(3, int))', 'np.nanmax(x, where=x, initial=0)',
    'np.copyto(y, 1, where=x)', 'np.add(x, 1, out=y, where=x)',
    'np.add.at(y, 0, [1])', 'np.insert(x, 0, 1j)', 'np.insert(x, 0, [1j])',
    'np.asarray(1j, dtype=np.float32, like=x)',
    'np.array([1j, x[0]], dtype=float)', 'np.piecewise(x, [x > 1], [1j, 0])',
    'np.interp(1j, x, x)', 'np.interp(x * 1j, x, x)',
    'np.interp(x, x * 1j, x)', 'np.interp(x, m, x)', 'np.interp(x, x, m)',
    'np.interp(x, s, s)', 'np.interp(x, x, x[:2])',
    'np.interp(x, x[:0], x[:0])', 'np.interp(x, x, x, left=x)',
    'np.interp(x, x, x, left=1j)', 'np.interp(x, x, x, period=0)',
    'np.correlate(s, s)', 'np.correlate(x, s)', "np.einsum('...i->i', m)",
    "np.einsum('...->', m)", "np.einsum('i1->i', m)", 'np.matmul(2.0, x)',
    'x[0] @ x', 'y.fill(x)', 'y.fill(x[:1])', 'y.fill([1])',
    'np.average(x[:0], weights=x[:0])', 'np.average(m[:, :0], 0)',
    'np.nanmean(x, dtype=int)', 'np.nanstd(x, dtype=int)',
    'np.std(m, 0, dtype=int)', 'np.sum(x, initial=1j)', 'np.max(x, [0])',
    'np.nanmin(x, [0])', 'np.cumsum(x, ())', 'np.sort(x, [])',
    'np.mean(s, 0)', 'np.std(s, -1)', 'np.clip(x, 0)',
    'np.clip(x, 0, 1, min=1)',
    'np.searchsorted(m, 0)', 'np.searchsorted(s, s)', 'np.put(y, x, 0)',
    'np.unravel_index(x, 3)', 'np.ravel_multi_index((x, x), (9, 9))',
    'np.place(m, 1., 2.)', 'np.linspace(0, s, 2.)',
    'np.polymul(m, x)',
    'np.roots(x.astype(np.float16))']
OWN_WORDS = [
    # NumPy 2.5 has other words.
    'np.linalg.cross(x[1:], x[1:])', 'np.cross(np.ones(4), np.append(x, 1))',
    'np.sum(m, 0, out=np.zeros(2, like=x))', 'y.flat.__setitem__(0, [1, 2])',
    "np.einsum('ij', x)", "np.einsum('i->ii', x)", "np.einsum('ii', m[:2])",
    'y.__setitem__(x[:2] > 1, 0)', 'm[[0, 1], [0, 1, 2]]',
    'np.concatenate([m, x[None, 1:]])', 'np.matmul(x, x[1:])',
    'np.linalg.solve(m, x[1:])', 'np.block([x, []])', 'np.block([x, [x]])',
    "np.quantile(x, 0.5, method='no')", 'np.cov(c)',
    'np.linalg.tensorsolve(m[:2], x[1:])',
    'np.sin(m, out=np.zeros(3, like=x))',
    'np.dot(m, x, out=np.zeros(3, int, like=x))']
SETUP = BEFORE + 'y = x * 1; c = np.stack([m, m])\n'


VALUES = [      # where NumPy's own code has special cases
    'np.roots(x[:2])', 'np.roots(np.append(x, [0, 0]))',
    'np.polymul([0, 0, 1.], x)', 'np.std(x, dtype=int)',
    'np.std(x > 1, dtype=int)', 'np.mean(x, where=[1., 0, 1])',
    'np.copyto(y, 1, where=[1., 0, 1]); r = y', 'np.interp(x, [1.], [x[0]])',
    'np.interp(x, [-np.inf, 1, 2, np.inf], x[[0, 1, 2, 0]])',
    'np.interp([0, 0.5, 1, 2, np.nan, np.inf], x, [1, np.inf, -2])',
    'np.interp([0.5, 1, np.nan], x, [np.inf, np.inf, 2])']


@pytest.mark.filterwarnings('ignore')
def test_special_cases_are_numpys():
    for call in VALUES:
        f = ran(f'{SETUP}r = {call}')
        expected = np.asarray(f(X.copy()))
        for way in WAYS.values():
            found, = results(way(f)(X.copy()))
            np.testing.assert_allclose(
                found, expected, 1e-15, err_msg=call)
            if 'roots' not in call:     # they are complex
                assert found.dtype == expected.dtype, call


def raised(f, x):
    """Return the error that a program raises, or None."""
    try:
        f(x)
    except Exception as error:
        return error
    return None


def raised_where_traced(f, way):
    found = []

    def g(x):
        found.append(raised(f, x))
        return x
    way(g)(X.copy())
    return found[0]


@pytest.mark.filterwarnings('ignore')
def test_common_errors_are_raised_only_where_numpy_raises_them():
    for call in SAME_WORDS + OWN_WORDS:
        f = ran(f'{SETUP}r = {call}')
        expected = raised(f, X.copy())
        same = tuple(kind for kind in KINDS if isinstance(expected, kind))
        words = '' if call in OWN_WORDS else str(expected).split('\n')[0]
        for way in (WAYS['jvp'], ad.make_jaxpr):
            error = raised_where_traced(f, way)
            assert same and isinstance(error, same), call
            assert words in str(error), call


ARGUMENTS = [
    '{o}', '{o}, {o}', '{o}, 0', '{o}, 1', '{o}, ()', '[{o}, {o}]', '[{o}]',
    '{o}, {o}, {o}', 'True, {o}, 2.', '[True], [{o}]', '{o}, 1., 2.',
    'x, {o}, 1', 'x, {o}', '{o}, None', '"ii", {o}', '"i->", {o}',
    '{o}, [0]', 'np.sum, {o}, 0', '0, [{o}, {o}]']
UNTOLD = {      # what NumPy's empty arrays hold, and arguments that hardly
    'np.empty', 'np.empty_like',        # any program passes
    'np.bincount', 'np.histogram', 'np.histogramdd', 'np.nanpercentile',
    'np.linalg.slogdet', 'np.modf'}     # it writes twice into one array


def functions():
    """Return the calls of the NumPy functions in our tables."""
    for function in (*function_table, *ufunc_table):
        for prefix, module in (('np.', np), ('np.linalg.', np.linalg),
                               ('np.fft.', np.fft), ('np.emath.', np.emath)):
            name = getattr(function, '__name__', '')
            if getattr(module, name, None) is function:
                yield prefix + name
                break


@pytest.mark.filterwarnings('ignore')
def test_every_numpy_call_is_computed_or_a_type_error():
    """Also, no function treats an array of shape () as a number."""
    names = sorted({*functions()} - UNTOLD)
    for name in names if amount.WHOLE else names[3::64]:
        for arguments, o in itertools.product(ARGUMENTS, ('s', 'a', 'x', 'm')):
            check_call(f'{name}({arguments.format(o=o)})')


def check_call(call):
    f, g = ran(f'{SETUP}r = {call}'), ran(f'{SETUP}w = {call}{AFTER}')
    with np.errstate(all='ignore'):
        if raised(f, X.copy()):
            return
        is_number = [
            isinstance(y, np.ndarray | np.generic) and y.ndim == 0
            and y.dtype.kind in 'iufc' for y in results(f(X.copy()))[:1]]
        for way in WAYS.values():
            error = raised_where_traced(f, way)
            assert not isinstance(error, HABITUAL), call
            if is_number == [True] and not raised(way(g), X.copy()):
                for y, z in zip(way(g)(X.copy()), g(X.copy()), strict=True):
                    np.testing.assert_allclose(y, z, 1e-12, 0, err_msg=call)


def test_no_attribute_of_arrays_is_missing():
    """`hasattr(x, 'strides')` is True in NumPy, and here it is refused."""
    names = [name for name in dir(np.ndarray) if not name.startswith('_')]
    assert [name for name in names if not hasattr(ad.Tracer, name)] == []

    def f(x):
        for name in ('strides', 'view', 'tobytes', '__reduce_ex__'):
            with pytest.raises(NotImplementedError, match='no memory'):
                hasattr(x, name)
        return x
    ad.jit(f)(X)


# Where to write: out= of the shape of the result, or of a larger one.

Z = '''
m = np.stack([x, x * 2]); c = np.stack([np.outer(x, x)] * 2)
def Z(shape, dtype=float):
    return np.zeros(shape, dtype, like=x)
'''
INTO = [
    'np.fft.fft(x, out=Z(3))', 'np.add.reduce(m, 0, out=Z((2, 3)))',
    'np.multiply.accumulate(x, out=Z((2, 3)))',
    'np.add.reduceat(x, [0, 1], out=Z(2))', 'np.add(x, 1, out=Z((2, 3)))',
    'np.add(m, 1, out=Z(3))', 'np.sum(m, 0, out=Z((2, 3)))',
    'np.modf(x, out=(Z((2, 3)), None))', 'np.clip(x, 0, 2, out=Z((2, 3)))',
    'np.take(x, [0, 1], out=Z(2))', 'np.nanmean(m, 0, out=Z((2, 3)))',
    'np.argmax(m, 0, out=Z(3, int))', 'np.sum(m, 0, out=Z(3, int))',
    'np.sin(x[:1], out=Z(3), where=[True, False, True])']
PARTLY = [      # which NumPy fills only in part, and we refuse
    'np.cumsum(m[:1], 0, out=Z((2, 3)))',
    'np.add.reduceat(x, [0, 1], out=Z((2, 2)))']


@pytest.mark.filterwarnings('ignore')
def test_out_accepts_what_numpy_accepts():
    x = np.array([1.25, 2.5, 3.75])
    for call in INTO:
        f = ran(f'{Z}r = {call}')
        expected = raised(f, x.copy())
        if expected is None:
            assert_every_way_is_numpy(f'{Z}r = {call}', x)
            continue
        for way in WAYS.values():
            error = raised_where_traced(f, way)
            for kind in TypeError, ValueError:
                assert isinstance(error, kind) == isinstance(
                    expected, kind), call
    for call in PARTLY:
        error = raised_where_traced(ran(f'{Z}r = {call}'), ad.jit)
        assert isinstance(error, NotImplementedError), call


def test_a_sum_is_computed_in_the_dtype_of_out_if_it_is_wider():
    x = np.full(99, 0.1, np.float32)
    for total in (
            'np.sum(x, out=Z(()))', 'np.add.reduce(x, out=Z(()))',
            'np.cumsum(x, out=Z(99))[-1]', 'np.mean(x, out=Z(()))',
            'np.prod(x[:9], out=Z(()))',
            'np.add.accumulate(x, out=Z(99))[-1]'):
        assert_every_way_is_numpy(f'{Z}r = {total}', x)
