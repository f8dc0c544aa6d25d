"""`custom_vmap`: a function that carries its own batching.

The rule of `square` is a lie: a batch of x^2 is 3 x^2.  So it shows where the
rule was asked, and where the function.  What JAX can run has the same values
there (tests/test_jax_oracle.py).
"""

import copy
import itertools
import math
import pickle
from collections import namedtuple
from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core import Trace, current_trace
from autodiff_mini.more.custom_vmap import custom_vmap_call_p
from autodiff_mini.interpreters.transpose import rules as transpose_rules
from tests.amount import crossed, rest
from tests.numerical import assert_close, assert_same
from tests.test_staged_calls import TRANSFORMS
from tests.traces import spied

X = np.array([0.5, 1.0, 2.0])
Pair = namedtuple('Pair', 'x y')


@ad.custom_vmap
def square(x):
    return x * x


@square.def_vmap
def square_vmap(axis_size, in_batched, x):
    return 3 * x * x, in_batched[0]


def assert_trees(actual, expected):
    assert ad.tree_structure(actual) == ad.tree_structure(expected)
    for a, b in zip(ad.tree_leaves(actual), ad.tree_leaves(expected),
                    strict=True):
        assert_same(a, b)


def custom(f, rule):
    """Returns `f` with a rule."""
    f = ad.custom_vmap(f)
    f.def_vmap(rule)
    return f


def one_like(x):
    aval = ad.typeof(x)
    one = np.ones(aval.shape, aval.dtype)[()]
    return one.item() if aval.weak_type else one


def d(f):
    return lambda x: ad.jvp(f, (x,), (one_like(x),))[1]


def by_linearize(f):
    return lambda x: ad.linearize(f, x)[1](one_like(x))


def total(f):
    return lambda x: np.sum(f(x))


def written_down(f):
    def run(x):
        jaxpr = ad.make_jaxpr(f)(x)
        y, = ad.eval_jaxpr(jaxpr, jaxpr.consts, x)
        assert [(aval.shape, aval.dtype) for aval in jaxpr.out_avals] == [
            (np.shape(y), np.result_type(y))]
        return y
    return run


def by_transpose(f):
    """Returns `f`, by way of a function that is linear in something else."""
    def run(x):
        back = ad.linear_transpose(lambda t: t * f(x), 1.0)
        return back(1.0)[0]
    return run


def ruled_out(f):
    """Returns `f` inside of a function with a true rule for the way out."""
    g = ad.custom_jvp(lambda x: f(x))
    g.defjvp(lambda p, t: ad.jvp(f, p, t))
    return g


def ruled_back(f):
    """Returns `f` inside of a function with a true rule for the way back."""
    g = ad.custom_vjp(lambda x: f(x))
    g.defvjp(lambda x: (f(x), x), lambda x, ct: ad.vjp(f, x)[1](ct))
    return g


def within(f):
    """Returns `f` inside of another function with a rule, which asks `f`."""
    return custom(lambda x: f(x),
                  lambda n, b, x: (ad.vmap(f)(x), True))


WRAPS = {   # each does nothing to the value
    'as_it_is': lambda f: f,
    'jit': ad.jit,
    'jaxpr': written_down,
    'twice_written': lambda f: written_down(written_down(f)),
    'checkpoint': ad.checkpoint,
    'cond': lambda f: lambda x: ad.cond(x > 0, f, np.sin, x),
    'other_branch': lambda f: lambda x: ad.cond(x < 0, np.sin, f, x),
    'scan': lambda f: lambda x: ad.scan(
        lambda c, _: (f(c), None), x, length=1)[0],
    'scan_of_rows': lambda f: lambda x: ad.scan(
        lambda _, x: (None, f(x)), None, np.stack([x]))[1][0],
    'linear': by_transpose,
    'custom_jvp': ruled_out,
    'custom_vjp': ruled_back,
    'custom_vmap': within,
}
ORDERS = {  # derivatives, and their orders
    'value': ([], 0), 'jvp': ([d], 1), 'grad': ([ad.grad], 1),
    'linearize': ([by_linearize], 1),
    'jacfwd': ([ad.jacfwd], 1), 'jacrev': ([ad.jacrev], 1),
    'jvp_jvp': ([d, d], 2), 'grad_grad': ([ad.grad, ad.grad], 2),
    'jvp_grad': ([ad.grad, d], 2), 'grad_jvp': ([d, ad.grad], 2),
    'grad_jit_jvp': ([d, ad.jit, ad.grad], 2), 'hessian': ([ad.hessian], 2),
    'grad_jvp_grad': ([ad.grad, d, ad.grad], 3),
}
TRUTH = [lambda x: x * x, lambda x: 2 * x, lambda x: 2 + 0 * x,
         lambda x: 0 * x]


def derivative(name, f):
    for way in ORDERS[name][0]:
        f = way(f)
    return f


# A function with a rule for the way back has none for the way out.
FORWARDS = {'jvp', 'linearize', 'jacfwd', 'jvp_jvp', 'grad_jvp',
            'grad_jit_jvp'}


PLACES = {  # vmap of the derivative, derivative of vmap, with jit around
    'vmap': lambda order, f: ad.vmap(derivative(order, f)),
    'jit_vmap': lambda order, f: ad.jit(ad.vmap(derivative(order, f))),
    'vmap_jit': lambda order, f: ad.vmap(ad.jit(derivative(order, f))),
    'jaxpr': lambda order, f: ad.vmap(written_down(derivative(order, f))),
}


