"""What NumPy's functions hand out: arrays or numbers, and where they write.

The programs are text, run in plain NumPy and under each transformation.
"""

import ast
import itertools
import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest

import autodiff_mini as ad
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


FUNCTIONS = {f for f in (*function_table, *ufunc_table)
             if getattr(f, '__module__', 'numpy').startswith('numpy')
             and not isinstance(f, tuple)}


def spelled(function):
    """Return how a program calls a NumPy function, or None."""
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
    with warnings.catch_warnings(), np.errstate(all='ignore'):
        warnings.simplefilter('ignore')
        for name in sorted(filter(None, map(spelled, FUNCTIONS))):
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
    name if i % 16 == 0 else rest(name)
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


# Errors: of NumPy's class where NumPy raises one, and else not one that
# programs catch by habit.

HABITUAL = (ValueError, IndexError, KeyError, AttributeError,
            ArithmeticError, StopIteration)
WRONG = [
    'np.sum(m, 0, out=np.zeros(2, like=x))', 'y.flat.__setitem__(0, [1, 2])',
    'np.select([], [x])', 'np.linalg.norm(c, 1)', 'np.linalg.norm(m, 7)',
    "np.linalg.norm(x, 'fro')", 'np.diff(x, -1)', 'np.tensordot(x, x[1:], 1)',
    "np.einsum('ij', x)", "np.einsum('i->ii', x)",
    "np.einsum('ii', m[:2])", 'np.take_along_axis(x, np.array([[0]]), 0)',
    'np.take_along_axis(x, x, 0)', 'np.diag(c)', 'np.array_split(x, 0)',
    'np.split(x, 2)', 'np.squeeze(x, 0)', 'np.moveaxis(m, 0, (0, 1))',
    "np.meshgrid(x, x, indexing='no')", 'y.__setitem__(x[:2] > 1, 0)',
    'y.__setitem__(slice(2), x)', 'np.place(y, np.ones(3), [])', 'x[x]',
    'x[0, 0]', 'x[3]', 'm[[0, 1], [0, 1, 2]]', 'np.stack([x, x[1:]])',
    'np.concatenate([m, x[None, 1:]])', 'np.matmul(x, x[1:])',
    'np.linalg.det(x)', 'np.linalg.inv(m[:2])', 'np.linalg.solve(m, x[1:])',
    'np.max(x, where=[True, False, True])', 'np.broadcast_to(x, 2)',
    'np.block([x, []])', 'np.block([x, [x]])',
    'np.apply_along_axis(np.sum, 0, c[:, :0])', 'np.compress([[True]], x)',
    'np.quantile(x, np.zeros((1, 1, 1)))', 'np.quantile(x, 2)',
    "np.quantile(x, 0.5, method='no')", 'np.cov(x, ddof=0.5)', 'np.cov(c)',
    'np.cov(x, aweights=[-1, 1, 1])', 'np.bincount([0, 1], x)',
    'np.histogram([1, 2], weights=x)', 'np.histogramdd(m, bins=[1])',
    'np.histogramdd(m, bins=1, range=[(0, 1)])', "np.linalg.eigh(m, 'X')",
    "np.linalg.qr(m, 'no')", 'np.linalg.pinv(m, rcond=1, rtol=1)',
    'np.piecewise(x, [x > 0], [1, 2, 3])', 'np.fft.fft(x, 0)',
    'np.fft.fftn(m, [1, 2, 3], [0])', 'np.linalg.lstsq(m, x[1:])',
    'np.linalg.svd(x)', 'np.linalg.matrix_rank(m, 1, rtol=1)',
    'np.linalg.cond(m[:0])', 'np.linalg.multi_dot([m])',
    'np.linalg.tensorinv(m, 0)', 'np.linalg.tensorsolve(m[:2], x[1:])',
    'np.linalg.outer(m, m)', 'np.linalg.cross(x[1:], x[1:])',
    'np.polyfit(x, x, -1)', 'np.polyfit(x, x, 2, cov=True)', 'np.roots(m)',
    'np.gradient(x, edge_order=3)', 'np.gradient(x[:1])',
    'np.gradient(x, m)', 'np.gradient(x, x[1:])', 'np.cross(s, s)',
    'np.cross(np.ones(4), np.append(x, 1))', 'np.convolve(m, x)',
    'np.convolve(x, [])', "np.convolve(x, x, 'no')",
    'np.sin(m, out=np.zeros(3, like=x))',
    'np.dot(m, x, out=np.zeros(3, int, like=x))',
    'np.broadcast_to(m, 3)', 'np.linalg.lstsq(c, x)',
    'np.diagonal(m).fill(1)']
