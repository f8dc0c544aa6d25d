"""`while_loop` and `fori_loop`: as long as it takes.

The oracle is Python's `while`, of tests/test_unrolled.py.
"""

from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core import Trace, current_trace
from autodiff_mini.higher_order.loops import scan_p, while_p
from tests.amount import crossed
from tests.jaxpr_checks import check_jaxpr
from tests.numerical import assert_close, assert_same
from tests.test_custom_jvp import custom as with_jvp
from tests.test_custom_jvp import assert_trees, d, node, power, square
from tests.test_custom_vjp import held
from tests.test_jit_equals_eager import assert_identical, outcome
from tests.test_staged_calls import staged
from tests.test_unrolled import unrolled
from tests.wings import needs

assert node     # a fixture
X = np.array([0.5, 1.5, -1.25, 2.0])
T = TypeError


def primitives_of(f, *args):
    return [e.primitive for e in ad.make_jaxpr(f)(*args).eqns]


# Values and types

def test_it_loops_as_long_as_the_condition_holds():
    assert_same(ad.while_loop(lambda x: x < 100, lambda x: x * 2, 3), 192)
    assert_same(ad.while_loop(lambda x: x < 1, lambda x: x * 2, 3), 3)
    x = ad.while_loop(lambda c: np.abs(c * c - 2) > 1e-12,
                      lambda c: (c + 2 / c) / 2, 2.0)
    assert_close(x, np.sqrt(2))


def test_trees_are_carried(node):
    f = lambda lib: lib.while_loop(
        lambda k: k.x[0] < 3,
        lambda k: node((k.x[0] + 1, [k.x[1][0] * 2.0, None]), 'm'),
        node((0, [X, None]), 'm'))
    assert_trees(f(ad), f(unrolled))
    assert ad.while_loop(lambda _: False, lambda k: k, None) is None


TYPES = {
    'integer': (1, lambda c: c * 2, 4), 'float': (1.0, lambda c: c * 2, 4.0),
    'to_float': (4, lambda c: c * 0.5, 2.0),
    'to_single': (1, lambda c: c * np.float32(2), np.float32(4)),
    'to_double': (1.0, lambda c: c * np.float64(2), np.float64(4)),
    'single': (np.float32(1), lambda c: c * 2.0, np.float32(4)),
    'small': (np.int8(1), lambda c: c * 2, np.int8(4)),
}


@pytest.mark.parametrize('name', TYPES)
def test_a_python_number_becomes_what_the_body_makes_of_it(name):
    init, body, expected = TYPES[name]
    f = lambda c: ad.while_loop(lambda k: k[0] < 2, lambda k: (
        k[0] + 1, body(k[1])), (1 if name == 'to_float' else 0, c))[1]
    for g in (f, ad.jit(f), ad.checkpoint(f)):
        assert_same(g(init), expected)
    # also of a loop that does not run
    g = lambda c: ad.while_loop(lambda k: False, body, c)
    assert np.result_type(g(init)) == np.result_type(expected)


LOOPS_OF_NUMBERS = {
    'fall': (lambda s: (s[0] < 9.5) & (s[1] < 1e6),
             lambda s: (s[0] + 1.0, s[1] * s[2], s[2]), (0.0, X[0], X[1])),
    'newton': (lambda c: abs(c * c - 2) > 1e-12, lambda c: (c + 2 / c) / 2,
               X[1]),
    'power': (lambda c: c > 1e-3, lambda c: np.tanh(c ** 1.5) * 0.5, X[0]),
    'overflow': (lambda c: c < 1e400, lambda c: c * c, X[1]),
    'division': (lambda c: c < 1e300, lambda c: 1 / (c - c), X[1]),
    'nan': (lambda c: c < 1, lambda c: np.sqrt(c - 1), X[0]),
    'not_once': (lambda c: c > 100.0, lambda c: 1 / c, np.float64(0)),
}