def check(f, x, expected, wrap, order):
    if wrap == 'custom_vjp' and order in FORWARDS:
        with pytest.raises(TypeError, match='forward-mode'):
            f(x)
    else:
        assert_close(f(x), expected)
    assert current_trace() is Trace.base


@pytest.mark.parametrize('place', PLACES)
@crossed('order, wrap', ORDERS, WRAPS, 4)
def test_the_rule_survives_each_transformation(place, order, wrap):
    f = PLACES[place](order, WRAPS[wrap](square))
    check(f, X, 3 * TRUTH[ORDERS[order][1]](X), wrap, order)


# Jacobians map the tangents, and are another test's.
@crossed('order, wrap', [name for name in ORDERS if name not in (
    'jacfwd', 'jacrev', 'hessian')], WRAPS, 2)
def test_without_an_axis_the_function_is_asked(order, wrap):
    f = derivative(order, WRAPS[wrap](square))
    check(f, 2.0, TRUTH[ORDERS[order][1]](2.0), wrap, order)


SUMS = {'grad': ad.grad, 'jacrev': ad.jacrev, 'jacfwd': ad.jacfwd,
        'grad_of_jit': lambda f: ad.grad(ad.jit(f)),
        'jit_of_grad': lambda f: ad.jit(ad.grad(f)),
        'written': lambda f: written_down(ad.grad(written_down(f)))}


@crossed('by, wrap', SUMS, WRAPS, 2)
def test_the_derivative_of_a_batch_is_that_of_the_rule(by, wrap):
    f = total(ad.vmap(WRAPS[wrap](square)))
    check(SUMS[by](f), X, 6 * X, wrap, by)


def test_the_rule_survives_in_a_while_loop():
    f = lambda x: ad.while_loop(
        lambda c: c[0] < 1, lambda c: (c[0] + 1, square(c[1])), (0, x))[1]
    for g in f, ad.jit(f), written_down(f):
        assert_close(ad.vmap(g)(X), 3 * X * X)
        assert_close(ad.vmap(d(g))(X), 6 * X)
        assert_close(d(ad.vmap(g))(X), 6 * X)
        assert_close(ad.vmap(ad.jacfwd(g))(X), 6 * X)
        assert g(2.0) == 4.0


def test_vmap_of_vmap_asks_the_rule_for_the_inner_axis():
    """As in JAX: what the rule does is mapped over the outer axis."""
    asked = []

    def rule(n, b, x):
        asked.append((n, b, np.shape(x)))
        return 3 * x * x, True
    f = custom(lambda x: x * x, rule)
    xs = np.outer([1.0, 2.0], X)
    assert_close(ad.vmap(ad.vmap(f))(xs), 3 * xs * xs)
    assert asked == [(3, [True], (3,))]
    assert_close(ad.vmap(ad.vmap(f), 1, 1)(xs), 3 * xs * xs)
    assert_close(ad.vmap(ad.vmap(ad.grad(f)))(xs), 6 * xs)
    assert_close(ad.vmap(ad.grad(total(ad.vmap(f))))(xs), 6 * xs)
    # the outer axis alone reaches the function, in a batch of nothing
    assert_close(ad.vmap(lambda x: ad.vmap(
        lambda y: f(x) + y)(X))(X), 3 * X[:, None] ** 2 + X)


# Both orders

def test_custom_jvp_outside_decides_how_it_moves():
    f = ad.custom_jvp(lambda x: square(x))
    f.defjvp(lambda p, t: (f(*p), 5 * p[0] * t[0]))
    for g in f, ad.jit(f), written_down(f), ad.checkpoint(f):
        assert_close(ad.vmap(g)(X), 3 * X * X)
        for slope in (d(ad.vmap(g)), ad.vmap(d(g)), ad.vmap(ad.grad(g)),
                      ad.grad(total(ad.vmap(g)))):
            assert_close(slope(X), 5 * X)
        assert ad.grad(g)(2.0) == 10.0


def test_custom_jvp_inside_is_asked_by_the_function_and_by_the_rule():
    inner = ad.custom_jvp(lambda x: x * x)
    inner.defjvp(lambda p, t: (inner(*p), 5 * p[0] * t[0]))
    f = custom(lambda x: inner(x), lambda n, b, x: (3 * inner(x), True))
    for g in f, ad.jit(f), written_down(f), ad.checkpoint(f):
        assert_close(ad.vmap(g)(X), 3 * X * X)
        for slope in (d(ad.vmap(g)), ad.vmap(d(g)), ad.vmap(ad.grad(g)),
                      ad.grad(total(ad.vmap(g)))):
            assert_close(slope(X), 15 * X)
        assert_close(ad.vmap(ad.grad(ad.grad(g)))(X), 15 + 0 * X)
        assert ad.grad(g)(2.0) == 10.0


def test_custom_vjp_outside_decides_how_it_goes_back():
    f = ad.custom_vjp(lambda x: square(x))
    f.defvjp(lambda x: (f(x), x), lambda x, ct: (5 * x * ct,))
    for g in f, ad.jit(f), written_down(f), ad.checkpoint(f):
        assert_close(ad.vmap(g)(X), 3 * X * X)
        assert_close(ad.vmap(ad.grad(g))(X), 5 * X)
        assert_close(ad.grad(total(ad.vmap(g)))(X), 5 * X)
        assert ad.grad(g)(2.0) == 10.0