SETUP = BEFORE + 'y = x * 1; c = np.stack([m, m])\n'


def raised(f, x):
    """Return what a program raises, and the line of the library's."""
    try:
        f(x)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)
        return error, [(frame.filename, frame.lineno) for frame in last]
    return None, []


def raised_where_traced(f, way):
    found = []

    def g(x):
        found.append(raised(f, x))
        return x
    way(g)(X.copy())
    return found[0]


def raises_by_habit():
    """Return the lines of the library that raise an error of these."""
    names = {error.__name__ for error in (*HABITUAL, *(
        kind for error in HABITUAL for kind in error.__subclasses__()))}
    for path in sorted(PACKAGE.glob('*/*.py')) + sorted(PACKAGE.glob('*.py')):
        if path.parent.name in LAYERS or path.stem in REACHED:
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Raise) and node.exc is not None:
                    error = getattr(node.exc, 'func', node.exc)
                    if (getattr(error, 'attr', getattr(error, 'id', ''))
                            in names):
                        yield str(path), range(node.lineno,
                                               node.end_lineno + 1)


PACKAGE = Path(ad.__file__).parent
LAYERS = 'numpy_functions', 'primitives'     # that calls reach
REACHED = {'core', 'memory', 'numpy_api', 'arrays', 'boxes', 'writing', 'out',
           'ufuncs', *on_demand.MODULES} - {'custom_vmap'}


@pytest.mark.filterwarnings('ignore')
def test_an_error_caught_by_habit_is_raised_only_where_numpy_raises_it():
    reached = set()
    for call in WRONG:
        f = ran(f'{SETUP}r = {call}')
        expected, _ = raised(f, X.copy())
        assert isinstance(expected, HABITUAL), call
        for way in (WAYS['jvp'], ad.make_jaxpr):
            error, lines = raised_where_traced(f, way)
            same = [kind for kind in HABITUAL if isinstance(expected, kind)]
            assert same and isinstance(error, tuple(same)), (call, error)
            reached.update(lines)
    missed = [(path, lines[0]) for path, lines in raises_by_habit()
              if not reached & {(path, line) for line in lines}]
    assert not missed


STRANGE = {     # arguments that NumPy takes and hardly anybody passes
    'np.bincount', 'np.histogram', 'np.histogramdd', 'np.nanpercentile',
    'np.linalg.slogdet'}


@pytest.mark.filterwarnings('ignore')
@pytest.mark.parametrize('name', [
    name if i % 16 == 3 else rest(name)
    for i, name in enumerate(sorted(filter(None, map(spelled, FUNCTIONS))))
    if name not in STRANGE])
def test_a_refusal_of_ours_is_not_caught_by_habit(name):
    """What NumPy computes here is computed, or refused as a TypeError."""
    for arguments, o in itertools.product(ARGUMENTS, ('s', 'a', 'x', 'm')):
        f = ran(f'{SETUP}r = {name}({arguments.format(o=o)})')
        with np.errstate(all='ignore'):
            expected, _ = raised(f, X.copy())
            if expected is None:
                for way in WAYS.values():
                    error, _ = raised_where_traced(f, way)
                    assert not isinstance(error, HABITUAL), (arguments, o)


