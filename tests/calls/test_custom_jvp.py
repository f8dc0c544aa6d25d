"""custom_jvp.py: the rule replaces the function's derivative.

The rules say three times the truth, so a result shows whether its rule was
used.
"""

import copy
from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.calls.call import call
from autodiff_mini.core.names import TraceTag
from autodiff_mini.core.trace import Primitive, Trace, current_trace
from autodiff_mini.interpreters.jvp import JVPTracer, jvp_flat
from autodiff_mini.interpreters.vmap import Axis, Dim
from autodiff_mini.interpreters.vmap import rules as vmap_rules
from autodiff_mini.interpreters.vmap import vmap_flat
from autodiff_mini.primitives.elementwise import mul_p
from tests.support.jvp_rules import (
    ODD_THINGS, branching, branching_rule, custom, square)
from tests.support.numerical import assert_close, assert_same
from tests.support.traces import spied
from tests.support.transforms import X, d
from tests.support.trees import assert_trees

A = np.arange(6.).reshape(2, 3) / 4 + 0.5


# D1: vmap keeps custom rules

@pytest.mark.asks('D1')
def test_vmap_and_jvp_use_the_rule_in_either_order():
    assert ad.jvp(square, (1.0,), (1.0,)) == (1.0, 3.0)
    assert_same(ad.vmap(d(square))(np.ones(4)), np.full(4, 3.))
    assert_same(d(ad.vmap(square))(np.ones(4)), np.full(4, 3.))


# D3: Python control flow

@pytest.mark.asks('D3')
def test_function_and_rule_can_branch_in_python():
    f = custom(branching, branching_rule)
    assert ad.jvp(f, (2.0,), (1.0,)) == (2.0, 3.0)
    assert ad.jvp(f, (-2.0,), (1.0,)) == (4.0, -5.0)
    assert d(d(lambda x: x * f(x)))(-2.0) == -7.0   # -5, and the truth
    assert ad.jvp(lambda x: f(x) if f(x) > 3 else x, (-2.0,), (1.0,)) == (
        4.0, -5.0)


# D4, as far as forward mode goes

@pytest.mark.asks('D4')
def test_a_rule_sees_concrete_values_as_it_runs():
    seen = []

    def rule(primals, tangents):
        seen.append((primals, tangents))
        return primals[0], tangents[0]

    ad.jvp(custom(lambda x: x, rule), (2.0,), (3.0,))
    d(d(custom(lambda x: x, rule)))(2.0)
    assert seen[0] == ((2.0,), (3.0,))
    assert type(seen[0][0][0]) is float
    assert isinstance(seen[1][0][0], JVPTracer)
    assert float(seen[1][0][0].primal) == 2.0


# D5: the equations


@pytest.mark.asks('D5')
def test_the_rule_replaces_the_call():
    f = custom(lambda x: x, lambda p, t: (p[0] * 2, t[0]))
    _, counts = spied(lambda x: ad.jvp(f, (x,), (X,)), X)
    assert counts == {mul_p: 1}


# D7: the interface

@pytest.mark.asks('D7')
def test_defjvp_is_a_decorator():
    @ad.custom_jvp
    def f(x, y):
        return np.sin(x) * y

    @f.defjvp
    def f_jvp(primals, tangents):
        x, y = primals
        x_dot, y_dot = tangents
        return f(x, y), np.cos(x) * x_dot * y + np.sin(x) * y_dot

    assert f_jvp.__name__ == 'f_jvp'
    y, y_dot = ad.jvp(f, (2., 3.), (1., 0.))
    assert_close(y_dot, 3 * np.cos(2.))


@pytest.mark.asks('D7')
def test_defjvps_add_up():
    f = ad.custom_jvp(lambda x, y, z: x * y + z)
    assert f.defjvps(lambda t, out, x, y, z: 3 * t * y + 0 * out,
                     None, lambda t, out, x, y, z: 7 * t) is None
    xs = np.arange(3.)
    y_dot = ad.jvp(ad.vmap(f, (0, None, None)), (xs, 5.0, 1.0),
                   (xs, 10.0, 100.0))[1]
    assert_same(y_dot, 15 * xs + 700)

    def energy(n, x):
        return x ** n
    f = ad.custom_jvp(energy, nondiff_argnums=0)
    with pytest.raises(TypeError, match=(
            "Can't use ``defjvps`` with ``nondiff_argnums``.*energy")):
        f.defjvps(lambda t, out, x: t)


