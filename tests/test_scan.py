"""`scan`: a loop that is one operation.

The oracle is the unrolled loop, of tests/test_unrolled.py.
"""

from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.higher_order.loops import scan_p
from tests import amount
from tests.amount import crossed
from tests.jaxpr_checks import check_jaxpr
from tests.numerical import assert_close, assert_same
from tests.test_custom_jvp import custom as with_jvp
from tests.test_custom_jvp import assert_trees, d, node, power, sine, square
from tests.test_custom_vjp import Pair
from tests.test_custom_vjp import custom as with_vjp
from tests.test_custom_vjp import held
from tests.test_staged_calls import staged
from tests.test_unrolled import unrolled
from tests.traces import assert_named_everywhere

assert node     # a fixture
RNG = np.random.default_rng(0)
W, XS = RNG.normal(size=(3, 3)) / 2, RNG.normal(size=(5, 3))
X = np.linspace(-0.5, 1.5, 4)
T, V = TypeError, ValueError


def assert_all_close(actual, expected):
    assert ad.tree_structure(actual) == ad.tree_structure(expected)
    for a, b in zip(ad.tree_leaves(actual), ad.tree_leaves(expected)):
        assert np.shape(a) == np.shape(b)
        assert_close(a, b)


def residual_shapes(f, *args):
    return sorted(map(np.shape, ad.tree_leaves(ad.vjp(f, *args)[1])))


# Values and types

def test_a_scan_is_a_loop():
    carry, ys = ad.scan(lambda c, x: (c + x, c * x), 0.0, np.arange(4.0))
    assert_same(carry, np.float64(6.0))
    assert_same(ys, np.array([0., 0., 2., 9.]))


def test_reverse_begins_at_the_end_and_keeps_rows_in_their_places():
    carry, ys = ad.scan(lambda c, x: (2 * c + x, c), 0.0, np.arange(4.0),
                        reverse=True)
    assert_same(carry, np.float64(34.0))
    assert_same(ys, np.array([17., 8., 3., 0.]))


@pytest.mark.parametrize('reverse', [False, True])
def test_rows_have_the_structure_of_y(reverse, node):
    def f(carry, x):
        a, b = carry['a'], carry['b'][0]
        return ({'a': a + x[0], 'b': (b * x[1]['k'], None)},
                Pair(node(a * b, 'm'), [None, (b,), {}]))

    init = {'a': np.zeros(2), 'b': (1.0, None)}
    xs = [np.arange(6.).reshape(3, 2), {'k': X[:3], 'none': None}]
    carry, ys = ad.scan(f, init, xs, reverse=reverse)
    expected, rows = unrolled.scan(f, init, xs, reverse=reverse)
    assert_trees((carry, ys), (expected, rows))
    assert type(ys) is Pair and type(ys.x) is node


def test_without_xs_there_is_none_and_a_length():
    seen = []
    f = lambda c, x: seen.append(x) or (c * 2, c)
    carry, ys = ad.scan(f, 1.0, None, length=3)
    assert_same(carry, 8.0)
    assert_same(ys, np.array([1., 2., 4.]))
    assert seen == [None]
    assert_trees(ad.scan(f, 1.0, length=np.int64(3)), (carry, ys))
    assert_trees(ad.scan(f, 1.0, {'a': None}, length=3), (carry, ys))


def test_a_given_length_may_agree_with_the_xs():
    f = lambda c, x: (c + x, None)
    assert ad.scan(f, 0.0, np.ones(3), length=3) == (3.0, None)


def test_a_scan_of_no_steps_has_rows_of_the_right_type():
    f = lambda c, x: (c + x.sum(), (np.float32(1), x > 0, x))
    carry, (a, b, c) = ad.scan(f, 1.5, np.zeros((0, 2)))
    assert_same(carry, np.float64(1.5))
    assert_same(a, np.zeros(0, np.float32))
    assert_same(b, np.zeros((0, 2), bool))
    assert_same(c, np.zeros((0, 2)))
    g = lambda c, xs: ad.scan(f, c, xs)[0] ** 2
    for h in (g, ad.jit(g), ad.checkpoint(g)):
        assert_trees(ad.grad(h, (0, 1))(1.5, np.zeros((0, 2))),
                     (3.0, np.zeros((0, 2))))
    assert_same(ad.vmap(g, (0, None))(X, np.zeros((0, 2))), X * X)


def test_a_scan_of_no_steps_returns_memory_of_its_own():
    x = np.ones(3)
    for run in (lambda x: x, ad.jit(lambda x: x)):
        y, _ = ad.scan(lambda c, _: (c, None), run(x), length=0)
        y[0] = 5
        assert x[0] == 1


