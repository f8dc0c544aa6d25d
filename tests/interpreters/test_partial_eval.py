"""Partial evaluation: known values are computed, and the rest is recorded."""

from functools import partial

import numpy as np

import autodiff_mini as ad
from autodiff_mini.core.names import TraceTag
from autodiff_mini.core.types import typeof
from autodiff_mini.interpreters.jaxpr import JaxprTracer, eval_jaxpr
from autodiff_mini.interpreters.partial_eval import linear_flat
from autodiff_mini.primitives.elementwise import cos_p, exp_p, sin_p
from tests.support.amount import each
from tests.support.jaxpr_checks import check_jaxpr
from tests.support.numerical import (
    assert_close, assert_same, assert_same_type)
from tests.support.tangents import tangents_for
from tests.support.traces import spied
from tests.tables.custom_programs import CUSTOM_PROGRAMS
from tests.tables.programs import PROGRAMS, is_inexact

X = np.arange(3.) + 1


@each(PROGRAMS + CUSTOM_PROGRAMS, composed=True)
def test_linearize_is_jvp(program):
    """Values and dtypes, for complex programs, too."""
    f, tangents = partial(program.function, np), tangents_for(program)
    y, y_dot = ad.jvp(f, program.args, tangents)
    out, f_jvp = ad.linearize(f, *program.args)
    linear = f_jvp(*tangents)
    assert_same(out, y, program.ulps)
    assert type(linear) is type(y_dot)
    assert_same_type(linear, y_dot)
    if is_inexact(y):
        assert_close(linear, y_dot)


def names(jaxpr):
    return [eqn.primitive.name for eqn in jaxpr.eqns]


def test_known_operations_are_not_recorded():
    f = lambda x: np.sin(x) * np.exp(x)
    _, counts = spied(lambda x: ad.linearize(f, x)[0], X)
    assert counts[sin_p] == counts[cos_p] == counts[exp_p] == 1
    jaxpr = ad.linearize(f, X)[1].program.jaxpr
    assert sorted(names(jaxpr)) == ['add'] + 4 * ['mul']


def test_some_arguments_can_be_known():
    def f(x):
        y = np.sin(X)
        assert (type(x), type(y)) == (JaxprTracer, np.ndarray)
        return [np.cos(x) * y, y, 2.0]

    jaxpr = linear_flat(f, [typeof(X)], TraceTag('test', np.sin))
    assert names(jaxpr) == ['cos', 'mul']
    ad.tree_map(assert_same, eval_jaxpr(jaxpr, jaxpr.consts, X),
                [np.cos(X) * np.sin(X), np.sin(X), 2.0])


def test_residuals_are_snapshots():
    """Hard case 11; the outputs belong to the caller."""
    x, c = X.copy(), X.copy()
    y, f_jvp = ad.linearize(lambda x: x * x * c, x)
    x[:], c[:] = 100., 200.
    assert_same(f_jvp(np.ones(3)), 3 * X * X - X * X)
    filled = ad.custom_jvp(np.sin)
    filled.defjvp(lambda p, t: (np.sin(*p), np.zeros_like(*t)))
    for f, slope in (np.exp, np.exp(X)), (filled, 0 * X):
        y, f_jvp = ad.linearize(f, X)
        y[:] = f_jvp(X)[:] = 9.0
        assert_same(f_jvp(np.ones(3)), slope)


def test_outer_tracers_are_residuals():
    """For linearize inside jvp, vmap, make_jaxpr, and linearize."""
    f = lambda x: ad.linearize(lambda y: y * y * x, x)[1](1.0)
    assert_close(f(3.0), 18.0)
    assert_close(ad.jvp(f, (3.0,), (1.0,))[1], 12.0)
    assert_close(ad.grad(f)(3.0), 12.0)
    assert_close(ad.linearize(f, 3.0)[1](1.0), 12.0)
    assert_close(ad.vmap(f)(X), 2 * X * X)
    jaxpr = ad.make_jaxpr(f)(3.0)
    check_jaxpr(jaxpr)
    assert_close(ad.eval_jaxpr(jaxpr, jaxpr.consts, 4.0)[0], 32.0)