def test_custom_vjp_inside_is_asked_by_the_function_and_by_the_rule():
    inner = ad.custom_vjp(lambda x: x * x)
    inner.defvjp(lambda x: (inner(x), x), lambda x, ct: (5 * x * ct,))
    f = custom(lambda x: inner(x), lambda n, b, x: (3 * inner(x), True))
    for g in f, ad.jit(f), written_down(f), ad.checkpoint(f):
        assert_close(ad.vmap(g)(X), 3 * X * X)
        assert_close(ad.vmap(ad.grad(g))(X), 15 * X)
        assert_close(ad.grad(total(ad.vmap(g)))(X), 15 * X)
        assert ad.grad(g)(2.0) == 10.0
    with pytest.raises(TypeError, match='forward-mode'):
        ad.vmap(d(f))(X)


def test_a_function_with_all_three_rules():
    """The way out says 5x, the way back 7x, and a batch is thrice."""
    f = ad.custom_vjp(lambda x: square(x))
    f.defjvp(lambda p, t: (f(*p), 5 * p[0] * t[0]))
    f.defvjp(lambda x: (f(x), x), lambda x, ct: (7 * x * ct,))
    assert_close(ad.vmap(f)(X), 3 * X * X)
    assert_close(ad.vmap(d(f))(X), 5 * X)
    assert_close(ad.vmap(ad.grad(f))(X), 7 * X)


def test_a_bwd_with_a_rule_for_batches():
    """Where the cotangents are mapped, the way back is a batch."""
    f = ad.custom_vjp(lambda x: x * x)
    back = custom(lambda x, ct: 2 * x * ct,
                  lambda n, b, x, ct: (20 * x * ct, True))
    f.defvjp(lambda x: (f(x), x), lambda x, ct: (back(x, ct),))
    assert_close(ad.vmap(ad.grad(f))(X), 20 * X)
    assert_close(ad.jit(ad.vmap(ad.grad(f)))(X), 20 * X)
    assert ad.grad(f)(2.0) == 4.0


# What the rule is asked

def watched(f):
    """Returns `f`, and a list of what its rule was asked."""
    asked = []

    def rule(n, in_batched, *args):
        asked.append((n, in_batched, ad.tree_map(np.shape, args)))
        axes = tuple(0 if batched else None for batched in in_batched)
        return ad.vmap(f, axes)(*args), True
    return custom(f, rule), asked


def test_the_batch_axis_is_in_front_and_the_flags_say_whose():
    f, asked = watched(lambda x, y: np.sum(x) * y)
    a = np.arange(6.0).reshape(2, 3)
    assert_close(ad.vmap(f, (1, None))(a, 2.0), 2 * a.sum(0))
    assert_close(ad.vmap(f, (None, 0))(a, X), 15 * X)
    assert asked == [(3, [True, False], ((3, 2), ())),
                     (3, [False, True], ((2, 3), (3,)))]
    assert type(asked[0][1][0]) is bool


def test_flags_and_outputs_are_trees():
    seen = []

    def rule(n, in_batched, p, q):
        seen.append(in_batched)
        return (Pair(p['a'] * q[0], {'k': q[0]}),
                Pair(True, {'k': in_batched[1][0]}))
    f = custom(lambda p, q: Pair(p['a'] * q[0], {'k': q[0]}), rule)
    for g in f, ad.jit(f), written_tree(f):
        seen.clear()
        out = ad.vmap(g, ({'a': 0}, None), Pair(0, {'k': None}))(
            {'a': X}, (2.0,))
        assert_trees(out, Pair(2 * X, {'k': 2.0}))
        assert [{'a': True}, (False,)] in seen


def written_tree(f):
    def run(*args):
        tree = ad.tree_structure(f(*args))
        jaxpr = ad.make_jaxpr(f)(*args)
        return ad.tree_unflatten(tree, ad.eval_jaxpr(
            jaxpr, jaxpr.consts, *ad.tree_leaves(args)))
    return run


def test_an_output_may_be_one_for_all_elements():
    """Its cotangent is the sum of all."""
    f = custom(lambda x, c: (x * c, c * c),
               lambda n, b, x, c: ((3 * x * c, 3 * c * c), (b[0], b[1])))
    g = ad.vmap(f, (0, None), (0, None))
    assert_trees(g(X, 2.0), (6 * X, 12.0))
    both = lambda c: ad.vmap(lambda x, c: sum(f(x, c)), (0, None))(X, c)
    # 3 (x c + c^2), for each of three
    assert_close(total(both)(2.0), 3 * (2 * X.sum() + 12))
    for slope in ad.grad(total(both)), ad.jit(ad.grad(total(both))):
        assert_close(slope(2.0), 3 * (X.sum() + 12))
    grads = ad.vmap(ad.grad(lambda x, c: sum(f(x, c)), (0, 1)), (0, None))
    assert_close(grads(X, 2.0)[0], 6 + 0 * X)
    assert_close(grads(X, 2.0)[1], 3 * (X + 4))


def test_an_output_that_mixes_the_elements_goes_back_to_all():
    """A rule that is no map: the mean over the batch, one for all."""
    f = custom(lambda x: x, lambda n, b, x: (np.mean(x), False))
    assert_same(ad.vmap(f, out_axes=None)(X), np.mean(X))
    back = lambda ct: ad.vmap(lambda x, ct: ad.vjp(f, x)[1](ct)[0])(X, ct)
    assert_close(back(np.array([1.0, 2.0, 6.0])), 3.0 + 0 * X)
    assert_close(ad.vmap(ad.grad(f))(X), 1.0 + 0 * X)
    assert_close(ad.grad(lambda x: ad.vmap(f, out_axes=None)(x) * 6)(X),
                 2.0 + 0 * X)