CARRIES = {     # init, body, and what unrolling gives
    'number_stays': (1.0, lambda c, x: c * 2, 8.0),
    'integer_stays': (1, lambda c, x: c * 2, 8),
    'integer_to_float': (1, lambda c, x: c * 0.5, 0.125),
    'bool_to_integer': (True, lambda c, x: c + 1, 4),
    'number_to_single': (1.0, lambda c, x: c * np.float32(2),
                         np.float32(8)),
    'number_to_double': (1.0, lambda c, x: np.sin(c) * x, None),
    'integer_to_double': (1, lambda c, x: c * x, np.float64(0)),
    'single_stays': (np.float32(1), lambda c, x: c * 2.0, np.float32(8)),
    'double_takes_a_number': (np.float64(1), lambda c, x: 2.0,
                              np.float64(2)),
    'small_integer': (np.int8(1), lambda c, x: c * 2, np.int8(8)),
    'to_complex': (1.0, lambda c, x: c * 1j, -1j),
}


@pytest.mark.parametrize('name', CARRIES)
def test_a_python_number_becomes_what_the_body_makes_of_it(name):
    init, body, expected = CARRIES[name]
    f = lambda c, x: (body(c, x), c)
    xs = np.arange(3.)
    if expected is None:
        expected = unrolled.scan(f, init, xs)[0]
    carry, ys = ad.scan(f, init, xs)
    assert_same(carry, expected)
    assert np.result_type(ys) == np.result_type(carry)
    assert_same(ad.jit(lambda c: ad.scan(f, c, xs)[0])(init), expected)


def test_python_numbers_are_promoted_one_after_the_other():
    f = lambda c, x: ((c[1], c[2], c[2] * x), c)
    (a, b, c), ys = ad.scan(f, (1, 2, 3), np.ones(2, np.float32))
    for z, expected in ((a, 3), (b, 3), (c, 3)):
        assert_same(z, np.float32(expected))
    assert_same(ys[0], np.array([1, 2], np.float32))


@pytest.mark.parametrize('dtype', [np.float32, np.float64])
def test_the_dtype_of_the_loop_is_the_unrolled_one_s(dtype):
    xs = XS.astype(dtype)
    f = lambda lib, xs: lib.scan(
        lambda h, x: (np.tanh(h * 0.5 + x), h.sum()), 0 * xs[0], xs)
    assert_all_close(f(ad, xs), f(unrolled, xs))
    g = lambda lib, xs: (lambda c, ys: c.sum() + ys.sum())(*f(lib, xs))
    for actual, expected in (
            (f(ad, xs)[1], f(unrolled, xs)[1]),
            (ad.grad(partial(g, ad))(xs), ad.grad(partial(g, unrolled))(xs))):
        assert actual.dtype == expected.dtype == dtype
        assert_close(actual, expected)


# Every transform by itself, and some of each other

def rnn(lib, w, xs, h=None):
    h, ys = lib.scan(lambda h, x: (np.tanh(h @ w + x), h * x),
                     np.zeros(3) if h is None else h, xs)
    return (h * h).sum() + (ys * ys).sum()


def rnn_reverse(lib, w, xs):
    h, ys = lib.scan(
        lambda h, x: ({'h': np.tanh(w @ h['h'] - x['a'])}, h['h'][0]),
        {'h': np.ones(3)}, {'a': xs, 'i': np.arange(5)}, reverse=True)
    return (h['h'] * ys[:3]).sum()


def nested_rnn(lib, w, xs):
    def outer(h, x):
        h, ys = lib.scan(lambda h, row: (np.sin(h * row + x), h @ x), h, w,
                         reverse=True)
        return h, ys
    h, ys = lib.scan(outer, np.ones(3), xs)
    return (h * h).sum() + (ys * ys).sum()


def lying_rnn(lib, w, xs):
    h, ys = lib.scan(lambda h, x: (sine(h @ w) + square(x), power(-h * h)),
                     np.zeros(3), xs)
    return (h * h).sum() + ys.sum()


def unrelated(lib, w, xs):
    """The weight changes nothing that is carried; rows see it late."""
    h, ys = lib.scan(lambda k, x: ((k[0] * 0.5, k[1] + 1), k[0] * w @ x),
                     (np.ones(3), 0), xs)
    return ys.sum() * h[1] + h[0].sum()


PROGRAMS = {f.__name__: f for f in (
    rnn, rnn_reverse, nested_rnn, lying_rnn, unrelated)}