@needs('fast')
@pytest.mark.parametrize('constants', [False, True])
@pytest.mark.parametrize('name', LOOPS_OF_NUMBERS)
def test_a_loop_of_numbers_is_written_for_floats(name, constants):
    test, body, start = LOOPS_OF_NUMBERS[name]

    def f(x, lib=ad):
        if not constants:
            return lib.while_loop(test, body, start)
        zero = x - x
        return lib.while_loop(
            lambda c: test(ad.tree_map(lambda v: v + zero, c)),
            lambda c: ad.tree_map(lambda v: v + zero, body(c)), start)

    fast, x = ad.jit(f), np.float64(2.0)
    expected, said = outcome(lambda x: f(x, unrolled), [x], {})
    for run in fast, f:
        actual, heard = outcome(run, [x], {})
        assert_identical(actual, expected)
        assert heard == said
    assert 'while True:' in fast.source


@needs('fast')
@pytest.mark.parametrize('start', [(0.0, 3), (0.0, X), np.float32(0.5)],
                         ids=['integer', 'array', 'single'])
def test_a_loop_of_other_things_is_not(start):
    f = ad.jit(lambda: ad.while_loop(
        lambda c: np.sum(ad.tree_leaves(c)[0]) < 3,
        lambda c: ad.tree_map(lambda v: v + 1, c), start))
    f()
    assert 'loop_while(' in f.source and 'while True:' not in f.source


def test_what_it_returns_is_the_caller_s_own():
    x, c = np.ones(3), np.zeros(3)
    f = lambda n: ad.while_loop(lambda k: k[0] < n, lambda k: (
        k[0] + 1, c), (0, x))[1]
    for g in (f, ad.jit(f)):
        for n in (0, 1):
            g(n)[:] = 5
            assert_same(g(n), c if n else x)
    assert x.sum() == 3 and c.sum() == 0


# Forward mode

def power_of(lib, x, n):
    return lib.while_loop(lambda k: k[0] < n,
                          lambda k: (k[0] + 1, k[1] * x), (0, 1.))[1]


def newton(lib, x):
    """The condition sees what moves."""
    return lib.while_loop(lambda c: np.abs(c * c - x) > 1e-9,
                          lambda c: (c + x / c) / 2, x * 1.0)


def late(lib, x):
    """Carries move some steps late, and constants in the condition."""
    n = 1 + 0 * x
    return lib.while_loop(
        lambda k: k[0] < n * 4, lambda k: (k[0] + 1, k[2], k[3], x * k[3]),
        (0, 1., 1., 1.))[1] * x


def lying(lib, x):
    return lib.while_loop(lambda k: k[0] < 2, lambda k: (
        k[0] + 1, square(k[1]) * power(-x)), (0, x))[1]


def inside(lib, x):
    """A loop in a loop, and in a branch."""
    inner = lambda c: lib.while_loop(lambda k: np.abs(k) < 8,
                                     lambda k: k * 2 + 1.0, c * x)
    return lib.scan(lambda c, y: (c * 0.25, lib.cond(
        c > 0, inner, np.sin, c * y)), x, X)[1].sum()


PROGRAMS = {
    'power': lambda lib, x: power_of(lib, x, 5),
    'never': lambda lib, x: power_of(lib, x, 0) + x,
    'newton': newton, 'late': late, 'lying': lying, 'inside': inside}
TRANSFORMS = {
    'evaluate': (lambda f: f, lambda f: f), 'jvp': (d, d),
    'linearize': (lambda f: lambda x: ad.linearize(f, x)[1](1.0), d),
    'staged': (staged, lambda f: f), 'jit': (ad.jit, lambda f: f),
    'checkpoint': (ad.checkpoint, lambda f: f),
    'jit_of_jvp': (lambda f: ad.jit(d(f)), d),
    'jvp_of_jit': (lambda f: d(ad.jit(f)), d),
    'jvp_of_checkpoint': (lambda f: d(ad.checkpoint(f)), d),
    'linearize_of_jit': (
        lambda f: lambda x: ad.linearize(ad.jit(f), x)[1](1.0), d),
    'linearize_of_checkpoint': (
        lambda f: lambda x: ad.linearize(ad.checkpoint(f), x)[1](1.0), d),
    'jacfwd': (ad.jacfwd, d),
    'jvp_of_jvp': (lambda f: d(d(f)),) * 2,
    'jit_of_jvp_of_jit_of_jvp': (
        lambda f: ad.jit(d(ad.jit(d(f)))), lambda f: d(d(f))),
    'linearize_of_jvp': (lambda f: lambda x: ad.linearize(d(f), x)[1](1.0),
                         lambda f: d(d(f))),
    'jvp_of_linearize': (
        lambda f: d(lambda x: ad.linearize(f, x)[1](1.0)),
        lambda f: d(d(f))),
    'third': (lambda f: d(d(d(f))),) * 2,
}