def test_tangents_are_mapped_where_their_values_are():
    """The rule is asked for a batch, whichever of the two is one."""
    f, asked = watched(lambda x, y: np.sin(x) * y)
    d_xy = lambda x, y, s, t: ad.jvp(f, (x, y), (s, t))[1]
    for axes in [(0, None, None, None), (None, None, 0, None),
                 (None, 0, 0, None), (0, None, None, 0)]:
        args = [X if axis == 0 else 0.7 for axis in axes]
        truth = np.cos(args[0]) * args[2] * args[1] + np.sin(
            args[0]) * args[3]
        asked.clear()
        assert_close(ad.vmap(d_xy, axes)(*args), truth)
        mapped = [0 in axes[i::2] for i in (0, 1)]
        assert asked == [(3, mapped, tuple((3,) if has else ()
                                           for has in mapped))]


def test_a_tangent_that_is_mapped_alone_at_second_order():
    """JAX 0.10.2 and 0.12.0.1 return an array with an axis too many."""
    f = custom(lambda x: x * x, lambda n, b, x: (3 * x * x, b[0]))
    xs = np.arange(1.0, 10.0).reshape(3, 3)
    along = lambda x: ad.jvp(
        lambda y: ad.jvp(f, (y,), (x,))[1], (x,), (x,))[1]
    assert_close(ad.vmap(along)(xs), 6 * xs * xs)


def test_jacobians_map_the_tangents_and_so_ask_the_rule():
    """As in JAX."""
    assert_close(ad.jacfwd(square)(X), np.diag(6 * X))
    assert_close(ad.jacrev(square)(X), np.diag(6 * X))
    assert_close(ad.hessian(square)(2.0), 6.0)
    assert_close(ad.jit(ad.jacfwd(square))(X), np.diag(6 * X))


def test_what_does_not_move_has_no_tangent():
    """An unmapped constant, an integer, and a call of which nothing moves."""
    f = custom(lambda x, n: (x ** n, n + 1),
               lambda k, b, x, n: ((3 * x ** n, n + 1), (True, b[1])))
    power = lambda x: f(x, 2)[0]
    assert_close(ad.vmap(ad.grad(power))(X), 6 * X)
    assert_close(ad.vmap(d(power))(X), 6 * X)
    assert_close(ad.vmap(ad.grad(lambda x, n: f(x, n)[0] * f(x, n)[1]))(
        X, np.array([1, 2, 3])), 3 * np.array([1, 2, 3]) * np.array(
            [2, 3, 4]) * X ** np.array([0, 1, 2]))

    def still(x):
        y = square(2.0)
        assert type(y) is float     # it is no tracer, so Python may look
        return x * y
    assert ad.grad(still)(1.0) == 4.0
    assert_close(ad.vmap(ad.grad(still))(X), 4 + 0 * X)
    assert_close(ad.vmap(still)(X), 4 * X)


def test_a_linear_function_is_transposed_together_with_its_rule():
    f = custom(lambda x: 2 * x, lambda n, b, x: (6 * x, True))
    g = lambda x: ad.linear_transpose(f, 1.0)(x)[0]
    for back in g, ad.jit(g), written_down(g):
        assert back(5.0) == 10.0
        assert_close(ad.vmap(back)(X), 6 * X)
    assert_close(ad.linear_transpose(ad.vmap(f), X)(X)[0], 6 * X)
    assert custom_vmap_call_p in transpose_rules


def test_python_may_look_at_values_in_each_mode():
    def f(x):
        return x * x if x > 1 else x
    g = custom(f, lambda n, b, x: (np.where(x > 1, 3 * x * x, 3 * x), True))
    assert [g(0.5), g(2.0)] == [0.5, 4.0]
    assert [ad.grad(g)(0.5), ad.grad(g)(2.0)] == [1.0, 4.0]
    assert [d(g)(0.5), d(d(g))(2.0)] == [1.0, 2.0]
    # the function is not asked, so nobody branches on a batch
    assert_close(ad.vmap(g)(X), np.array([1.5, 3, 12]))
    assert_close(ad.vmap(ad.grad(g))(X), np.array([3., 3, 12]))
    assert_close(ad.vmap(ad.grad(ad.grad(g)))(X), np.array([0., 0, 6]))


def test_forward_mode_runs_the_function_once():
    runs = []
    f = custom(lambda x: runs.append('f') or x * x,
               lambda n, b, x: (runs.append('rule') or 3 * x * x, True))
    d(f)(2.0)
    d(ad.vmap(f))(X)
    ad.vmap(d(f))(X)
    assert runs == ['f', 'rule', 'rule']


def test_a_batch_of_no_elements():
    assert ad.vmap(square)(X[:0]).shape == (0,)
    assert ad.vmap(ad.grad(square))(X[:0]).shape == (0,)
    f = ad.sequential_vmap(lambda x: x * 2)
    assert ad.vmap(f)(np.ones((0, 2))).shape == (0, 2)


@pytest.mark.parametrize('dtype', [np.float32, np.float64])
def test_dtypes_are_kept(dtype):
    x = X.astype(dtype)
    for f in (ad.vmap(square), ad.vmap(ad.grad(square)),
              ad.jit(ad.vmap(ad.grad(square))), ad.vmap(d(square))):
        assert f(x).dtype == dtype
    assert type(ad.grad(square)(2.0)) is float


def test_complex_numbers_go_forwards():
    z = X + 1j
    assert_close(ad.vmap(d(square))(z), 6 * z)