BOTH = (0, 1)
TRANSFORMS = {
    'evaluate': lambda f: f,
    'jvp': lambda f: lambda w, xs: ad.jvp(f, (w, xs), (xs[:3], xs * xs)),
    'jvp_of_one': lambda f: lambda w, xs: ad.jvp(
        lambda w: f(w, xs), (w,), (w * w,)),
    'grad': lambda f: ad.grad(f, BOTH), 'grad_of_one': ad.grad,
    'linearize': lambda f: lambda w, xs: ad.linearize(f, w, xs)[1](w, xs),
    'staged': staged, 'jit': ad.jit, 'checkpoint': ad.checkpoint,
    'jit_of_grad': lambda f: ad.jit(ad.grad(f, BOTH)),
    'grad_of_jit': lambda f: ad.grad(ad.jit(f), BOTH),
    'grad_of_checkpoint': lambda f: ad.grad(ad.checkpoint(f), BOTH),
    'staged_grad_of_staged': lambda f: staged(ad.grad(staged(f), BOTH)),
    'hessian': ad.hessian, 'jacrev_of_jacrev': lambda f: ad.jacrev(
        ad.jacrev(f)), 'jacrev_of_jacfwd': lambda f: ad.jacrev(ad.jacfwd(f)),
    'third': lambda f: ad.grad(lambda w, xs: ad.jvp(
        lambda w: ad.grad(f, 1)(w, xs), (w,), (w,))[1].sum()),
}


@crossed('name, transform', PROGRAMS, TRANSFORMS)
def test_each_transform_of_a_scan_is_that_of_the_loop(name, transform):
    f, change = PROGRAMS[name], TRANSFORMS[transform]
    assert_all_close(change(partial(f, ad))(W, XS),
                     change(partial(f, unrolled))(W, XS))


@pytest.mark.parametrize('axes', [(0, None), (None, 0), (2, 1)])
@pytest.mark.parametrize('change', [
    lambda f: f, lambda f: ad.grad(f, BOTH), ad.jit,
    lambda f: ad.jit(ad.grad(f, BOTH))], ids=['f', 'grad', 'jit', 'jit_grad'])
@pytest.mark.parametrize('name', PROGRAMS)
def test_vmap_of_a_scan_is_the_stack_of_loops(name, change, axes):
    args = [x if axis is None else np.stack([x, x * x], axis)
            for x, axis in zip((W, XS), axes)]
    actual = ad.vmap(change(partial(PROGRAMS[name], ad)), axes)(*args)
    expected = [change(partial(PROGRAMS[name], unrolled))(*[
        x if axis is None else np.take(x, k, axis)
        for x, axis in zip(args, axes)]) for k in (0, 1)]
    assert_all_close(actual, ad.tree_map(lambda *x: np.stack(x), *expected))


def test_a_grad_of_vmap_of_a_scan_sums_what_is_shared():
    def f(w, xs):
        return ad.vmap(partial(rnn, ad), (None, 0))(w, xs).sum()

    def twin(w, xs):
        return sum(rnn(unrolled, w, x) for x in xs)

    def squares(f):
        return lambda w, xs: (ad.grad(f)(w, xs) ** 2).sum()

    xs = np.stack([XS, XS * XS])
    for change in (ad.grad, lambda f: ad.jit(ad.grad(f)),
                   lambda f: ad.grad(squares(f), BOTH)):
        assert_all_close(change(f)(W, xs), change(twin)(W, xs))


def test_a_scan_without_a_carry_maps():
    f = lambda xs: ad.scan(lambda _, x: (None, np.sin(x) * x), None, xs)[1]
    assert_close(f(X), np.sin(X) * X)
    truth = np.cos(X) * X + np.sin(X)
    for g in (f, ad.jit(f), ad.checkpoint(f)):
        assert_close(ad.grad(lambda x: g(x).sum())(X), truth)
        assert_close(d(g)(X), truth)
        assert_close(ad.grad(lambda x: d(g)(x).sum())(X),
                     2 * np.cos(X) - np.sin(X) * X)


def test_the_pullback_of_a_scan_can_be_transposed():
    """All carries of it are unknown, and its residuals are not."""
    y, pullback = ad.vjp(partial(rnn, ad), W, XS)
    z, other = ad.vjp(partial(rnn, unrolled), W, XS)
    assert_close(ad.linear_transpose(pullback, y)((W, XS))[0],
                 ad.linear_transpose(other, z)((W, XS))[0])
    y, run = ad.linearize(partial(rnn, ad), W, XS)
    assert_all_close(ad.linear_transpose(run, W, XS)(1.0), pullback(1.0))


