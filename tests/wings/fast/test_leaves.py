"""The short roads: results, errors, and warnings of the usual ones."""

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.wings.fast import leaves
from tests.support.amount import each
from tests.tables.programs import PROGRAMS, is_inexact
from tests.wings.fast.both_ways import check_both_ways

X = np.linspace(0.1, 1.0, 10)
A = np.arange(6.0).reshape(2, 3)
STILL = X.copy()
STILL.flags.writeable = False


def along(f, *xs, has_aux=False):
    """Return a call of `jvp` along twice the primals."""
    ts = tuple(x + x for x in xs)
    return lambda: ad.jvp(f, xs, ts, has_aux)


def escaped():
    kept = []
    ad.jvp(lambda x: kept.append(x) or x, (1.0,), (1.0,))
    return ad.jvp(lambda x: kept[0], (2.0,), (1.0,))


def write(x, where=0):
    x[where] = 2.0
    return x


def of_no_array(x):
    f = ad.custom_jvp(lambda x: object)
    f.defjvp(lambda primals, tangents: (f(*primals), tangents[0]))
    return f(x)


CALLS = {
    # One result
    'array': along(np.sin, X), 'numbers': along(lambda x, y: x / y, 2.0, 3.0),
    'NumPy numbers': along(np.exp, np.float32(2)),
    'complex': along(np.exp, 1j * X), 'short': along(np.tanh, X[:0]),
    'array of shape ()': along(np.sin, np.array(2.0)),
    'no tangent': along(np.sign, X), 'a mask': along(lambda x: x > 0.5, X),
    'two types': along(lambda x, y: x * y, X, 2.0),
    'weak and strong': along(lambda x: x * np.float64(3), 2.0),
    # The memory of results
    'argument': along(lambda x: x, X), 'view': along(lambda x: x[1:], X),
    'transposed': along(lambda x: np.sin(x.reshape(2, 5)).T, X),
    'broadcast': along(lambda x: np.broadcast_to(x, (2, 10)), X),
    'read-only': along(np.sin, STILL),
    'write': along(lambda x: write(np.sin(x)), X),
    'overwritten': along(lambda x: write(np.sin(x), ...), X),
    # Surprises after the call
    'constant': along(lambda x: X, X), 'pair': along(lambda x: (x, x * x), X),
    'tree': along(lambda x: {'a': [x, None], 'b': 2.0}, X),
    'nothing': along(lambda x: None, X), 'text': along(lambda x: 'x', X),
    'aux': along(lambda x: (x, (x, 'text')), X, has_aux=True),
    'aux missing': along(lambda x: x, X, has_aux=True),
    'no array in a batch': lambda: ad.vmap(of_no_array)(X),
    'outer': lambda: ad.jvp(
        lambda y: ad.jvp(lambda x: x * y, (2.0,), (3.0,))[1], (4.0,), (5.0,)),
    'only outer': lambda: ad.jvp(
        lambda y: ad.jvp(lambda x: y, (2.0,), (3.0,)), (4.0,), (5.0,)),
    'inside vmap': lambda: ad.vmap(
        lambda y: ad.jvp(lambda x: x * y, (2.0,), (3.0,)))(X),
    'inside jit': lambda: ad.jit(along(np.sin, X))(),
    'escaped': escaped, 'error': along(lambda x: x[20], X),
    'write into argument': along(write, X),
    # Surprises before it
    'lists': lambda: ad.jvp(np.sin, [2.0], [3.0]),
    'trees': lambda: ad.jvp(lambda d: d['a'], ({'a': X},), ({'a': X},)),
    'shapes': lambda: ad.jvp(np.sin, (X,), (X[1:],)),
    'dtypes': lambda: ad.jvp(np.sin, (X,), (X.astype(np.float32),)),
    'weak tangent': lambda: ad.jvp(np.sin, (np.float64(2),), (1.0,)),
    'numbers of them': lambda: ad.jvp(np.multiply, (X, X), (X,)),
    'integers': along(np.sin, 2),
    'objects': along(np.sin, np.array([1.5], object)),
    'nothing given': lambda: ad.jvp(lambda: 3.0, (), ())}


def mapped(f, *xs, in_axes=0, **options):
    """Return a call of `vmap` of a function."""
    return lambda: [ad.vmap(f, in_axes, **options)(*xs)]


def shown(x):
    return [f'{x.flags.writeable}'] if type(x) is np.ndarray else ['traced']