def test_defjvps_skips_the_rule_of_an_integer():
    """The rule used to get a float0 tangent, which NumPy can't multiply."""
    f = ad.custom_jvp(lambda x, n: x ** 2 * n)
    f.defjvps(lambda t, y, x, n: 3 * x * t * n, lambda t, y, x, n: x ** 2 * t)
    for n in 2, np.int32(2), True + 1:
        assert_close(ad.grad(f)(5., n), 30.)
        assert_close(ad.jvp(lambda x: f(x, n), (5.,), (1.,))[1], 30.)
        assert_close(ad.grad(ad.grad(f))(5., n), 6.)
        assert_close(ad.hessian(ad.jit(f))(5., n), 6.)
        assert_close(ad.grad(lambda n: f(5., n))(2.), 25.)
    slopes = ad.vmap(ad.grad(f))(np.ones(3), np.arange(3))
    assert_close(slopes, 3 * np.arange(3.))
    slopes = ad.grad(f, (0, 1), allow_int=True)(5., 2)
    assert_close(slopes[0], 30.)


def test_defjvps_takes_trees_and_outputs_of_integers():
    """The sum of two float0 tangents used to be refused by NumPy."""
    f = ad.custom_jvp(lambda x, p, n: (p['w'] * x * p['n'], n + 1))
    f.defjvps(lambda t, y, x, p, n: (3 * p['w'] * t * p['n'], no_slope(n)),
              lambda t, y, x, p, n: (5 * t['w'] * x * p['n'], no_slope(n)),
              lambda t, *_: t)
    (y, n), (y_dot, n_dot) = ad.jvp(lambda x, w: f(x, {'w': w, 'n': 2}, 4),
                                    (7., 11.), (1., 10.))
    assert (y, n, y_dot) == (154., 5, 66. + 700.)
    assert n_dot.dtype == ad.float0
    wrong = ad.custom_jvp(lambda x, y: (x + y, 1))
    wrong.defjvps(lambda t, *_: (t, 1.), None)
    with pytest.raises(TypeError, match='float0 if the primal is an integer'):
        ad.jvp(wrong, (1., 2.), (1., 1.))


def no_slope(n):
    return np.zeros(np.shape(n), ad.float0)


# D11: keyword arguments

def scaled(x, n=2.0, *rest):
    return x * n


def scaled_rule(primals, tangents):
    x, n = primals
    return x * n, 3 * n * tangents[0] + 5 * x * tangents[1]


@pytest.mark.asks('D11')
def test_keywords_are_resolved_to_positions():
    f = custom(scaled, scaled_rule)
    for use in (lambda x: f(x, 4.0), lambda x: f(x, n=4.0),
                lambda x: f(n=4.0, x=x), lambda x: f(*[x], **{'n': 4.0})):
        assert ad.jvp(use, (2.0,), (1.0,)) == (8.0, 12.0)
        assert_same(d(ad.vmap(use))(X), np.full(4, 12.))


@pytest.mark.asks('D11')
def test_defaults_are_arguments_of_the_rule():
    f = custom(scaled, scaled_rule)
    assert ad.jvp(f, (3.0,), (1.0,)) == (6.0, 6.0)
    assert ad.jvp(lambda n: f(3.0, n=n), (3.0,), (1.0,)) == (9.0, 15.0)


@pytest.mark.asks('D11')
def test_calls_that_cannot_be_resolved_name_the_function():
    def loss(x, *, scale=1.0, **options):
        return x * scale

    f = custom(loss, lambda p, t: (f(*p), 3 * t[0]))
    with pytest.raises(TypeError, match='loss.*resolved to positions: y'):
        f(1.0, y=2.0)
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        f()
    with pytest.raises(TypeError, match='loss.*too many positional'):
        f(1.0, 2.0)
    # a missing argument has its default, which the rule does not see
    assert ad.jvp(f, (2.0,), (1.0,)) == (2.0, 3.0)


def named_rule(primals, tangents):
    (x, b, a), (x_dot, b_dot, a_dot) = primals, tangents
    return x * a + b, 3 * a * x_dot + 5 * b_dot + 7 * x * a_dot