def test_linear_transpose_of_a_scan():
    f = lambda lib, xs: lib.scan(lambda c, x: (c @ W + x, c[0]),
                                 np.zeros(3), xs)
    ct = (X[:3], XS[:, 0])
    assert_all_close(ad.linear_transpose(partial(f, ad), XS)(ct),
                     ad.linear_transpose(partial(f, unrolled), XS)(ct))
    with pytest.raises(TypeError, match='the program is not linear'):
        ad.linear_transpose(lambda xs: ad.scan(
            lambda c, x: (c + x, None), np.ones(3), xs)[0], XS)(X[:3])


# Integers, and what does not move

def test_integers_are_carried_along():
    def f(lib, x):
        (i, c), ys = lib.scan(lambda k, n: ((k[0] + n, k[1] * x * k[0]),
                                            (k[0], k[1])),
                              (1, x), np.arange(1, 4))
        return c + (ys[0] * ys[1]).sum()
    g, twin = partial(f, ad), partial(f, unrolled)
    for change in (lambda f: f, ad.grad, d, lambda f: ad.grad(ad.grad(f)),
                   ad.jit, lambda f: ad.jit(ad.grad(f))):
        assert_close(change(g)(1.5), change(twin)(1.5))
    assert_close(ad.vmap(ad.grad(g))(X),
                 np.stack([ad.grad(twin)(x) for x in X]))


def test_integer_inputs_have_float0_cotangents():
    f = lambda x, n: ad.scan(lambda c, k: (c * k, None), x, n)[0]
    _, pullback = ad.vjp(f, 2.0, np.arange(1, 4))
    x_bar, n_bar = pullback(1.0)
    assert x_bar == 6.0
    assert n_bar.dtype == ad.float0 and n_bar.shape == (3,)
    _, pullback = ad.vjp(lambda n: f(2.0, n), np.arange(1, 4))
    assert pullback(1.0)[0].dtype == ad.float0


# Custom rules

def test_hard_case_1_a_rule_survives_at_second_order():
    f = with_jvp(lambda x: np.sin(x),
                 lambda p, t: (f(*p), 10 * np.cos(p[0]) * t[0]))
    loop = lambda wrap: lambda x: ad.scan(
        lambda c, _: (wrap(f)(c), None), x, None, length=3)[0]
    branch = lambda f: lambda x: ad.cond(x < 9, f, np.cos, x)
    grad = lambda f: lambda x: ad.vjp(f, x)[1](1.0)[0]
    for wrap in (lambda f: f, ad.jit, ad.checkpoint, branch,
                 lambda f: ad.jit(branch(ad.checkpoint(f)))):
        for outer in (lambda f: f, ad.jit, ad.checkpoint, branch)[
                ::1 if amount.WHOLE else 2]:
            g = outer(loop(wrap))
            for order in (lambda f: ad.grad(ad.grad(f)), ad.hessian,
                          lambda f: ad.jit(ad.grad(ad.jit(ad.grad(f)))),
                          lambda f: ad.jacrev(ad.jacfwd(f)),
                          lambda f: grad(grad(f))):
                assert_close(order(g)(1.0), -10805.46137749049)


@pytest.mark.parametrize('order', [1, 2, 3, 4])
def test_d1_d6_d9_a_rule_that_calls_its_function_survives_at_order(order):
    """The n-th derivative of `power` says 2^n times itself."""
    f = lambda x: ad.scan(lambda c, _: (c, power(x)), 0., None, length=2)[1]
    g = lambda x: f(x).sum()
    for change in (d, ad.grad):
        h = g
        for _ in range(order):
            h = change(h)
        assert_close(h(0.5), 2 * 2 ** order * np.exp(0.5))
        assert_close(ad.jit(h)(0.5), 2 * 2 ** order * np.exp(0.5))
        assert_close(ad.vmap(h)(X), 2 * 2 ** order * np.exp(X))


def test_hard_case_6_carries_that_move_one_step_late():
    def f(lib, x):
        (a, b, c), ys = lib.scan(lambda k, _: ((k[1], k[2], x * k[2]), k[0]),
                                 (1., 1., 1.), None, length=4)
        return a + ys.sum()
    g = partial(f, ad)
    for g in (g, ad.jit(g), ad.checkpoint(g), staged(g)):
        assert g(2.) == 9.0
        assert ad.grad(g)(2.) == d(g)(2.) == 5.0
        for second in (ad.grad(ad.grad(g)), ad.hessian(g), d(d(g)),
                       ad.grad(d(g)), ad.jit(ad.grad(ad.grad(g)))):
            assert second(2.) == 2.0
        assert_close(ad.vmap(g)(X), np.stack([f(unrolled, x) for x in X]))