@crossed('name, transform', PROGRAMS, TRANSFORMS)
def test_each_forward_transform_is_that_of_the_loop(name, transform):
    change, twin = TRANSFORMS[transform]
    for x in (1.5, 2.0):
        assert_close(change(partial(PROGRAMS[name], ad))(x),
                     twin(partial(PROGRAMS[name], unrolled))(x))


@pytest.mark.parametrize('name', PROGRAMS)
def test_vmap_of_a_loop_is_the_stack_of_loops(name):
    """Each element stops when its own condition says so."""
    xs = np.array([0.5, 1.5, 3.0])
    f, twin = (partial(PROGRAMS[name], lib) for lib in (ad, unrolled))
    for change in (lambda f: f, d, lambda f: d(d(f))):
        expected = np.stack([change(twin)(x) for x in xs])
        assert_close(ad.vmap(change(f))(xs), expected)
        assert_close(change(ad.vmap(f))(xs), expected)
        assert_close(ad.jit(ad.vmap(change(f)))(xs), expected)
        assert_close(ad.vmap(change(ad.jit(f)))(xs), expected)
    assert_close(ad.linearize(ad.vmap(f), xs)[1](np.ones(3)),
                 np.stack([d(twin)(x) for x in xs]))


@pytest.mark.parametrize('axes', [(None, 0), (0, None), (0, 0), (-1, 0)])
def test_vmap_of_the_bound_of_the_value_and_of_both(axes):
    ns, xs = np.array([2, 0, 5]), np.array([0.5, 2., -1.])
    x = xs if axes[0] is not None else 2.0
    n = ns if axes[1] is not None else 3
    expected = [power_of(unrolled, *a) for a in zip(
        np.broadcast_to(x, 3), np.broadcast_to(n, 3))]
    f = partial(power_of, ad)
    assert_close(ad.vmap(f, axes)(x, n), np.stack(expected))
    slopes = ad.vmap(lambda x, n: d(lambda x: f(x, n))(x), axes)(x, n)
    assert_close(slopes, np.broadcast_to(n * x ** (n - 1.0), 3))


def test_vmap_of_a_loop_of_arrays_whose_elements_stop_early():
    f = lambda lib, n, x: lib.while_loop(
        lambda k: (k[0] < n), lambda k: (k[0] + 1, k[1] @ x, k[2]),
        (0, np.eye(2), {'unused': x}))
    ns, x = np.array([0, 3, 1]), np.array([[0.5, 1.], [2., -1.]])
    actual = ad.vmap(partial(f, ad), (0, None))(ns, x)
    expected = [f(unrolled, n, x) for n in ns]
    assert_trees(actual, ad.tree_map(lambda *a: np.stack(a), *expected))


def test_an_element_that_has_stopped_is_left_alone():
    """The body has no value, and no slope, where it is over."""
    f = lambda lib, x: lib.while_loop(lambda c: c > 0.75, np.log, x)
    g, twin = partial(f, ad), partial(f, unrolled)
    xs = np.array([1.0, 0.5, 3.0, -2.0, 0.0])
    with np.errstate(all='ignore'):
        for change in (lambda f: f, d, lambda f: d(d(f))):
            expected = np.stack([change(twin)(x) for x in xs])
            assert_close(ad.vmap(change(g))(xs), expected)
            assert_close(change(ad.vmap(g))(xs), expected)