@pytest.mark.parametrize('wrap', [
    lambda f: f, ad.jit, ad.checkpoint,
    lambda f: lambda x: ad.vmap(f)(np.stack([x, x]))[0]])
def test_keyword_only_arguments_follow_the_others(wrap):
    """In the order of the signature, with defaults if one is passed."""
    f = custom(lambda x, *, b=1.0, a: x * a + b, named_rule)
    assert f(2.0, a=3.0) == 7.0 and f(2.0, a=3.0, b=4.0) == 10.0
    for use, slope in ((lambda x: f(x, a=3.0), 9.0),
                       (lambda x: f(a=3.0, x=x), 9.0),
                       (lambda x: f(2.0, a=3.0, b=x), 5.0),
                       (lambda x: f(2.0, b=3.0, a=x), 14.0),
                       (lambda x: f(x, a=x, b=x), 3 * 5 + 5 + 7 * 5.)):
        assert_close(d(wrap(use))(5.0), slope)
        assert_close(ad.grad(wrap(use))(5.0), slope)
        assert_close(wrap(use)(5.0), use(5.0))


# D12 and B2: arguments that are not differentiated

@pytest.mark.asks('D12')
def test_nondiff_arguments_come_first_in_the_rule():
    f = custom(lambda g, x, n: g(x) * n, lambda g, n, p, t: (
        g(*p) * n, 3 * t[0] * n), 0, 2)
    assert f(np.sin, 2.0, 5) == np.sin(2.0) * 5
    assert_close(d(lambda x: f(np.sin, x, 5))(2.0), 15.0)
    assert_close(ad.vmap(d(lambda x: f(np.sin, x, 5)))(X), np.full(4, 15.))
    assert_close(d(ad.vmap(lambda x: f(np.sin, x, 5)))(X), np.full(4, 15.))


@pytest.mark.asks('B2')
def test_nondiff_arguments_can_be_any_object():
    for thing in ODD_THINGS.values():
        seen = []

        def rule(a, primals, tangents):
            seen.append(a)
            return f(a, *primals), 3 * primals[0] * tangents[0]

        f = custom(lambda a, x: seen.append(a) or x * x, rule, 0)
        g = partial(f, thing)
        assert g(2.0) == 4.0 and d(g)(2.0) == 6.0 and d(d(g))(2.0) == 3.0
        assert_same(ad.vmap(d(g))(X), 3 * X)
        assert_same(d(ad.vmap(g))(X), 3 * X)
        assert all(a is thing or is_lent(a, thing) for a in seen)


def is_lent(a, thing):
    """Return whether `a` is the array `thing`, but read-only."""
    return type(a) is np.ndarray and np.may_share_memory(a, thing) and (
        not a.flags.writeable)


# D17 and hard cases: closing over tracers

@pytest.mark.asks('D17')
def test_functions_and_rules_close_over_vmap_tracers():
    def f(x):
        k = custom(lambda y: x * y, lambda p, t: (k(*p), 5 * x * t[0]))
        return k(2.0), d(k)(2.0)

    y, y_dot = ad.vmap(f)(X)
    assert_same(y, 2 * X)
    assert_same(y_dot, 5 * X)


CLOSED_OVER = {
    'function': lambda x: custom(
        lambda y: x * y, lambda p, t: (p[0], t[0])),
    'function_hides_it_in_a_tree': lambda x: custom(
        lambda y: [y, x][1], lambda p, t: (p[0], t[0])),
    'function_by_asarray': lambda x: custom(
        lambda y: ad.asarray([x, y]).sum(), lambda p, t: (p[0], t[0])),
    'function_in_a_jvp': lambda x: custom(
        lambda y: d(lambda z: x * z)(y), lambda p, t: (p[0], t[0])),
    'function_in_a_vmap': lambda x: custom(
        lambda y: ad.vmap(lambda z: x * z)(np.ones(2)).sum() * y,
        lambda p, t: (p[0], t[0])),
    'function_in_a_call': lambda x: custom(
        lambda y: call(lambda: x * y), lambda p, t: (p[0], t[0])),
}
DETECTED = ('Detected differentiation of a custom_jvp function with respect '
            'to a closed-over value: the first lambda in .*Pass the value as '
            'an argument')