def test_d1_three_for_two_in_a_loop():
    f = lambda x: ad.scan(lambda c, _: (c, square(x)), 0., length=1)[1][0]
    ones = np.ones(4)
    assert ad.grad(f)(1.) == 3.0
    assert_same(ad.vmap(ad.grad(f))(ones), np.full(4, 3.))
    assert_same(ad.grad(lambda x: np.sum(ad.vmap(f)(x)))(ones),
                np.full(4, 3.))
    h = lambda xs: ad.scan(lambda c, x: (c, square(x)), 0., xs)[1].sum()
    assert_same(ad.grad(h)(ones), np.full(4, 3.))


def test_d18_1097_custom_rules_under_array_functions_in_a_loop():
    """jax 1097: a rule was lost under an array function, in a loop."""
    f = with_vjp(lambda x: np.sin(x), lambda x: (f(x), x),
                 lambda x, ct: (7 * ct * np.cos(x),))

    def g(lib, x):
        c, ys = lib.scan(lambda c, x: (np.sum(f(c * x)), np.stack(
            [f(x), x])), 1.0, x)
        return c + np.concatenate([ys, ys]).sum()

    for change in (ad.grad, lambda f: ad.jit(ad.grad(f)),
                   lambda f: ad.grad(ad.jit(f))):
        assert_close(change(partial(g, ad))(X), ad.grad(
            partial(g, unrolled))(X))
    one = np.array([0.5])
    assert_close(ad.grad(partial(g, ad))(one), 21 * np.cos(one) + 2)


def test_d18_1723_a_custom_rule_inside_control_flow():
    """jax 1723: the rule of a function in a loop was not asked."""
    f = with_vjp(lambda x: x * x, lambda x: (x * x, x),
                 lambda x, ct: (3 * ct * x,))
    g = lambda x: ad.scan(lambda c, _: (ad.cond(
        c > 0, lambda c: f(c), lambda c: c, c), None), x, length=2)[0]
    # 3x, and then 3x^2 for the derivative at x^2
    assert ad.grad(g)(2.0) == 3 * 2 * 3 * 4
    assert ad.grad(g)(-2.0) == 1.0
    assert_same(ad.vmap(ad.grad(g))(np.array([2., -2.])),
                np.array([72., 1.]))
    assert ad.jit(ad.grad(ad.jit(g)))(2.0) == 72.0
    assert ad.grad(ad.checkpoint(g))(2.0) == 72.0


def test_d18_1875_custom_gradient_inside_scan_then_grad():
    """jax 1875: a rule that closes over what the step has computed."""
    @ad.custom_gradient
    def f(x, y):
        root = np.sqrt(x)
        return root * y, lambda ct: (3 * ct * root * y, 5 * ct * root)

    def g(lib, x):
        c, ys = lib.scan(lambda c, x: (f(x, c), f(c, x)), 1.5, x)
        return c * ys.sum()
    x = np.array([1.25, 0.5, 2.0])
    for change in (ad.grad, lambda f: ad.jit(ad.grad(f)), lambda f: ad.grad(
            lambda x: (ad.grad(f)(x) ** 2).sum()), lambda f: ad.grad(
                ad.checkpoint(ad.jit(f)))):
        assert_close(change(partial(g, ad))(x),
                     change(partial(g, unrolled))(x))


def test_b1_both_rules_in_a_loop_and_who_is_asked():
    f = ad.custom_vjp(lambda x: x * x)
    f.defvjp(lambda x: (f(x), x), lambda x, ct: (5 * ct * x,))
    f.defjvp(lambda p, t: (f(*p), 3 * p[0] * t[0]))
    g = lambda x: ad.scan(lambda c, _: (c, f(x)), 0., length=2)[1].sum()
    for g in (g, ad.jit(g), ad.checkpoint(g)):
        assert d(g)(2.0) == 12.0 and ad.grad(g)(2.0) == 20.0
        assert ad.linearize(g, 2.0)[1](1.0) == 12.0
        assert_same(ad.vmap(d(g))(X), 6 * X)
        assert_same(ad.vmap(ad.grad(g))(X), 10 * X)