MAPPED = {
    # One result
    'matrix': mapped(np.sum, A), 'numbers': mapped(np.sin, X),
    'two': mapped(np.multiply, X, X), 'empty': mapped(np.sin, X[:0]),
    'integers': mapped(lambda x: x * 2, np.arange(3)),
    'masks': mapped(np.logical_not, X > 0.5),
    'unmapped': mapped(np.dot, A, X[:3], in_axes=(0, None)),
    'unmapped number': mapped(np.multiply, X, 2.0, in_axes=(0, None)),
    'unmapped tree': mapped(lambda d, x: d['a'] * x, {'a': X}, X,
                            in_axes=(None, 0)),
    'list of axes': mapped(np.dot, A, X[:3], in_axes=[0, None]),
    # The memory of arguments and results
    'argument': mapped(lambda x: x, A), 'view': mapped(lambda x: x[1:], A),
    'write': mapped(lambda x: write(np.sin(x)), A),
    'overwritten': mapped(lambda x: write(np.sin(x), ...), A),
    'write into argument': mapped(write, A),
    'write into unmapped': mapped(lambda x, y: write(x) * y, X, X,
                                  in_axes=(None, 0)),
    'change unmapped': mapped(lambda d, x: d.update(b=x) or x, {'a': X}, X,
                              in_axes=(None, 0)),
    # Surprises after the call
    'unmapped result': mapped(lambda x: 2.0, X),
    'pair': mapped(lambda x: (x, x * x), X), 'text': mapped(shown, X),
    'nothing': mapped(lambda x: None, X), 'out_axes': mapped(
        lambda x: x * x, A, out_axes=1),
    'no out_axes': mapped(lambda x: 2.0, X, out_axes=None),
    'mapped but no out_axes': mapped(lambda x: x, X, out_axes=None),
    'shared': mapped(lambda x: x * 0 + 1, X, out_axes=None),
    'wrong out_axes': mapped(lambda x: x, X, out_axes=False),
    'outer': lambda: ad.vmap(lambda x: ad.vmap(lambda y: x)(X))(X),
    'inside grad': lambda: [ad.grad(lambda x: np.sum(
        ad.vmap(lambda y: x * y)(X)))(2.0)],
    # Surprises before it
    'axis 1': mapped(np.sum, A, in_axes=1), 'axis -1': mapped(
        np.sum, A, in_axes=-1), 'no axis': mapped(np.sum, A, in_axes=None),
    'wrong axis': mapped(np.sum, A, in_axes=False),
    'axes': mapped(np.sum, A, in_axes=(0, 0)), 'no arguments': mapped(
        lambda: 2.0), 'number': mapped(np.sin, 2.0),
    'sizes': mapped(np.multiply, X, X[1:]), 'size': mapped(
        np.sin, X, axis_size=3), 'array of shape ()': mapped(
        np.sin, np.array(2.0)), 'lists': mapped(lambda xs: xs[0], [X]),
    'objects': mapped(np.sin, X.astype(object)), 'keywords': lambda: ad.vmap(
        lambda x, y: x * y)(X, y=X)}


@pytest.mark.parametrize('call', [*CALLS.values(), *MAPPED.values()],
                         ids=[*CALLS, *[f'vmap {name}' for name in MAPPED]])
def test_the_short_road_gives_what_the_general_road_gives(call):
    check_both_ways(call)


@each(PROGRAMS)
def test_the_short_road_has_the_bits_of_the_general_road(program):
    if all(map(is_inexact, program.args)):
        check_both_ways(along(
            lambda *xs: program.function(np, *xs), *program.args))


def test_the_results_belong_to_the_caller():
    x, t = X.copy(), X.copy()
    for f in (lambda x: x), np.sin, (lambda x: x[::2]), np.transpose:
        y, y_dot = ad.jvp(f, (x,), (t,))
        y += 1
        y_dot += 1
        np.testing.assert_array_equal((x, t), (X, X))
        assert not np.shares_memory(y, y_dot)
    a = A.copy()
    for f in (lambda x: x), np.sin, (lambda x: x[::2]):
        y = ad.vmap(f)(a)
        y += 1
        np.testing.assert_array_equal(a, A)


def test_the_function_runs_once():
    for result in 1.0, None, 'text', {}, X:
        for transform in (lambda f: ad.jvp(f, (X,), (X,))), (
                lambda f: ad.vmap(f)(X)):
            runs = []
            check = lambda x: runs.append(x) or result
            try:
                transform(check)
            except TypeError:
                assert result == 'text'
            assert len(runs) == 1


def test_one_array_needs_no_trees(monkeypatch):
    for name in 'jvp_of_trees', 'results_of_jvp':
        monkeypatch.setattr(leaves, name, None)
    for name in 'vmap_of_trees', 'results_of_vmap':
        monkeypatch.setattr(leaves, name, None)
    y, y_dot = ad.jvp(lambda x, y: np.sin(x) * y, (X, 2.0), (X, 0.0))
    np.testing.assert_array_equal(y, np.sin(X) * 2)
    np.testing.assert_array_equal(y_dot, np.cos(X) * X * 2)
    y = ad.vmap(lambda x, y: np.sin(x) * y['two'], (0, None))(X, {'two': 2.0})
    np.testing.assert_array_equal(y, np.sin(X) * 2)