def refused(f, words=DETECTED, error=TypeError):
    """Assert that jvp of `f` is a named error, and the library still works.
    """
    with pytest.raises(error, match=words):
        ad.jvp(f, (3.0,), (1.0,))
    assert current_trace() is Trace.base
    assert ad.jvp(square, (1.0,), (1.0,)) == (1.0, 3.0)


@pytest.mark.asks('D17')
@pytest.mark.parametrize('name', CLOSED_OVER)
def test_captured_values_are_differentiated(name):
    make = CLOSED_OVER[name]
    refused(lambda x: make(x)(2.0))
    refused(lambda x: ad.vmap(make(x))(X)[0])
    refused(lambda x: ad.vmap(lambda y: make(x)(2.0))(X)[0])
    refused(lambda x: ad.vmap(lambda y: make(x * y)(y))(X)[0])
    refused(lambda x: call(lambda: make(x)(2.0)))
    stopped = lambda x: x * make(ad.stop_gradient(x))(2.0)
    assert ad.jvp(stopped, (3.0,), (1.0,))[1] == make(3.0)(2.0)


@pytest.mark.asks('D17')
def test_an_escaped_tracer_is_named():
    leaked = []
    ad.jvp(lambda x: leaked.append(x) or x, (1.0,), (1.0,))
    f = custom(lambda y: y * leaked[0], lambda p, t: (f(*p), t[0]))
    with pytest.raises(ad.UnexpectedTracerError, match='had returned'):
        ad.jvp(f, (1.0,), (1.0,))
    with pytest.raises(ad.UnexpectedTracerError, match='had returned'):
        ad.jvp(lambda x: f(2.0), (1.0,), (1.0,))
    with pytest.raises(ad.UnexpectedTracerError, match='had returned'):
        ad.vmap(f)(X)


# Symbolic zeros

def test_without_symbolic_zeros_a_rule_sees_arrays():
    seen = []

    def rule(primals, tangents):
        seen.extend(tangents)
        return primals[0], tangents[0]

    f = custom(lambda *xs: xs[0], rule)
    ad.jvp(lambda x: f(x, np.float32(2), A, 3, True, 2j), (1.0,), (5.0,))
    x_dot, single, matrix, n, b, c = seen
    assert x_dot == 5.0
    assert_same(single, np.float32(0))
    assert_same(matrix, 0 * A)
    assert n.dtype == b.dtype == ad.float0 and n.shape == ()
    assert c == 0 and np.result_type(c) == complex


def symbolic(primals, tangents):
    """Note which tangents are zero, and do not compute with them."""
    kinds = [type(t) is ad.SymbolicZero for t in tangents]
    terms = [(i + 2) * t for i, t in enumerate(tangents) if not kinds[i]]
    SEEN.append(kinds)
    return sum(primals), sum(terms)


SEEN = []


def test_symbolic_zeros_mark_unperturbed_arguments():
    f = custom(lambda x, y: x + y, symbolic, symbolic_zeros=True)
    SEEN.clear()
    assert d(lambda x: f(x, 1.0))(2.0) == 2.0
    assert d(lambda x: f(1.0, x))(2.0) == 3.0
    assert d(lambda x: f(x, x))(2.0) == 5.0
    assert SEEN == [[False, True], [True, False], [False, False]]


def test_a_rule_can_return_symbolic_zeros():
    def rule(primals, tangents):
        x, y = primals
        return (x, y), (2 * tangents[0], tangents[1])

    f = custom(lambda x, y: (x, y), rule, symbolic_zeros=True)
    tag = TraceTag('jvp', None)
    for g in (f, ad.vmap(f), ad.vmap(ad.vmap(f))):
        x = np.ones((2, 2))
        _, (x_dot, y_dot) = jvp_flat(lambda *xs: list(g(*xs)), [x, x],
                                     [x, ad.Zero(x)], tag)
        assert_same(x_dot, 2 * x)
        assert type(y_dot) is ad.Zero and y_dot.aval.shape == (2, 2)


@pytest.mark.parametrize('wrap', [lambda f: f, ad.jit, ad.vmap])
@pytest.mark.parametrize('zero, error', [
    (lambda x: ad.zero_from_primal(x[:1], symbolic_zeros=True), ValueError),
    (lambda x: ad.Zero(np.stack([x, x])), ValueError),
    (lambda x: ad.Zero(np.float32(1)), TypeError),
    (lambda x: ad.Zero(1), TypeError)])