def test_it_is_one_operation():
    y, counts = spied(square, 2.0)
    assert y == 4.0 and counts == {custom_vmap_call_p: 1}
    text = str(ad.make_jaxpr(square)(2.0))
    assert 'custom_vmap_call[vmap=square_vmap]' in text
    assert 'custom_vmap_call' in str(ad.make_jaxpr(ad.grad(square))(2.0))
    assert 'custom_vmap_call' not in str(ad.make_jaxpr(ad.vmap(square))(X))


def test_a_compiled_program_forgets_it():
    """lower(custom_vmap_call(f, rule)) == lower(f)"""
    f = ad.jit(square)
    assert f(2.0) == 4.0 and 'custom' not in f.source


# Arguments

def test_keywords_and_defaults_are_put_in_their_places():
    asked = []

    @ad.custom_vmap
    def f(x, y=2.0):
        return x * y

    @f.def_vmap
    def rule(n, in_batched, x, y):
        asked.append(in_batched)
        return 3 * x * y, True
    assert_close(ad.vmap(lambda x: f(y=x, x=5.0))(X), 15 * X)
    assert_close(ad.vmap(lambda x: f(x))(X), 6 * X)
    assert asked == [[False, True], [True, False]]


def test_keyword_only_arguments_reach_the_rule_by_keyword():
    asked = []

    @ad.custom_vmap
    def f(x, *, b=1.0, a):
        return x * a + b

    @f.def_vmap
    def rule(n, in_batched, x, *, b, a):
        asked.append(in_batched)
        return 3 * x * a + b, True
    assert f(2.0, a=3.0) == 7.0
    assert_close(ad.vmap(lambda x: f(x, a=5.0))(X), 15 * X + 1)
    assert_close(ad.vmap(lambda x: f(2.0, a=x, b=7.0))(X), 6 * X + 7)
    assert asked == [[True, False, False], [False, False, True]]
    assert_close(ad.jit(ad.vmap(lambda x: f(2.0, a=x)))(X), 6 * X + 1)
    assert_close(ad.vmap(ad.grad(lambda x: f(2.0, a=x)))(X), 0 * X + 6)
    assert_close(ad.grad(lambda a: ad.vmap(lambda x: f(x, a=a))(X).sum())(2.),
                 3 * X.sum())


def test_sequential_vmap_of_keyword_only_arguments():
    f = ad.sequential_vmap(lambda x, *, b=1.0, a: x * a + b)
    assert_close(ad.vmap(lambda x: f(x, a=5.0))(X), 5 * X + 1)
    assert_close(ad.vmap(lambda x: f(2.0, a=x, b=x))(X), 3 * X)


def test_a_method_and_copies_and_pickles():
    class Scale:
        c = 2.0

        @ad.custom_vmap
        def times(self, x):
            return self * x if isinstance(self, float) else x
        times.def_vmap(lambda n, b, c, x: (3 * c * x, True))

    assert_close(ad.vmap(partial(Scale.times, 2.0))(X), 6 * X)
    again = pickle.loads(pickle.dumps(square))
    assert again is square
    for duplicate in copy.copy(square), copy.deepcopy(square):
        assert duplicate is not square
        duplicate.def_vmap(lambda n, b, x: (7 * x, True))
        assert_close(ad.vmap(duplicate)(X), 7 * X)
    assert_close(ad.vmap(square)(X), 3 * X * X)
    assert square.__name__ == 'square' and square_vmap.__name__


def test_the_rule_may_be_given_later_and_is_returned():
    f = ad.custom_vmap(np.sin)
    rule = lambda n, b, x: (x, True)
    assert f.def_vmap(rule) is rule
    assert_close(ad.vmap(f)(X), X)


# Closures

def test_a_value_of_an_outer_transformation_may_be_closed_over():
    def outer(c):
        f = custom(lambda x: x * c, lambda n, b, x: (3 * x * c, True))
        return ad.vmap(f)(X)
    assert_close(ad.vmap(outer)(X), 3 * np.outer(X, X))
    assert_close(ad.jit(outer)(2.0), 6 * X)
    assert_close(ad.grad(total(outer))(2.0), 3 * X.sum())
    assert_close(ad.jit(ad.grad(total(outer)))(2.0), 3 * X.sum())


@pytest.mark.parametrize('stage', [lambda f: f, ad.jit, written_down])
def test_a_mapped_value_that_is_no_argument(stage):
    """Whoever uses it: the function, the rule, or the rule's result."""
    def uses(function, rule, x):
        f = custom(lambda y: y * function(x), lambda n, b, y: (rule(x), True))
        return stage(f)(x if rule is not itself else 2.0)
    one = lambda x: 1.0
    itself = lambda x: x
    for function, rule in (itself, itself), (one, lambda x: x * 2.0):
        with pytest.raises(TypeError, match='closed|unexpected tracer'):
            ad.vmap(partial(uses, function, rule))(X)
    with pytest.raises(TypeError, match='batching of a custom_vmap function '
                                        '.*is being mapped'):
        ad.vmap(lambda x: stage(custom(
            lambda y: x, lambda n, b, y: (y, True)))(2.0))(X)
    with pytest.raises(TypeError, match='closed|unexpected tracer'):
        ad.vmap(lambda x: stage(custom(
            lambda y: y, lambda n, b, y: (x, False)))(x))(X)
    assert current_trace() is Trace.base


@pytest.mark.parametrize('change, given', [
    (lambda g: ad.vjp(g, X)[1], 1.0), (lambda g: ad.linearize(g, X)[1], X),
    (lambda g: ad.vjp(lambda x: ad.grad(g)(x).sum(), X)[1], 1.0),
    (lambda g: ad.vjp(lambda x: ad.vmap(g)(x[None])[0], X)[1], 1.0)],
    ids=['vjp', 'linearize', 'second', 'vmap'])