def test_nothing_comes_of_an_element_that_has_stopped():
    """Its matrix is singular, and its body would divide by zero."""
    def f(lib, a, b):
        return lib.while_loop(
            lambda b: b[0] > 0,
            lambda b: b - np.linalg.solve(a, np.ones(2)) / b[0], b)
    a = np.stack([np.ones((2, 2)), np.eye(2), 2 * np.eye(2)])
    b = np.array([[0., 1.], [3., 2.], [1., 0.5]])
    g, twin = partial(f, ad), partial(f, unrolled)
    slope = lambda f: lambda a, b: ad.jvp(f, (a, b), (a + 1, b))[1]
    with np.errstate(all='raise'):
        for change in (lambda f: f, slope):
            expected = np.stack([change(twin)(*ab) for ab in zip(a, b)])
            many = ad.vmap(change(g))
            for h in (many, ad.jit(many), ad.vmap(ad.jit(change(g)))):
                assert_close(h(a, b), expected)
            assert_close(change(ad.vmap(g))(a, b), expected)
            assert_close(ad.vmap(many)(a[None], b[None]), expected[None])


def test_a_condition_that_is_the_same_for_all_stays_a_scalar():
    f = lambda x: power_of(ad, x, 4)
    jaxpr = ad.make_jaxpr(ad.vmap(f))(X)
    (eqn,) = [e for e in jaxpr.eqns if e.primitive is while_p]
    assert str(eqn.params['test'].out_avals[0]) == 'bool[]'
    assert [str(v.aval) for v in eqn.outvars] == ['int64[]', 'float64[4]']


def test_linearize_loops_once_more_over_what_moves_only():
    """What is known is computed now; the derivative is a loop of its own."""
    f = lambda x: ad.while_loop(
        lambda k: k[0] < 3, lambda k: (k[0] + 1, np.sin(k[1]), k[2] * x),
        (0, 0.5, 1.))
    (n, s, y), run = ad.linearize(f, 2.0)
    assert (n, y) == (3, 8.0)
    assert_close(s, np.sin(np.sin(np.sin(0.5))))
    for t in (1.0, -2.0, 1.0):
        n_dot, s_dot, y_dot = run(t)
        assert y_dot == 12.0 * t and s_dot == 0.0
        assert n_dot.dtype == ad.float0


def test_the_known_half_of_a_loop_is_not_computed_again():
    runs = []
    p = ad.Primitive('counted')
    p.def_impl(lambda x: runs.append(1) or x + 1)
    p.def_abstract_eval(lambda x: ad.ShapedArray(x.shape, x.dtype))
    f = lambda x: ad.while_loop(lambda k: k[0] < 3, lambda k: (
        k[0] + 1, p.bind(k[1]), k[2] * 2), (0, np.float64(0), x))[1:]
    (count, y), run = ad.linearize(f, 1.0)
    assert (count, y) == (3.0, 8.0) and len(runs) == 3


def test_a_loop_that_does_not_move_leaves_nothing_behind():
    y = np.ones(7)
    f = lambda x: x * ad.while_loop(
        lambda k: k[0] < 3, lambda k: (k[0] + 1, k[1] * 2.0), (0, y))[1].sum()
    _, pullback = ad.vjp(f, 2.0)
    assert {*map(np.shape, ad.tree_leaves(pullback))} == {()}
    assert pullback(1.0) == (56.0,)


# Custom rules

@pytest.mark.parametrize('order', [1, 2, 3])
def test_d1_d6_d9_a_rule_survives_in_a_while_loop_at_order(order):
    f = lambda x: ad.while_loop(lambda k: k[0] < 2, lambda k: (
        k[0] + 1, k[1] + power(x)), (0, 0.0))[1]
    g = f
    for _ in range(order):
        g = d(g)
    expected = 2 * 2 ** order * np.exp(0.5)
    for h in (g, ad.jit(g), ad.checkpoint(g), staged(g)):
        assert_close(h(0.5), expected)
    assert_close(ad.vmap(g)(X), 2 * 2 ** order * np.exp(X))


def test_hard_case_1_forwards_in_a_while_loop():
    f = with_jvp(lambda x: np.sin(x),
                 lambda p, t: (f(*p), 10 * np.cos(p[0]) * t[0]))
    g = lambda x: ad.while_loop(lambda k: k[0] < 3, lambda k: (
        k[0] + 1, f(k[1])), (0, x))[1]
    for h in (g, ad.jit(g), ad.checkpoint(g)):
        assert_close(d(d(h))(1.), -10805.46137749049)
        assert_close(d(lambda x: ad.linearize(h, x)[1](1.))(1.),
                     -10805.46137749049)


