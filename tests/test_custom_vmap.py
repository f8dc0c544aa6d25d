"""more/calls/custom_vmap.py: an axis that meets the function asks the rule.

The rule of `square` says 3x^2, so that it shows where it was asked.  What JAX
can run has the same values there (tests/test_jax_oracle.py).
"""

import itertools
import math
from collections import namedtuple

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core import Trace, current_trace
from autodiff_mini.more.calls.custom_vmap import custom_vmap_call_p
from autodiff_mini.interpreters.transpose import rules as transpose_rules
from tests.amount import crossed, rest
from tests.numerical import assert_close, assert_same
from tests.test_staged_calls import TRANSFORMS

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
    """Return `f` with a rule."""
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
    """Return `f`, by way of a function that is linear in something else."""
    def run(x):
        back = ad.linear_transpose(lambda t: t * f(x), 1.0)
        return back(1.0)[0]
    return run


def ruled_out(f):
    """Return `f` inside of a function with a true rule for forward mode."""
    g = ad.custom_jvp(lambda x: f(x))
    g.defjvp(lambda p, t: ad.jvp(f, p, t))
    return g


def ruled_back(f):
    """Return `f` inside of a function with a true rule for reverse mode."""
    g = ad.custom_vjp(lambda x: f(x))
    g.defvjp(lambda x: (f(x), x), lambda x, ct: ad.vjp(f, x)[1](ct))
    return g


def within(f):
    """Return `f` inside of another function with a rule, which asks `f`."""
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


# A function with a rule for reverse mode has none for the way out.
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


# Both orders


# What the rule is asked

def watched(f):
    """Return `f`, and a list of what its rule was asked."""
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


def test_jacobians_map_the_tangents_and_so_ask_the_rule():
    """As in JAX."""
    assert_close(ad.jacfwd(square)(X), np.diag(6 * X))
    assert_close(ad.jacrev(square)(X), np.diag(6 * X))
    assert_close(ad.hessian(square)(2.0), 6.0)
    assert_close(ad.jit(ad.jacfwd(square))(X), np.diag(6 * X))


def test_a_linear_function_is_transposed_together_with_its_rule():
    f = custom(lambda x: 2 * x, lambda n, b, x: (6 * x, True))
    g = lambda x: ad.linear_transpose(f, 1.0)(x)[0]
    for back in g, ad.jit(g), written_down(g):
        assert back(5.0) == 10.0
        assert_close(ad.vmap(back)(X), 6 * X)
    assert_close(ad.linear_transpose(ad.vmap(f), X)(X)[0], 6 * X)
    assert custom_vmap_call_p in transpose_rules


def test_a_compiled_program_forgets_it():
    """lower(custom_vmap_call(f, rule)) == lower(f)"""
    f = ad.jit(square)
    assert f(2.0) == 4.0 and 'custom' not in f.source


# Arguments


# Closures


@pytest.mark.parametrize('by', [ad.grad, d], ids=['grad', 'jvp'])
def test_a_moving_value_that_is_no_argument_is_an_error(by):
    for use in (lambda x: custom(lambda y: x * y, square_vmap)(2.0),
                lambda x: custom(lambda y: x * y, square_vmap)(x)):
        with pytest.raises(TypeError, match='of a custom_vmap function with '
                                            'respect to a closed-over'):
            by(use)(2.0)
    assert current_trace() is Trace.base


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
             r'output: out_batched is True, so the first axis must be the '
             r'batch axis, of length 3, but got float64\[2\]'),
    'no_axis': (lambda x: x, lambda n, b, x: (np.sum(x), True), ValueError,
                r'batch axis, of length 3, but got float64\[\]'),
    'no_array': (lambda x: x, lambda n, b, x: ('x', True), TypeError,
                 'output: a value of type str cannot be traced'),
    'record': (lambda x: x, lambda n, b, x: (ad.Zero(x), True), TypeError,
               'output: .* describes'),
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
             'the same structure as the function'),
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


def test_sequential_vmap_is_a_loop_in_the_program():
    f = ad.sequential_vmap(lambda x: x * 2)
    assert 'scan' in str(ad.make_jaxpr(ad.vmap(f))(X))


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