def test_an_array_that_is_closed_over_and_written_later(change, given):
    a = np.array([1.0, 2.0, 3.0])
    f = custom(lambda x: np.sin(a * x), lambda n, b, x: (np.sin(a * x), True))
    pull = change(lambda x: np.sum(f(x)))
    before = np.array(pull(given))
    a[:] = 9
    assert_close(np.array(pull(given)), before)


@pytest.mark.parametrize('by', [ad.grad, d], ids=['grad', 'jvp'])
def test_a_moving_value_that_is_no_argument_is_an_error(by):
    for use in (lambda x: custom(lambda y: x * y, square_vmap)(2.0),
                lambda x: custom(lambda y: x * y, square_vmap)(x)):
        with pytest.raises(TypeError, match='of a custom_vmap function with '
                                            'respect to a closed-over'):
            by(use)(2.0)
    assert current_trace() is Trace.base


def test_a_value_that_is_closed_over_moves_where_it_is_written_down():
    f = lambda x: ad.jit(custom(lambda y: x * y, square_vmap))(3.0)
    assert ad.grad(f)(2.0) == 3.0
    assert d(f)(2.0) == 3.0


def test_a_rule_that_was_written_down_and_uses_a_value_that_is_gone():
    def f(x):
        return custom(lambda y: 2 * y, lambda n, b, y: (x * y, True))(x)
    jaxpr = ad.make_jaxpr(f)(2.0)
    with pytest.raises(TypeError, match='closes over .* has returned'):
        ad.vmap(lambda x: ad.eval_jaxpr(jaxpr, jaxpr.consts, x)[0])(X)


# Mistakes

def test_there_is_no_rule():
    @ad.custom_vmap
    def unruled(x):
        return x
    for f in unruled, ad.vmap(unruled):
        with pytest.raises(AttributeError, match=(
                'No batching rule defined for custom_vmap function '
                '.*unruled.*unruled.def_vmap')):
            f(X)


PAIR = lambda x: (x, {'b': x})
MISTAKES = {
    'no_pair': (lambda x: x, lambda n, b, x: x, TypeError,
                r'Custom vmap rule .*<lambda> for function .*<lambda> must '
                r'produce a pair .* but got array\(\[0.5'),
    'three': (lambda x: x, lambda n, b, x: (x, True, None), TypeError,
              'must produce a pair'),
    'structure_of_flags': (PAIR, lambda n, b, x: (PAIR(x), True), ValueError,
                           "structures, but got .* respectively"),
    'flags_of_arguments': (lambda x: x, lambda n, b, x: (x, b), ValueError,
                           'out_batched with equal'),
    'no_flag': (PAIR, lambda n, b, x: (PAIR(x), (True, {'b': 0})), TypeError,
                r"output\[1\]\['b'\]: out_batched must be True or False, but "
                'got 0'),
    'size': (lambda x: x, lambda n, b, x: (x[:2], True), ValueError,
             r'output: out_batched says that it has a batch axis of length 3 '
             r'in front, but it is float64\[2\]'),
    'no_axis': (lambda x: x, lambda n, b, x: (np.sum(x), True), ValueError,
                r'batch axis of length 3 in front, but it is float64\[\]'),
    'no_array': (lambda x: x, lambda n, b, x: ('x', True), TypeError,
                 'output: a value of type str cannot be traced'),
    'record': (lambda x: x, lambda n, b, x: (ad.Zero(x), True), TypeError,
               'output: .* is a record'),
    'arguments': (lambda x: x, lambda n, b: (0.0, False), TypeError,
                  'positional argument'),
}


@pytest.mark.parametrize('stage', [lambda f: f, ad.jit], ids=['', 'jit'])
@pytest.mark.parametrize('name', MISTAKES)
def test_a_mistake_in_a_rule_is_named(name, stage):
    f, rule, error, words = MISTAKES[name]
    with pytest.raises(error, match=words.replace(
            r'array\(\[0.5', '' if stage is ad.jit else r'array\(\[0.5')):
        ad.vmap(stage(custom(f, rule)))(X)
    assert current_trace() is Trace.base


WRITTEN = {
    'tree': (lambda n, b, x: ((x, x), (True, True)), ValueError,
             "the structure of the function's"),
    'shape': (lambda n, b, x: (np.stack([x, x], 1), True), TypeError,
              r'\(the function returns|the function returns'),
    'dtype': (lambda n, b, x: (x.astype(np.float32), True), TypeError,
              'float32'),
}


@pytest.mark.parametrize('name', WRITTEN)
def test_a_rule_returns_what_the_function_that_was_written_down_does(name):
    rule, error, words = WRITTEN[name]
    with pytest.raises(error, match=words):
        ad.vmap(ad.jit(custom(lambda x: x * 1.0, rule)))(X)


# Sequential

def test_sequential_vmap_sees_one_element_at_a_time():
    shapes = []

    @ad.sequential_vmap
    def f(x, y):
        shapes.append(np.shape(x))
        return {'a': np.sum(x) * y, 'b': y}
    a = np.arange(6.0).reshape(3, 2)
    assert_trees(ad.vmap(f, (0, None))(a, 2.0),
                 {'a': 2 * a.sum(1), 'b': np.full(3, 2.0)})
    assert set(shapes) == {(2,)}
    assert_trees(ad.vmap(f)(a, X), {'a': a.sum(1) * X, 'b': X})
    assert_close(f(a[1], 2.0)['a'], 10.0)