@pytest.mark.parametrize('kind', ['jvp', 'both'])
def test_b2_nondiff_arguments_hold_traced_values_of_a_while_loop(kind):
    f, _ = held(kind)
    g = lambda a, x: ad.while_loop(lambda k: k[0] < 2, lambda k: (
        k[0] + 1, f({'w': a}, k[1])), (0, x))[1]
    for g in (g, ad.jit(g)):
        assert g(7.0, 2.0) == 98.0
        assert d(lambda x: g(7.0, x))(2.0) == 35.0 ** 2
        assert_close(ad.vmap(d(lambda x: g(7.0, x)))(X), np.full(4, 35.**2))
        with pytest.raises(TypeError, match='(?s)Argument 0 of .*scale is '
                           'named in nondiff_argnums, but is being diff'):
            d(lambda a: g(a, 2.0))(7.0)


# What it closes over, and its programs

def test_condition_and_body_close_over_tracers():
    def f(lib, w):
        a, b = np.sin(w), w * 4
        return lib.while_loop(lambda c: c < b * b, lambda c: c * 1.5 + a * a,
                              w)
    g, twin = partial(f, ad), partial(f, unrolled)
    for x in X:
        assert_close(d(g)(x), d(twin)(x))
        assert_close(ad.jit(g)(x), twin(x))
        assert_close(staged(d(g))(x), d(twin)(x))
    assert_close(ad.vmap(g)(X), np.stack([twin(x) for x in X]))
    assert_close(ad.vmap(d(g))(X), np.stack([d(twin)(x) for x in X]))
    assert_close(d(ad.vmap(g))(X), np.stack([d(twin)(x) for x in X]))


def test_a_staged_loop_is_one_equation_that_checks():
    f = lambda x: late(ad, x)
    for g in (f, d(f), ad.jit(f), d(d(f)), ad.checkpoint(f)):
        check_jaxpr(ad.make_jaxpr(g)(1.5))
    check_jaxpr(ad.make_jaxpr(ad.vmap(d(f)))(X))
    assert primitives_of(f, 1.5).count(while_p) == 1
    text = str(ad.make_jaxpr(f)(1.5))
    assert 'test={' in text and 'body={' in text


def test_the_body_is_not_traced_per_step():
    runs = []
    ad.while_loop(lambda c: c < 1000,
                  lambda c: runs.append(1) or c + 1, 0)
    assert len(runs) == 1


# Reverse mode

REVERSE = {
    'grad': ad.grad, 'jit_grad': lambda f: ad.jit(ad.grad(f)),
    'grad_jit': lambda f: ad.grad(ad.jit(f)),
    'checkpoint': lambda f: ad.grad(ad.checkpoint(f)),
    'vmap': lambda f: lambda x: ad.vmap(ad.grad(f))(X),
    'grad_vmap': lambda f: lambda x: ad.grad(
        lambda x: ad.vmap(f)(x).sum())(X),
    'pullback': lambda f: lambda x: ad.vjp(f, x)[1](1.0),
    'transpose': lambda f: lambda x: ad.linear_transpose(
        ad.linearize(f, x)[1], x)(1.0),
    'hessian': ad.hessian, 'grad_jvp': lambda f: ad.grad(d(f)),
    'scan': lambda f: ad.grad(lambda x: ad.scan(
        lambda c, _: (f(c), None), x, length=2)[0]),
    'cond': lambda f: ad.grad(lambda x: ad.cond(x > 0, f, np.sin, x)),
}
WORDS = ('Reverse-mode differentiation does not work for while_loop, or for '
         'fori_loop with traced bounds.*Use fori_loop')


@pytest.mark.parametrize('name', REVERSE)
def test_reverse_mode_over_a_while_loop_is_named(name):
    f = lambda x: power_of(ad, x, 3)
    with pytest.raises(TypeError, match=WORDS):
        REVERSE[name](f)(2.0)
    assert current_trace() is Trace.base
    # and the interpreter works afterwards
    assert d(f)(2.0) == 12.0 and ad.grad(np.square)(3.0) == 6.0
    assert ad.jit(f)(2.0) == 8.0
    assert_same(ad.vmap(d(f))(X), 3 * X * X)