@pytest.mark.parametrize('kind', ['jvp', 'vjp', 'both'])
def test_b2_nondiff_arguments_hold_traced_values_of_a_loop(kind):
    """jax 9374, 20889, 23065: they leaked, or the loop refused them."""
    f, back = held(kind)

    def g(lib, a, x):
        return lib.scan(lambda c, w: (f({'w': w}, c) + f(a, x), f(w, x)),
                        x, X)[0]
    for h in (lambda f: f, ad.jit, ad.checkpoint):
        once = h(partial(g, ad))
        assert_close(once(7.0, 2.0), g(unrolled, 7.0, 2.0))
        truth = ad.grad(partial(g, unrolled), 1)(7.0, 2.0)
        assert_close(ad.grad(once, 1)(7.0, 2.0), truth)
        assert_close(ad.jit(ad.grad(once, 1))(7.0, 2.0), truth)
        assert_close(ad.vmap(ad.grad(once, 1), (0, None))(X, 2.0), np.stack(
            [ad.grad(partial(g, unrolled), 1)(a, 2.0) for a in X]))
        with pytest.raises(TypeError, match='(?s)Argument 0 of .*scale is '
                           'named in nondiff_argnums, but is being diff'):
            ad.grad(once)(7.0, 2.0)


# What it closes over

def test_a_body_closes_over_tracers():
    def f(lib, w):
        a = np.sin(w)
        return lib.scan(lambda c, x: (c * a + x * w, None), w, X)[0]
    g, twin = partial(f, ad), partial(f, unrolled)
    assert_close(ad.grad(g)(0.5), ad.grad(twin)(0.5))
    assert_close(d(g)(0.5), d(twin)(0.5))
    assert_close(ad.vmap(g)(X), np.stack([twin(x) for x in X]))
    assert_close(ad.vmap(ad.grad(g))(X), np.stack([ad.grad(twin)(x)
                                                   for x in X]))
    assert_close(ad.jit(g)(0.5), twin(0.5))
    assert_close(staged(ad.grad(staged(g)))(0.5), ad.grad(twin)(0.5))
    outer = lambda lib, w: lib.scan(lambda c, x: (c + f(lib, w * x), None),
                                    0.0, X)[0]
    assert_close(ad.grad(partial(outer, ad))(0.5),
                 ad.grad(partial(outer, unrolled))(0.5))


def test_tracers_of_two_transformations_are_kept_apart():
    f = lambda x: d(lambda y: ad.scan(
        lambda c, _: (c * x + y, None), 0.0, length=2)[0])(1.0)
    assert f(3.0) == 4.0 and d(f)(3.0) == 1.0 and ad.grad(f)(3.0) == 1.0


def test_a_tracer_that_escapes_from_a_body_is_named():
    kept = []
    ad.scan(lambda c, x: (kept.append(c) or c, None), 0.0, X)
    with pytest.raises(ad.UnexpectedTracerError, match='scan of .*returned'):
        kept[0] + 1


def test_constants_are_taken_as_they_were():
    w = np.ones(3)
    f = ad.jit(lambda x: ad.scan(lambda c, _: (c * w, w), x, length=2))
    y, ws = f(np.ones(3))
    w[:] = 5
    assert_same(f(np.ones(3))[0], np.ones(3))
    ws[:] = 7
    assert_same(f(np.ones(3))[1], np.ones((2, 3)))
    y, w2 = ad.scan(lambda c, _: (w, c), w, length=1)
    y[0] = 11
    assert w[0] == 5


# What the pullback keeps

def test_weights_are_passed_and_not_stacked():
    w, xs, n = np.ones((3, 3)), np.ones((5, 3)), 5

    def f(w, xs):
        h, _ = ad.scan(lambda h, x: (np.tanh(h @ w + x), None),
                       np.zeros(3), xs)
        return h.sum()
    assert (n, 3, 3) not in residual_shapes(f, w, xs)
    assert residual_shapes(f, w, xs).count((3, 3)) == 1
    rows = [shape for shape in residual_shapes(f, w, xs) if 5 in shape]
    assert rows == [(5, 3), (5, 3)]     # the carries, and their slopes
    # with a constant weight, which is in the program
    assert residual_shapes(lambda xs: f(w, xs), xs) == [(3,), (5, 3)]
    # under jit, and of a loop in a loop
    assert (n, 3, 3) not in residual_shapes(ad.jit(f), w, xs)
    outer = lambda w, xs: ad.scan(lambda c, _: (c + f(w * 1.0, xs), None),
                                  0.0, length=7)[0]
    assert not {(7, 3, 3), (7, 5, 3, 3)} & {*residual_shapes(outer, w, xs)}