@pytest.mark.parametrize('by', [
    lambda f: ad.vmap(ad.grad(f), (0, None)),
    lambda f: ad.vmap(lambda x, y: ad.jvp(f, (x, y), (1.0, 0.0))[1],
                      (0, None)),
    lambda f: ad.grad(lambda x, y: np.sum(ad.vmap(f, (0, None))(x, y))),
    lambda f: ad.jit(ad.vmap(ad.grad(f), (0, None))),
    lambda f: ad.vmap(ad.jit(ad.grad(f)), (0, None)),
    lambda f: lambda x, y: ad.vmap(ad.vmap(ad.grad(f), (0, None)),
                                   (0, None))(x[None], y)[0],
    lambda f: ad.vmap(ad.grad(ad.grad(f)), (0, None))])
def test_sequential_vmap_is_vmap(by):
    f = lambda x, y: np.sin(x) * y
    assert_close(by(ad.sequential_vmap(f))(X, 2.0), by(f)(X, 2.0))


def test_sequential_vmap_is_a_loop_in_the_program():
    f = ad.sequential_vmap(lambda x: x * 2)
    assert 'scan' in str(ad.make_jaxpr(ad.vmap(f))(X))


def test_sequential_vmap_serves_a_primitive_without_a_batching_rule():
    half_p = ad.Primitive('half')
    half_p.def_impl(lambda x: float(x) / 2)
    half_p.def_abstract_eval(lambda x: ad.ShapedArray((), np.float64))
    with pytest.raises(NotImplementedError, match='vmap'):
        ad.vmap(half_p.bind)(X)
    assert_close(ad.vmap(ad.sequential_vmap(lambda x: half_p.bind(x)))(X),
                 X / 2)


# One function with several rules.  Each says something else of e^x: a batch
# is 2 e^x, the derivative is 5 e^x by the JVP rule and 3 e^x by bwd.

def exp_with(make, *kinds):
    f = make(lambda x: np.exp(x))
    if 'vmap' in kinds:
        f.def_vmap(lambda n, in_batched, x: (2 * np.exp(x), in_batched[0]))
    if 'jvp' in kinds:
        f.defjvp(lambda p, t: (f(*p), 5 * f(*p) * t[0]))
    if 'vjp' in kinds:
        f.defvjp(lambda x: (f(x), x), lambda x, ct: (3 * f(x) * ct,))
    return f


SEVERAL = {
    'custom_jvp': (ad.custom_jvp, 'jvp', 'vmap'),
    'custom_vjp': (ad.custom_vjp, 'vjp', 'vmap'),
    'custom_vjp_jvp': (ad.custom_vjp, 'vjp', 'jvp', 'vmap'),
    'custom_vmap_jvp': (ad.custom_vmap, 'jvp', 'vmap'),
    'custom_vmap_vjp': (ad.custom_vmap, 'vjp', 'vmap'),
    'custom_vmap_all': (ad.custom_vmap, 'vjp', 'jvp', 'vmap')}
CARRIED = TRANSFORMS | {
    'c': ad.checkpoint,
    'n': lambda f: lambda x: ad.scan(lambda c, _: (f(c), None), x, None,
                                     1)[0],
    'b': lambda f: lambda x: ad.cond(True, f, lambda x: x, x)}
NESTINGS = [''.join(names) for n in (1, 2, 3)
          for names in itertools.product('vjglicnb', repeat=n)
          if {*names} & {*'vjgl'}]


CASES = [(kind, order) for kind in SEVERAL for order in NESTINGS
         if 'jvp' in SEVERAL[kind] or not {*'jl'} & {*order}]


@pytest.mark.parametrize('kind, order', [
    case if i % 40 == 0 or len(case[1]) < 2 else rest(*case)
    for i, case in enumerate(CASES)])
def test_each_transformation_asks_its_own_rule_in_every_order(kind, order):
    make, *kinds = SEVERAL[kind]
    f = exp_with(make, *kinds)
    forwards = 5
    backwards = 3 if 'vjp' in kinds else 5
    factors = {'j': forwards, 'l': forwards, 'g': backwards}
    x = np.linspace(-1, 1, 2 ** order.count('v'))
    x = x.reshape([2] * order.count('v'))[()]
    for name in reversed(order):
        f = CARRIED[name](f)
    factor = math.prod(factors.get(name, 1) for name in order)
    assert_close(f(x), factor * (2 if 'v' in order else 1) * np.exp(x))


def test_a_rule_for_batches_may_be_undefined():
    f = ad.custom_jvp(lambda x: x * x)
    f.defjvp(lambda p, t: (f(*p), 5 * t[0]))
    assert_same(ad.vmap(f)(X), X * X)
    with pytest.raises(AttributeError, match='No JVP defined'):
        g = ad.custom_jvp(lambda x: x)
        g.def_vmap(lambda n, b, x: (x, b[0]))
        g(1.0)
    with pytest.raises(AttributeError, match='No batching rule defined'):
        h = ad.custom_vmap(lambda x: x)
        h.defjvp(lambda p, t: (p[0], t[0]))
        h(1.0)