def test_reverse_mode_goes_past_a_loop_that_does_not_move():
    f = lambda x: x * power_of(ad, 3.0, 2) + ad.while_loop(
        lambda c: c < x, lambda c: c + 1, 0)
    assert ad.grad(f)(2.5) == 9.0
    assert ad.grad(lambda x: x * power_of(
        ad, ad.stop_gradient(x), 2))(2.0) == 4.0
    # an output that does not depend on what moves
    g = lambda x: ad.while_loop(lambda k: k[0] < 3, lambda k: (
        k[0] + 1, k[1] * x), (0, 1.0))[0] * x
    assert ad.grad(g)(2.0) == 3.0


# fori_loop

def factorial(lib, x, lower=1, upper=5):
    return lib.fori_loop(lower, upper, lambda i, c: c * i * x, 1.)


def test_fori_loop_counts():
    product = lambda i, c: c * i
    assert_same(ad.fori_loop(1, 5, product, 1), np.int64(24))
    assert_same(ad.fori_loop(2, 2, product, 7), np.int64(7))
    assert_same(ad.fori_loop(5, 2, product, 7), np.int64(7))
    assert ad.fori_loop(-2, 2, lambda i, c: c + i, 0) == -2
    assert ad.fori_loop(np.int8(0), np.uint8(3), lambda i, c: c + i, 0) == 3
    assert_trees(ad.fori_loop(0, 3, lambda i, c: {
        'a': c['a'] + i, 'b': (c['b'][0] * 0.5, None)}, {
            'a': X, 'b': (1.0, None)}), {'a': X + 3, 'b': (0.125, None)})


@pytest.mark.parametrize('change', [
    lambda f: f, ad.grad, d, lambda f: ad.grad(ad.grad(f)), ad.hessian,
    lambda f: d(ad.grad(f))])
def test_fori_loop_with_integers_is_a_scan_and_goes_back(change):
    f = partial(factorial, ad)
    assert scan_p in primitives_of(f, 2.0)
    truth = change(lambda x: 24 * x ** 4)
    for g in (f, ad.jit(f), ad.checkpoint(f)):
        assert_close(change(g)(1.5), truth(1.5))
    assert_close(ad.vmap(change(f))(X), np.stack(list(map(truth, X))))


@pytest.mark.parametrize('bounds', [
    lambda n: (1, n), lambda n: (n - 4, 5), lambda n: (n - 4, n)])
def test_fori_loop_with_traced_bounds_is_a_while_loop(bounds):
    f = lambda n, x: factorial(ad, x, *bounds(n))
    assert f(5, 2.0) == 24 * 16.
    g = ad.jit(f)
    assert while_p in [e.primitive for e in ad.make_jaxpr(f)(5, 2.).eqns]
    assert g(5, 2.0) == 24 * 16.
    assert d(lambda x: g(5, x))(2.0) == 24 * 32.
    assert ad.jit(lambda n: d(lambda x: f(n, x))(2.0))(5) == 24 * 32.
    with pytest.raises(TypeError, match=WORDS):
        ad.grad(g, 1)(5, 2.0)
    with pytest.raises(TypeError, match=WORDS):
        ad.jit(ad.grad(f, 1))(5, 2.0)
    assert ad.grad(f, 1)(5, 2.0) == 24 * 32.


def test_vmap_of_a_bound_of_fori_loop():
    f = lambda n: ad.fori_loop(0, n, lambda i, c: c * 2. + i, 1.)
    assert_same(ad.vmap(f)(np.arange(4)), np.array([1., 2., 5., 12.]))
    g = lambda n: ad.fori_loop(n, 3, lambda i, c: c * 2. + i, 1.)
    assert_same(ad.vmap(g)(np.arange(4)), np.stack(list(map(g, range(4)))))


# Mistakes

I = lambda x: x


def goes_on(x):
    return x


def step(x):
    return x


def loop(cond_fun=lambda c: c > 0, body=step, init=1.0):
    def body_fun(x):
        return body(x)
    return lambda: ad.while_loop(cond_fun, body_fun, init)