def test_what_depends_on_constants_is_computed_once():
    xs = np.ones((5, 3))

    def f(w, xs):
        h, _ = ad.scan(lambda h, x: (h * np.sin(np.exp(w)) + x * np.cos(w),
                                     None), np.zeros(3), xs)
        return h.sum()
    for shape in residual_shapes(lambda xs: f(X[:3], xs), xs):
        assert shape == (3,)
    jaxpr = ad.make_jaxpr(lambda w, xs: ad.vjp(
        lambda xs: f(w, xs), xs)[0])(X[:3], xs)
    for eqn in jaxpr.eqns:
        if eqn.primitive is scan_p:
            inside = [str(e.primitive) for e in eqn.params['jaxpr'].eqns]
            assert not {'sin', 'exp', 'cos'} & {*inside}


def test_rows_that_are_scanned_over_are_not_stacked_again():
    xs = np.ones((5, 3))
    f = lambda c, xs: ad.scan(lambda c, x: (c * x, None), c, xs)[0].sum()
    _, pullback = ad.vjp(f, np.ones(3), xs)
    kept = [x for x in ad.tree_leaves(pullback) if np.shape(x) == (5, 3)]
    # the rows themselves, and the carries
    assert len(kept) == 2
    assert residual_shapes(lambda c: f(c, xs), np.ones(3)) == [(5, 3)]


def test_a_loop_that_is_linear_keeps_nothing():
    f = lambda xs: ad.scan(lambda c, x: (c * 2.0 + x, None), 0.0, xs)[0]
    assert residual_shapes(f, X) == [()]    # the zero with which it starts


def test_what_is_known_is_computed_now_and_not_again():
    runs = []
    p = ad.Primitive('counted')
    p.def_impl(lambda x: runs.append(1) or np.sin(x))
    p.def_abstract_eval(lambda x: ad.ShapedArray(x.shape, x.dtype))
    f = lambda w: ad.scan(lambda k, x: ((p.bind(k[0]), k[1] * w * k[0]),
                                        None), (0.5, 1.0), length=4)[0][1]
    _, pullback = ad.vjp(f, 2.0)
    assert len(runs) == 4
    pullback(1.0), pullback(2.0)
    assert len(runs) == 4


# Programs

def test_a_staged_scan_is_one_equation_that_checks():
    f = partial(rnn, ad)
    for g in (f, ad.grad(f, BOTH), ad.jit(f), ad.hessian(f),
              ad.checkpoint(f), ad.grad(ad.checkpoint(f))):
        check_jaxpr(ad.make_jaxpr(g)(W, XS))
    check_jaxpr(ad.make_jaxpr(ad.vmap(ad.grad(f), (None, 0)))(
        W, np.stack([XS, XS])))
    jaxpr = ad.make_jaxpr(f)(W, XS)
    assert [e.primitive for e in jaxpr.eqns].count(scan_p) == 1
    assert 'scan[' in str(jaxpr) and 'length=5' in str(jaxpr)


def test_the_body_is_traced_as_often_as_types_need_it_not_per_step():
    runs = []
    f = lambda c, x: runs.append(1) or (c * x, c)
    ad.scan(f, 1.0, np.arange(100.))
    assert len(runs) == 2       # the number became an array
    runs.clear()
    ad.grad(lambda c: ad.scan(f, c, np.arange(100.))[0])(np.float64(1.0))
    assert len(runs) == 1


# Mistakes

def scan(f, init=1.0, xs=None, **keywords):
    def mistake():
        def body(carry, x):
            return f(carry, x)
        return ad.scan(body, init, xs, **keywords)
    return mistake


C = lambda c, x: (c, x)
NAME = 'scan of .*body'
TREES = (f'{NAME}.*body function carry input and carry output must have the '
         'same pytree structure, but they differ: the input is ')
TYPES = (': body function carry input and carry output must have equal types '
         '.*they differ: the input is ')