@pytest.mark.parametrize('make', [ad.custom_jvp, ad.custom_vmap])
def test_a_rule_for_batches_sees_nondiff_arguments_in_their_places(make):
    asked = []

    def f(g, x, c, *, n):
        return g(x) * c['a'] * n
    f = make(f, nondiff_argnums=(0, 2))

    @f.def_vmap
    def rule(size, in_batched, g, x, c, *, n):
        assert g is np.sin and size == 3
        asked.append(in_batched)
        return 3 * np.sin(x) * c['a'] * n, True
    f.defjvp(lambda g, c, p, t: (f(g, p[0], c, n=p[1]), 5 * t[0]))
    assert_close(ad.vmap(lambda x: f(np.sin, x, {'a': 2.0}, n=7.0))(X),
                 42 * np.sin(X))
    assert_close(ad.vmap(lambda a: f(np.sin, 1.0, {'a': a, 'b': 'text'},
                                     n=7.0))(X), 21 * np.sin(1.0) * X)
    assert_close(ad.jit(ad.vmap(lambda a, x: f(np.sin, x, {'a': a}, n=a)))(
        X, X), 3 * np.sin(X) * X * X)
    assert_close(d(ad.vmap(lambda x: f(np.sin, x, {'a': 2.0}, n=7.0)))(X),
                 np.full(3, 5.0))
    assert asked[:2] == [[False, True, False, False],
                         [False, False, {'a': True, 'b': False}, False]]
    assert asked[2] == [False, True, {'a': True}, True]


def test_a_shared_output_of_a_rule_for_batches():
    f = ad.custom_jvp(lambda s, x: (s * s, s * x))
    f.def_vmap(lambda n, b, s, x: ((s * s, s * x), (b[0], True)))
    f.defjvp(lambda p, t: (f(*p), (5 * t[0], p[0] * t[1] + t[0] * p[1])))
    g = ad.vmap(f, (None, 0), (None, 0))
    assert_trees(g(3.0, X), (np.float64(9.0), 3 * X))
    assert_close(ad.grad(lambda s: g(s, X)[0] + g(s, X)[1].sum())(3.0),
                 5 + X.sum())


def test_a_value_that_a_rule_for_batches_closes_over():
    def h(x, use):
        f = ad.custom_jvp(lambda y: y)
        f.def_vmap(lambda n, b, y: (x * y, True))
        f.defjvp(lambda p, t: (f(*p), 5 * t[0]))
        return use(f)(x)
    with pytest.raises(TypeError, match='Detected batching of a custom_vmap'):
        ad.vmap(lambda x: h(x, lambda f: f))(X)
    with pytest.raises(TypeError, match='closed-over value'):
        d(lambda x: h(x, lambda f: lambda x: ad.vmap(f)(X * x)))(1.0)


@pytest.mark.parametrize('copied', [copy.copy, copy.deepcopy])
@pytest.mark.parametrize('kind', SEVERAL)
def test_several_rules_in_copies(kind, copied):
    make, *kinds = SEVERAL[kind]
    f = copied(exp_with(make, *kinds))
    slope, factor = (d, 5) if 'jvp' in kinds else (ad.grad, 3)
    assert_close(ad.vmap(slope(f))(X), 2 * factor * np.exp(X))
def backwards_only():
    f = ad.custom_vjp(lambda x: np.sin(x))
    f.defvjp(lambda x: (f(x), x), lambda x, ct: (3 * np.cos(x) * ct,))
    return f


def with_a_dead_call(x):
    backwards_only()(x)
    return x * 2


def with_a_dead_result(x):
    return x * 2, backwards_only()(x)


RUNS = {    # a function of which the slope is 2, run forwards and backwards
    'linearize': lambda f: ad.linearize(f, 0.5)[1](1.0),
    'linearize_jit': lambda f: ad.jit(ad.linearize(f, 0.5)[1])(1.0),
    'transpose': lambda f: ad.linear_transpose(
        ad.linearize(f, 0.5)[1], 1.0)(1.0)[0],
    'again': lambda f: ad.linearize(ad.linearize(f, 0.5)[1], 1.0)[1](1.0),
    'jvp': lambda f: ad.jvp(ad.linearize(f, 0.5)[1], (1.0,), (1.0,))[1],
    'vjp': lambda f: ad.vjp(f, 0.5)[1](1.0)[0],
}


@pytest.mark.parametrize('wrap', [
    lambda f: f, ad.jit, ad.checkpoint,
    lambda f: lambda x: ad.cond(x > 0, f, lambda x: x * 2, x)],
    ids=['alone', 'jit', 'checkpoint', 'cond'])
@pytest.mark.parametrize('is_result', [False, True], ids=['call', 'result'])
@pytest.mark.parametrize('run', RUNS)
def test_forward_mode_runs_no_dead_custom_vjp_in_it(run, is_result, wrap):
    f = with_a_dead_result if is_result else with_a_dead_call
    g = custom(f, lambda size, mapped, x: (
        ad.vmap(f)(x), (True, True) if is_result else True))
    first = (lambda x: g(x)[0]) if is_result else g
    assert RUNS[run](wrap(first)) == 2.0


def test_a_rule_for_some_outputs_of_a_linear_program_is_the_rule():
    f = custom(lambda x: (x * 2, np.sin(x)),
               lambda size, mapped, x: ((x * 5, np.sin(x)), (True, True)))
    _, push = ad.linearize(lambda x: f(x)[0], 0.5)
    assert_close(push(1.0), 2.0)
    assert_close(ad.vmap(push)(X), 5 * X)
    assert_close(ad.vmap(ad.linear_transpose(push, 0.5))(X)[0], 5 * X)


def test_without_the_wing_a_rule_for_vmap_is_refused():
    f = ad.custom_jvp(lambda x: x)
    f.defjvp(lambda primals, tangents: (primals[0], tangents[0]))
    f.def_vmap(lambda size, mapped, x: (x, True))
    with ad.plain('more'), pytest.raises(
            NotImplementedError, match='<lambda> needs the wing .*/more'):
        f(1.0)