def test_a_zero_of_another_type_names_the_output(node, wrap, zero, error):
    """A symbolic zero of any shape was accepted."""
    f = custom(lambda x: node([x, x], 'm'), lambda p, t: (
        f(*p), node([t[0], zero(p[0])], 'm')), symbolic_zeros=True)
    with pytest.raises(error, match=(
            r'Custom JVP rule .*: output\[0\]\[1\]: primal and tangent '
            r'.*primal is float64\[3\] and the tangent is')):
        d(wrap(f))(np.ones((2, 3) if wrap is ad.vmap else 3))


def test_a_batching_rule_sees_a_shared_value_as_mapped():
    axis, seen = Axis(4, TraceTag('vmap', None)), []
    twice_p = Primitive('twice', lambda x: 2 * x)

    def twice_rule(axis, vals, dims):
        seen.append(dims)
        return twice_p.bind(*vals), dims[0]
    vmap_rules[twice_p] = twice_rule

    def h(c):
        k = custom(lambda x: (x, x * c), lambda p, t: (
            (p[0], p[0] * c), (7 * t[0], c * t[0])))
        shared, mapped = k(2.0)
        return [twice_p.bind(shared), twice_p.bind(mapped), shared + mapped]
    outs, dims = vmap_flat(h, axis, [np.arange(4.)], [0])
    del vmap_rules[twice_p]
    assert seen == [[0], [0]]
    assert dims == [Dim.SHARED, 0, 0]
    np.testing.assert_array_equal(outs[0], [4.] * 4)


def test_if_a_closure_maps_one_output_all_are_mapped():
    axis, c = Axis(4, TraceTag('vmap', None)), np.arange(4.)

    def h(c):
        k = custom(lambda x: (x, x * c), lambda p, t: (
            (p[0], p[0] * c), (7 * t[0], c * t[0])))
        return list(k(2.0))
    outs, dims = vmap_flat(h, axis, [c], [0])
    assert dims == [Dim.SHARED, 0]
    assert_trees(outs, [np.full(4, 2.0), 2 * c])


# Integers, weak types, dtypes

@pytest.mark.asks('R5')
def test_integer_arguments_have_float0_tangents():
    def rule(primals, tangents):
        (x, n), (t, n_dot) = primals, tangents
        assert n_dot.dtype == ad.float0 and n_dot.shape == np.shape(n)
        return f(x, n), 3 * n * t

    f = custom(lambda x, n: x ** n, rule)
    n, zero = np.arange(4), np.zeros(4, ad.float0)
    assert ad.jvp(lambda x: f(x, 2), (2.0,), (1.0,)) == (4.0, 6.0)
    assert_same(ad.jvp(f, (X, n), (X, zero))[1], 3 * n * X)
    assert_same(ad.jvp(ad.vmap(f), (X, n), (X, zero))[1], 3 * n * X)
    assert_same(ad.vmap(lambda n: d(lambda x: f(x, n))(2.0))(n), 3. * n)


def test_tangents_have_the_dtype_of_the_argument():
    for dtype in 'f2', 'f4', 'f8', 'c8', 'c16':
        x = X.astype(dtype)
        for f in (square, ad.vmap(square)):
            y, y_dot = ad.jvp(f, (x,), (x,))
            assert_same(y, x * x)
            assert_same(y_dot, 3 * x * x)


def test_copies_have_their_own_rules():
    f = custom(lambda x: 3.0 * x, lambda p, t: (p[0], 5 * t[0]))
    for copied in copy.copy, copy.deepcopy:
        g = copied(f)
        assert g(2.0) == 6.0 and d(g)(2.0) == 5.0
        g.defjvp(lambda p, t: (p[0], 7 * t[0]))
        assert d(g)(2.0) == 7.0 and d(f)(2.0) == 5.0


# Mistakes

def loss(x, y=1.0):
    return x * y


def bad(rule, f=loss, **options):
    """Return a function with a rule that is called `loss_jvp`."""
    def loss_jvp(*args):
        return rule(*args)
    return custom(f, loss_jvp, **options)


RULE = 'Custom JVP rule .*loss_jvp for function loss '
PAIR = RULE + r'must produce a pair \(list or tuple of length two\) ' \
    'representing primal and tangent outputs'