NAME = 'while_loop of .*body_fun'
TREES = (f'{NAME}.*carry input and carry output must have the same pytree '
         'structure.*the input is ')
TYPES_OF = (f'{NAME}: carry.*carry input and carry output must have equal '
            'types.*the input is ')
SCALAR = ', the condition of a while_loop, must return a boolean scalar, but '
BOOL = ad.TracerBoolConversionError
ERRORS = {
    'float': (loop(goes_on), T, rf'goes_on{SCALAR}returns float64\[\]'),
    'integer': (loop(lambda c: 1), T, rf'{SCALAR}returns int64\[\]'),
    'vector': (loop(lambda c: X > c), T, rf'{SCALAR}returns bool\[4\]'),
    'pair': (loop(lambda c: (c > 0, c > 0)), T, SCALAR + 'returns'),
    'one': (loop(lambda c: (c > 0,)), T, SCALAR + 'returns'),
    'none': (loop(lambda c: None), T, SCALAR + 'returns .*None'),
    'tree': (loop(body=lambda c: (c, c)), T,
             TREES + r'.*\(\*\), and the output .*\(\*, \*\)'),
    'body_none': (loop(body=lambda c: None), T, TREES + '.*None'),
    'shape': (loop(body=lambda c: c * np.ones(3)), T, TYPES_OF
              + r'float64\[\], and the output float64\[3\]'),
    'dtype': (loop(body=lambda c: c * 2.5, init=np.int64(1)), T, TYPES_OF
              + r'int64\[\], and the output float64\[\]'),
    'leaf': (loop(lambda c: c['a'] > 0, lambda c: {
        'a': c['a'], 'b': [c['b'][0] * np.float64(1)]},
        {'a': 1., 'b': [np.float32(1)]}), T, r"carry\['b'\]\[0\]: .*the "
        r'input is float32\[\], and the output float64\[\]'),
    'number_truncated': (loop(body=lambda c: np.int64(2), init=1.5), T,
                         TYPES_OF + r'float64\[\], and the output int64'),
    'init': (loop(init='a'), T, f'{NAME}: init_val: .*type str'),
    'init_leaf': (loop(init={'a': [None, 'a']}), T,
                  r"init_val\['a'\]\[1\]: .*type str"),
    'd3_condition': (loop(lambda c: c > 0 and c < 1), BOOL,
                     'Attempted boolean conversion.*while_loop of'),
    'd3_body': (loop(body=lambda c: c - 1 if c > 0 else c), BOOL,
                f'{NAME}.*cannot branch on it'),
    'd3_fori': (lambda: ad.fori_loop(0, 3, lambda i, c: c if i > 1 else -c,
                                     1.), BOOL, 'cannot branch on it'),
    'fori_float': (lambda: ad.fori_loop(0, 2.5, lambda i, c: c, 1.), T,
                   'integer'),
    'fori_text': (lambda: ad.fori_loop('a', 2, lambda i, c: c, 1.), T,
                  'integer|type str'),
    'fori_vector': (lambda: ad.fori_loop(0, X, lambda i, c: c, 1.), T,
                    'integer'),
    'fori_tree': (lambda: ad.fori_loop(0, 2, lambda i, c: (c, c), 1.), T,
                  r'same pytree structure.*\(\*\).*\(\*, \*\)'),
    'fori_shape': (lambda: ad.fori_loop(0, 2, lambda i, c: c * X, 1.), T,
                   r'equal types.*float64\[\].*float64\[4\]'),
}


@pytest.mark.parametrize('name', ERRORS)
def test_every_mistake_with_a_loop_is_named(name):
    mistake, error, words = ERRORS[name]
    for run in (mistake, lambda: d(lambda x: mistake() or x)(1.0),
                lambda: ad.vmap(lambda x: mistake() or x)(X),
                lambda: ad.jit(lambda x: mistake() or x)(1.0)):
        with pytest.raises(error, match=f'(?s){words}'):
            run()
        assert current_trace() is Trace.base
    # and the interpreter works afterwards
    assert d(lambda x: power_of(ad, x, 2))(3.0) == 6.0