def test_no_attribute_of_arrays_is_missing():
    """`hasattr(x, 'strides')` is True in NumPy, and here it is refused."""
    names = [name for name in dir(np.ndarray) if not name.startswith('_')]
    assert [name for name in names if not hasattr(ad.Tracer, name)] == []

    def f(x):
        for name in ('strides', 'view', 'flags', 'tobytes'):
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
    'np.add.reduce(m, 0, out=Z(3))', 'np.add.reduce(m, 0, out=Z((1, 3)))',
    'np.add.accumulate(x, out=Z(3))',
    'np.multiply.accumulate(x, out=Z((2, 3)))',
    'np.add.reduceat(x, [0, 1], out=Z(2))',
    'np.add.outer(x, x, out=Z((3, 3)))', 'np.add(x, 1, out=Z((2, 3)))',
    'np.add(x, 1, out=Z(4))', 'np.add(m, 1, out=Z(3))',
    'np.sum(m, 0, out=Z((2, 3)))', 'np.sum(m, 0, out=Z((1, 3)))',
    'np.cumsum(x, out=Z((2, 3)))', 'np.cumsum(x, out=Z(4))',
    'np.matmul(m, m.T, out=Z((2, 2)))',
    'np.divmod(x, 2, out=(Z((2, 3)), Z((2, 3))))',
    'np.modf(x, out=(Z((2, 3)), None))', 'np.clip(x, 0, 2, out=Z((2, 3)))',
    'np.mean(m, 0, out=Z((2, 3)))', 'np.var(m, 0, out=Z((2, 3)))',
    'np.take(x, [0, 1], out=Z(2))', 'np.dot(m, x, out=Z(2))',
    'np.concatenate([x, x], out=Z(6))', 'np.prod(m, 0, out=Z((2, 3)))',
    'np.max(m, 0, out=Z((2, 3)))', 'np.any(m, 0, out=Z((2, 3), bool))',
    'np.argmax(m, 0, out=Z(3, int))', 'np.nanmean(m, 0, out=Z((2, 3)))',
    'np.trace(c, out=Z(3))', 'np.einsum("ij->i", m, out=Z(2))',
    'np.sum(m, 0, out=Z(3, int))', 'np.subtract.reduce(m, 0, out=Z((2, 3)))',
    'np.sin(x[:1], out=Z(3), where=[True, False, True])']


@pytest.mark.filterwarnings('ignore')
@pytest.mark.parametrize('call', INTO)
def test_out_takes_what_numpy_lets_it_take(call):
    f, x = ran(f'{Z}r = {call}'), np.array([1.25, 2.5, 3.75])
    expected, _ = raised(f, x.copy())
    if expected is None:
        assert_every_way_is_numpy(f'{Z}r = {call}', x)
    for way in WAYS.values() if expected else ():
        error, _ = raised_where_traced(f, way)
        for kind in TypeError, ValueError:
            assert isinstance(error, kind) == isinstance(expected, kind)


@pytest.mark.parametrize('call', [
    'np.add.accumulate(m[:1], 0, out=Z((2, 3)))',
    'np.cumsum(m[:1], 0, out=Z((2, 3)))',
    'np.add.reduceat(x, [0, 1], out=Z((2, 2)))'])
def test_out_of_which_numpy_fills_a_part_is_refused(call):
    for way in WAYS.values():
        error, _ = raised_where_traced(ran(f'{Z}r = {call}'), way)
        assert isinstance(error, NotImplementedError)


@pytest.mark.parametrize('total', [
    'np.sum(x, out=Z(()))', 'np.add.reduce(x, out=Z(()))',
    'np.cumsum(x, out=Z(99))[-1]', 'np.mean(x, out=Z(()))',
    'np.prod(x[:9], out=Z(()))', 'np.add.accumulate(x, out=Z(99))[-1]'])
def test_a_sum_is_computed_in_the_dtype_of_out_if_it_is_wider(total):
    x = np.full(99, 0.1, np.float32)
    assert_every_way_is_numpy(f'{Z}r = {total}', x)