TREE = RULE + r'must produce primal and tangent outputs with equal ' \
    r'container \(pytree\) structures, but got .* and .* respectively'
TYPE = RULE + 'must produce primal and tangent outputs with ' \
    'corresponding shapes and dtypes: output'
MISTAKES = {
    'none': (lambda p, t: None, TypeError, PAIR + ', but got None'),
    'array': (lambda p, t: p[0], TypeError, PAIR),
    'triple': (lambda p, t: (p[0], t[0], t[0]), TypeError, PAIR),
    'dict': (lambda p, t: {'y': p, 't': t}, TypeError, PAIR),
    'tuple_of_tangents': (lambda p, t: (p[0], t), TypeError, TREE),
    'list_and_tuple': (lambda p, t: ([p[0]], (t[0],)), TypeError, TREE),
    'other_keys': (lambda p, t: ({'a': p[0]}, {'b': t[0]}), TypeError, TREE),
    'none_tangent': (lambda p, t: (p[0], None), TypeError, TREE),
    'shape': (lambda p, t: (p[0], np.ones(2)), ValueError,
              TYPE + r'.*\[.*float64\[2\]|' + TYPE + r'.*float64\[2\]'),
    'dtype': (lambda p, t: (A, A.astype(np.float32)), TypeError,
              TYPE + r'.*float64\[2,3\].*float32\[2,3\]'),
    'int': (lambda p, t: (A, A.astype(int)), TypeError, TYPE + '.*int64'),
    'tangent_of_int': (lambda p, t: (3, 1.0), TypeError, TYPE + '.*float0'),
    'string': (lambda p, t: (p[0], 'text'), TypeError, TYPE + '.*str'),
    'function': (lambda p, t: (p[0], np.sin), TypeError, TYPE + '.*ufunc'),
    'in_a_tree': (lambda p, t: ([p[0], {'a': A}], [t[0], {'a': A[0]}]),
                  ValueError, TYPE + r".*\[1\]\['a'\]: "),
    'mask': (lambda p, t: (p[0], np.ma.ones(())), TypeError, TYPE),
}


@pytest.mark.parametrize('name', MISTAKES)
def test_mistakes_of_rules_name_function_and_rule(name):
    rule, error, words = MISTAKES[name]
    f = bad(rule)
    refused(f, words, error)
    refused(lambda x: ad.jvp(f, (x,), (1.0,)), words, error)
    refused(lambda x: ad.vmap(lambda y: ad.jvp(f, (y,), (1.0,)))(X)[0],
            words, error)
    if name != 'triple':
        refused(lambda x: ad.vmap(f)(x * X)[0], words, error)
    assert f(2.0) == 2.0            # the rule is not used


def test_without_a_rule_the_cure_is_named():
    f = ad.custom_jvp(loss)
    words = ('No JVP defined for custom_jvp function loss using defjvp. '
             'Call defjvp first')
    refused(f, words, AttributeError)
    for use in (f, ad.vmap(f)):
        with pytest.raises(AttributeError, match=words):
            use(X)
    f.defjvps(lambda t, *_: t, None)
    assert d(f)(2.0) == 1.0


def test_rules_with_the_wrong_arguments_are_named():
    for rule in (lambda: None, lambda p: p, lambda p, t, extra: p,
                 lambda *, p: p):
        refused(custom(loss, rule), 'argument')


# A rule makes a custom function, which closes over the rule's tangent.

ALONG = {
    'j': d, 'l': lambda f: lambda x: ad.linearize(f, x)[1](1.0),
    'g': ad.grad, 'f': ad.jacfwd, 'i': lambda f: ad.jit(ad.grad(f)),
    'v': lambda f: lambda x: ad.vmap(ad.grad(f))(np.stack([x, x]))[1],
    'k': lambda f: ad.jit(d(f)), 'c': lambda f: d(ad.checkpoint(f)),
    's': lambda f: ad.grad(lambda x: ad.scan(
        lambda c, _: (c + f(x), None), 0.0, None, 1)[0])}


def closing_over_a_tangent(make):
    """Return a function whose rule applies `make(x, x_dot)` to 2x."""
    f = custom(np.sin, lambda p, t: (f(*p), make(p[0], t[0])(2 * p[0])))
    return f


