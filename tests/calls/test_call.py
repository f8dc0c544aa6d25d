"""call.py: the equations of a primitive that carries a function.

They are row D5 of *What the documents ask*: vmap(call(f)) == call(vmap(f)),
jvp(call(f)) == call(jvp(f)), and eval(call(f)) == eval(f).
"""

from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.calls.call import call
from autodiff_mini.core.names import TraceTag
from autodiff_mini.interpreters.jvp import JVPTracer, jvp_flat
from autodiff_mini.interpreters.vmap import BatchTracer
from tests.support.numerical import assert_close, assert_same
from tests.support.traces import SpyTrace, SpyTracer, spied
from tests.support.transforms import d
from tests.support.trees import Pair, assert_trees

X = np.linspace(0.2, 1.5, 3)
A = np.arange(6.).reshape(2, 3) / 4


def called(f):
    """Return `f`, as one operation."""
    return partial(call, f)


def trees(x):
    return Pair({'s': np.sin(x), 'c': 3.0}, [x * x, None, x.sum()])


FUNCTIONS = [
    np.sin, lambda x: (x * x, np.cos(x), x.sum()), trees, lambda x: x,
    lambda x: np.ones(2), lambda x: 2.0, lambda x: None,
    lambda x: call(np.sin, x) * x, lambda x: ad.jvp(np.tanh, (x,), (x,)),
    lambda x: ad.vmap(called(np.tanh))(x) * x]
TRANSFORMATIONS = {
    'v': ad.vmap, 'j': lambda f: lambda x: ad.jvp(f, (x,), (x + 1,)),
    's': lambda f: lambda x: out_of_spy(f, x)}


def out_of_spy(f, x):
    out = []
    spied(lambda x: out.append(ad.tree_map(
        lambda y: y.value if type(y) is SpyTracer else y, f(x))) or 0.0, x)
    return out[0]


def nest(names, f):
    for name in reversed(names):
        f = TRANSFORMATIONS[name](f)
    return f


@pytest.mark.asks('D5')
@pytest.mark.parametrize('names', [
    '', 'v', 'j', 's', 'vj', 'jv', 'jj', 'jvj', 'vjv', 'vvj', 'sj', 'sv'])
def test_transforming_and_calling_commute(names):
    """eval(call(f)) == eval(f), and so on, under every nesting."""
    x = np.linspace(0.1, 2, 3 * 4 ** names.count('v'))
    x = x.reshape(*[4] * names.count('v'), 3)
    for f in FUNCTIONS:
        expected = nest(names, f)(x)
        assert_trees(nest(names, called(f))(x), expected)
        assert_trees(called(nest(names, f))(x), expected)


@pytest.mark.asks('D5')
def test_a_transformed_function_keeps_its_name():
    def squares(x):
        return x * x

    for g in (called(squares), ad.vmap(called(squares)), d(called(squares)),
              ad.vmap(d(called(squares)))):
        with SpyTrace(None) as trace:
            g(X)
        (params,) = trace.params
        names = str(getattr(params['fun'], '__qualname__', params['fun']))
        assert 'squares' in names


def test_each_transformation_runs_the_function_once():
    runs = []

    def f(x):
        runs.append(x)
        return x * x

    ad.vmap(d(ad.vmap(d(called(f)))))(np.ones((2, 3)))
    assert len(runs) == 1


def test_symbolic_zeros_stay_symbolic_through_several_calls_and_vmap():
    def f(x, c):
        return list(call(lambda x, c: call(lambda c, x: (x * 2, c), c, x),
                         x, c))

    tag = TraceTag('jvp', None)
    for g in (f, lambda *xs: list(ad.vmap(lambda *xs: tuple(f(*xs)))(*xs))):
        _, dots = jvp_flat(g, [X, X], [X, ad.Zero(X)], tag)
        assert [type(t) is ad.Zero for t in dots] == [False, True]


def test_integers_have_float0_tangents():
    n, zero = np.arange(3), np.zeros(3, ad.float0)
    y, y_dot = ad.jvp(called(lambda n, x: (n * 2, n * x)), (n, X), (zero, X))
    assert y_dot[0].dtype == ad.float0
    assert_same(y_dot[1], n * X)


def test_nested_calls_close_over_values_of_each_level():
    def f(x):
        def g(y):
            def h(z):
                return call(lambda w: call(lambda: x * y * z * w), z)
            return ad.vmap(h)(X)            # x y z^2
        return d(g)(1.0)                    # x z^2
    assert_close(ad.vmap(d(f))(A[0]), np.stack([X * X] * 3))


def test_escaped_tracers_are_named():
    leaked = []
    for transform in (d, ad.vmap):
        transform(called(lambda x: leaked.append(x * 2) or x))(X)
        with pytest.raises(ad.UnexpectedTracerError, match='had returned'):
            leaked[-1] + 1
    assert [type(x) for x in leaked] == [JVPTracer, BatchTracer]