ERRORS = {
    'tree': (scan(lambda c, x: ((c, c), x), length=2), T,
             TREES + r'PyTreeDef\(\*\), and the output .*\(\*, \*\)'),
    'tree_none': (scan(lambda c, x: (None, x), length=2), T,
                  TREES + r'PyTreeDef\(\*\), and the output .*None'),
    'tree_keys': (scan(lambda c, x: ({'b': c['a']}, x), {'a': 1.}, length=2),
                  T, TREES + ".*'a'.*and the output.*'b'"),
    'shape': (scan(lambda c, x: (c * np.ones(3), x), np.zeros(2)[0],
                   length=2), T, NAME + ': carry' + TYPES
              + r'float64\[\], and the output float64\[3\]'),
    'shape_of_number': (scan(lambda c, x: (c * np.ones(3), x), length=2), T,
                        TYPES + r'float64\[\], and the output float64\[3\]'),
    'dtype': (scan(lambda c, x: (c * np.float64(2), x), np.float32(1),
                   length=2), T, NAME + ': carry' + TYPES
              + r'float32\[\], and the output float64\[\]'),
    'complex': (scan(lambda c, x: (c * 1j, x), np.float64(1), length=2), T,
                TYPES + r'float64\[\], and the output complex128\[\]'),
    'leaf': (scan(lambda c, x: ({'a': c['a'], 'b': [c['b'][0] > 0]}, x),
                  {'a': 1., 'b': [np.ones(2)]}, length=2), T,
             r"carry\['b'\]\[0\]" + TYPES
             + r'float64\[2\], and the output bool\[2\]'),
    'number_truncated': (scan(lambda c, x: (x, c), 1.5, np.arange(2)), T,
                         TYPES + r'float64\[\], and the output int64\[\]'),
    'no_pair': (scan(lambda c, x: c, length=2), T, f'{NAME}.*must return a '
                r'pair \(carry, y\), but its output is PyTreeDef\(\*\)'),
    'three': (scan(lambda c, x: (c, x, x), length=2), T,
              f'{NAME}.*must return a pair'),
    'list': (scan(lambda c, x: [c, x], length=2), T,
             f'{NAME}.*must return a pair'),
    'none': (scan(lambda c, x: None, length=2), T,
             f'{NAME}.*must return a pair.*None'),
    'no_length': (scan(C), V, f'{NAME}: .*needs xs to go along, or a length'),
    'empty_tree': (scan(C, xs=[]), V, f'{NAME}: .*xs .*or a length'),
    'lengths': (scan(C, xs=[np.ones(2), np.ones(3)]), V,
                NAME + r': .*different leading axis sizes: xs\[0\] has 2, '
                r'xs\[1\] has 3\.'),
    'lengths_named': (scan(C, xs={'a': X, 'b': (X[:3],)}, length=4), V,
                      r"xs\['a'\] has 4, .*xs\['b'\]\[0\] has 3, "
                      'length has 4'),
    'length': (scan(C, xs=X, length=3), V, 'xs has 4, length has 3'),
    'no_axis': (scan(C, xs=2.0), V, f'{NAME}: xs: scan goes along the first '
                r'axis, but this has none: float64\[\]. Close over'),
    'no_axis_leaf': (scan(C, xs={'a': X, 'b': 2}), V,
                     r"xs\['b'\]: .*has none: int64\[\]"),
    'negative': (scan(C, length=-1), V, 'scan'),
    'length_float': (scan(C, length=2.5), T,
                     f"{NAME}: length: 'float' object cannot be interpreted "
                     'as an integer'),
    'length_traced': (lambda: ad.jit(lambda n: scan(C, length=n)())(3), T,
                      '__index__.. method was called on traced array'),
    'init': (scan(C, 'a', length=2), T, f'{NAME}: init: .*type str'),
    'init_leaf': (scan(C, {'a': 'a'}, length=2), T, r"init\['a'\]: .*str"),
    'xs': (scan(C, xs=[X, 'a']), T, r'xs\[1\]: a value of type str'),
    'y': (scan(lambda c, x: (c, {'a': 'a'}), xs=X), T,
          f"{NAME}: output.*'a'.*type str"),
    'd3_carry': (scan(lambda c, x: (c if c > 0 else -c, x), xs=X),
                 ad.TracerBoolConversionError,
                 f'Attempted boolean conversion .*{NAME}.*np.where'),
    'd3_row': (scan(lambda c, x: (c if x > 0 else -c, x), xs=X),
               ad.TracerBoolConversionError, f'{NAME}.*cannot branch on it'),
    'd3_rule': (lambda: ad.grad(lambda x: scan(lambda c, x: (with_jvp(
        lambda x: x, lambda p, t: (p[0], t[0] if p[0] > 0 else -t[0]))(c),
        x), x, X)()[0])(1.0), ad.TracerBoolConversionError, 'np.where'),
    'float': (scan(lambda c, x: (float(c), x), xs=X),
              ad.ConcretizationTypeError, f'{NAME}.*float'),
}


@pytest.mark.parametrize('name', ERRORS)
def test_every_mistake_with_a_scan_is_named(name):
    assert_named_everywhere(*ERRORS[name])
    # and the interpreter works afterwards
    assert ad.scan(lambda c, x: (c + x, None), 0.0, X)[0] == X.sum()