def cosine_of(x, x_dot):
    """Its rule says three times the truth."""
    g = custom(lambda y: np.cos(y / 2) * x_dot, lambda p, t: (
        g(*p), -3 * np.sin(p[0] / 2) * x_dot * t[0] / 2))
    return g


def of_two_tangents():
    """One tangent is the operand, and the function closes over the other."""
    def rule(primals, tangents):
        (x,), (t,) = primals, tangents
        g = custom(lambda y: y + t, lambda p, u: (g(*p), 3 * u[0]))
        return f(x), g(x * t)
    f = custom(lambda x: x, rule)
    return f


@pytest.mark.parametrize('first', 'jlgfiv')
def test_a_custom_function_of_a_tangent_keeps_its_rule(first):
    """A function of two tangents lost it unless jvp came first."""
    f, g = closing_over_a_tangent(cosine_of), of_two_tangents()
    assert_close(ALONG[first](g)(0.5), 1.5)
    for then in ALONG if first != 'j' else 'jlgfivk':
        assert_close(ALONG[then](ALONG[first](g))(0.5), 3.0)
        twice = ALONG[then](ALONG[first](f))
        assert_close(twice(0.5), -3 * np.sin(0.5))
        assert_close(ad.vmap(twice)(X), -3 * np.sin(X))


def test_a_custom_function_of_a_tangent_in_a_program_is_refused():
    """The rule is called when the tangent no longer exists."""
    for first, then in 'jc', 'js', 'kj':
        twice = ALONG[then](ALONG[first](closing_over_a_tangent(cosine_of)))
        with pytest.raises(TypeError, match='The rule of the .*lambda in .* '
                           'closes over JaxprTracer.*as an argument'):
            twice(0.5)


@pytest.mark.parametrize('make', [ad.custom_vjp, ad.custom_vmap])
def test_other_custom_functions_of_a_tangent_name_the_refusal(make):
    def of_tangent(x, x_dot):
        g = make(lambda y: y * x_dot)
        if make is ad.custom_vjp:
            g.defvjp(lambda y: (g(y), None), lambda r, ct: (3 * ct * x_dot,))
        else:
            g.def_vmap(lambda n, b, y: (3 * y * x_dot, b[0]))
        return g
    f = closing_over_a_tangent(of_tangent)
    if make is ad.custom_vjp:
        assert ad.grad(f)(1.5) == ad.jacfwd(f)(1.5) == 3.0
        refused = [ad.jit(ad.grad(f)), ad.grad(ad.grad(f)), ad.hessian(f)]
    else:
        assert d(f)(1.5) == 3.0
        refused = [ad.grad(f), ad.jacfwd(f)]
    for g in refused:
        with pytest.raises(TypeError, match='Detected differentiation of a '
                           'custom_.* with respect to a closed-over value'):
            g(1.5)


def test_a_custom_function_of_a_tangent_and_a_differentiated_value():
    f = closing_over_a_tangent(lambda x, x_dot: custom(
        lambda y: y * x * x_dot, lambda p, t: (
            p[0] * x * x_dot, t[0] * x * x_dot)))
    for first in (d, ad.grad, ad.jacfwd):
        assert_close(first(f)(1.5), 4.5)
        with pytest.raises(TypeError, match='Detected differentiation of a '
                           'custom_jvp function with respect to a '
                           'closed-over value'):
            ad.grad(first(f))(1.5)


def test_a_custom_function_of_a_tangent_can_branch_and_take_integers():
    def make(x, x_dot):
        def g(y):
            return (y * x_dot, 1) if y > 0 else (-y * x_dot, 2)
        g = custom(g, lambda p, t: (g(*p), (
            t[0] * x_dot, np.zeros((), ad.float0))))
        return lambda y: g(y)[0]
    f = closing_over_a_tangent(make)
    assert ad.grad(f)(1.5) == ad.jacfwd(f)(1.5) == 3.0
    assert ad.grad(f)(-1.5) == 3.0
    h = closing_over_a_tangent(lambda x, x_dot: lambda y: custom(
        lambda n, y: (y * x_dot, n), lambda p, t: (
            (p[1] * x_dot, p[0]), (3 * t[1] * x_dot, t[0])))(2, y)[0])
    assert ad.grad(ad.grad(h))(1.5) == ad.jit(ad.hessian(h))(1.5) == 6.0
