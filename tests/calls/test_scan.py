"""Guard `scan`: types, errors, residuals, and custom rules in a loop.

Derivatives of random loops are compared with unrolled loops in
test_unrolled.py.
"""

from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.calls.loops import scan_p
from tests.support.control_flow import unrolled
from tests.support.identical import assert_identical
from tests.support.jvp_rules import custom as with_jvp
from tests.support.numerical import assert_close, assert_same
from tests.support.traces import assert_named_everywhere
from tests.support.transforms import d, staged
from tests.support.trees import assert_trees
from tests.support.vjp_rules import custom as with_vjp

RNG = np.random.default_rng(0)
W, XS = RNG.normal(size=(3, 3)) / 2, RNG.normal(size=(5, 3))
X = np.linspace(-0.5, 1.5, 4)
T, V = TypeError, ValueError


def residual_shapes(f, *args):
    return sorted(map(np.shape, ad.tree_leaves(ad.vjp(f, *args)[1])))


# Values and types

def test_a_scan_equals_a_loop():
    """In reverse, it starts at the end and keeps rows in place."""
    f = lambda c, x: (2 * c + x, c * x)
    for reverse, carry, ys in ((False, 11, [0., 0., 2., 12.]),
                               (True, 34, [0., 8., 6., 0.])):
        assert_trees(ad.scan(f, 0.0, np.arange(4.0), reverse=reverse),
                     (np.float64(carry), np.array(ys)))


def test_a_scan_without_xs_has_a_length():
    seen = []
    f = lambda c, x: seen.append(x) or (c * 2, c)
    carry, ys = ad.scan(f, 1.0, None, length=3)
    assert_same(carry, 8.0)
    assert_same(ys, np.array([1., 2., 4.]))
    assert seen == [None]
    assert_trees(ad.scan(f, 1.0, length=np.int64(3)), (carry, ys))
    assert_trees(ad.scan(f, 1.0, {'a': None}, length=3), (carry, ys))


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


def test_a_scan_of_no_steps_returns_a_copy():
    x = np.ones(3)
    for run in (lambda x: x, ad.jit(lambda x: x)):
        y, _ = ad.scan(lambda c, _: (c, None), run(x), length=0)
        y[0] = 5
        assert x[0] == 1


CARRIES = [     # init, body, and what unrolling gives
    (1, lambda c, x: c * 2, 8),
    (1, lambda c, x: c * 0.5, 0.125),
    (1.0, lambda c, x: c * np.float32(2), np.float32(8)),
    (np.float64(1), lambda c, x: 2.0, np.float64(2)),
    (1.0, lambda c, x: c * 1j, -1j),
]


@pytest.mark.parametrize('init, body, expected', CARRIES)
def test_a_python_number_takes_the_type_of_the_carry(
        init, body, expected):
    f = lambda c, x: (body(c, x), c)
    carry, ys = ad.scan(f, init, np.arange(3.0))
    assert_same(carry, expected)
    assert np.result_type(ys) == np.result_type(carry)
    assert_same(ad.jit(lambda c: ad.scan(f, c, np.arange(3.0))[0])(init),
                expected)


def test_rows_have_the_types_of_what_the_steps_compute():
    """They were int64 or float64: 2 ** -1 was 0, and 2 ** 64 an error."""
    for step, c in ((lambda n: 2 ** n, -1), (lambda n: n ** -1, 1),
                    (lambda x: x ** 0.5, -2.0), (lambda n: n * 2 ** 62, 1),
                    (lambda n: np.arange(3) * 2 ** n, -1)):
        f = lambda lib, c: lib.scan(lambda c, _: (c + 1, step(c)), c, None, 3)
        g = lambda lib, c: lib.scan(lambda c, _: f(lib, c), c, None, 2)
        for h in (f, g) if type(c) is int else (f,):
            assert_identical(h(ad, c), h(unrolled, c))


def test_linear_transpose_works_through_a_scan():
    f = lambda lib, xs: lib.scan(lambda c, x: (c @ W + x, c[0]),
                                 np.zeros(3), xs)
    ct = (X[:3], XS[:, 0])
    ad.tree_map(assert_close, ad.linear_transpose(partial(f, ad), XS)(ct),
                ad.linear_transpose(partial(f, unrolled), XS)(ct))
    with pytest.raises(TypeError, match='the program is not linear'):
        ad.linear_transpose(lambda xs: ad.scan(
            lambda c, x: (c + x, None), np.ones(3), xs)[0], XS)(X[:3])

    def from_start(c):
        return ad.linear_transpose(lambda x: ad.scan(
            lambda c, _: (c + x, None), c, None, 3)[0], 1.0)(1.0)[0]
    assert_close(ad.vmap(from_start)(np.zeros(2)), np.array([3.0, 3.0]))
    with pytest.raises(TypeError, match='the program is not linear'):
        ad.vmap(from_start)(np.array([0.0, 1.0]))


# Custom rules

def test_a_rule_survives_at_second_order():
    f = with_jvp(lambda x: np.sin(x),
                 lambda p, t: (f(*p), 10 * np.cos(p[0]) * t[0]))
    for wrap in (lambda f: f, ad.jit, ad.checkpoint):
        g = wrap(lambda x: ad.scan(lambda c, _: (wrap(f)(c), None), x, None,
                                   length=3)[0])
        for order in (lambda f: ad.grad(ad.grad(f)), ad.hessian,
                      lambda f: ad.jit(ad.grad(ad.jit(ad.grad(f)))),
                      lambda f: ad.jacrev(ad.jacfwd(f))):
            assert_close(order(g)(1.0), -10805.46137749049)


def test_carries_get_tangents_one_step_late():
    def f(lib, x):
        (a, b, c), ys = lib.scan(lambda k, _: ((k[1], k[2], x * k[2]), k[0]),
                                 (1., 1., 1.), None, length=4)
        return a + ys.sum()
    g = partial(f, ad)
    for g in (g, ad.jit(g), ad.checkpoint(g), staged(g)):
        assert g(2.) == 9.0
        assert ad.grad(g)(2.) == d(g)(2.) == 5.0
        assert ad.grad(ad.grad(g))(2.) == d(d(g))(2.) == 2.0
        assert ad.jit(ad.hessian(g))(2.) == 2.0
        assert_close(ad.vmap(g)(X), np.stack([f(unrolled, x) for x in X]))


@pytest.mark.asks('D18')
def test_custom_rules_survive_array_functions_in_a_loop():
    """jax 1097: a rule was lost under an array function, in a loop."""
    f = with_vjp(lambda x: np.sin(x), lambda x: (f(x), x),
                 lambda x, ct: (7 * ct * np.cos(x),))

    def g(x):
        c, ys = ad.scan(lambda c, x: (np.sum(f(c * x)), np.stack(
            [f(x), x])), 1.0, x)
        return c + np.concatenate([ys, ys]).sum()

    one = np.array([0.5])
    for change in (ad.grad(g), ad.jit(ad.grad(g)), ad.grad(ad.jit(g))):
        assert_close(change(one), 21 * np.cos(one) + 2)


@pytest.mark.asks('D18')
def test_a_custom_rule_is_used_inside_control_flow():
    """jax 1723: the rule of a function in a loop was not used."""
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


@pytest.mark.asks('D18')
def test_grad_works_over_custom_gradient_inside_scan():
    """jax 1875: a rule closes over a value that the step has computed."""
    @ad.custom_gradient
    def f(x, y):
        root = np.sqrt(x)
        return root * y, lambda ct: (3 * ct * root * y, 5 * ct * root)

    def g(lib, x):
        c, ys = lib.scan(lambda c, x: (f(x, c), f(c, x)), 1.5, x)
        return c * ys.sum()
    x = np.array([1.25, 0.5, 2.0])
    squared = lambda f: ad.grad(lambda x: (ad.grad(f)(x) ** 2).sum())
    for change in (ad.grad, lambda f: ad.jit(ad.grad(f)), squared,
                   lambda f: ad.grad(ad.checkpoint(ad.jit(f)))):
        assert_close(change(partial(g, ad))(x),
                     change(partial(g, unrolled))(x))


# Residuals of the pullback

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


def test_equations_of_constants_run_once():
    xs = np.ones((5, 3))

    def f(w, xs):
        h, _ = ad.scan(lambda h, x: (h * np.sin(np.exp(w)) + x * np.cos(w),
                                     None), np.zeros(3), xs)
        return h.sum()
    assert {*residual_shapes(lambda xs: f(X[:3], xs), xs)} == {(3,)}
    jaxpr = ad.make_jaxpr(lambda w, xs: ad.vjp(
        lambda xs: f(w, xs), xs)[0])(X[:3], xs)
    [body] = [eqn.params['jaxpr'] for eqn in jaxpr.eqns
              if eqn.primitive is scan_p]
    assert not {'sin', 'exp', 'cos'} & {str(e.primitive) for e in body.eqns}


SINGULAR = {    # work that raises an error, or warns
    'inv': lambda a: np.linalg.inv(a * np.zeros((2, 2)))[0, 0],
    'log': lambda a: np.log(a * 0.0)}
NO_STEPS = {
    'carry': lambda bad: lambda a: ad.scan(
        lambda c, _: (c + bad(a), c * bad(a)), a, None, 0)[0],
    'rows': lambda bad: lambda a: a + np.sum(ad.scan(
        lambda c, x: (c + bad(a) * x, c * bad(a)), a, np.zeros(0))[1]),
    'fori': lambda bad: lambda a: ad.fori_loop(
        2, 0, lambda i, c: c + bad(a), a),
    'inside': lambda bad: lambda a: ad.scan(
        lambda c, _: (NO_STEPS['carry'](bad)(a) + c - a, None), a, None,
        2)[0],
    'outside': lambda bad: lambda a: ad.scan(
        lambda c, _: (ad.scan(lambda c, _: (c + bad(a), None), c, None,
                              2)[0], None), a, None, 0)[0],
    'branch': lambda bad: lambda a: ad.scan(
        lambda c, x: (ad.cond(x > 9, lambda c: c + bad(a), lambda c: c, c),
                      None), a, np.arange(2.0))[0]}
FIRST = {
    'grad': ad.grad, 'jvp': lambda f: lambda x: ad.jvp(f, (x,), (1.0,))[1],
    'linearize': lambda f: lambda x: ad.linearize(f, x)[1](1.0),
    'jit': lambda f: ad.jit(ad.grad(f)),
    'of jit': lambda f: ad.grad(ad.jit(f)),
    'vmap': lambda f: lambda x: ad.vmap(ad.grad(f))(x * np.ones(2))[1],
    'checkpoint': lambda f: ad.grad(ad.checkpoint(f)),
    'hessian': lambda f: lambda x: 1 + ad.hessian(f)(x),
    'grad grad': lambda f: lambda x: 1 + ad.grad(ad.grad(f))(x)}


@pytest.mark.filterwarnings('error')
@pytest.mark.parametrize('name', NO_STEPS)
def test_a_loop_of_no_steps_runs_none_of_its_work(name):
    """The part that is the same at each step used to run before the loop."""
    for bad in SINGULAR.values():
        for derivative in FIRST.values():
            assert_close(derivative(NO_STEPS[name](bad))(1.0), 1.0)


def test_rows_that_are_scanned_over_are_not_stacked_again():
    xs = np.ones((5, 3))
    f = lambda c, xs: ad.scan(lambda c, x: (c * x, None), c, xs)[0].sum()
    # the rows themselves, and the carries
    assert residual_shapes(f, np.ones(3), xs).count((5, 3)) == 2
    assert residual_shapes(lambda c: f(c, xs), np.ones(3)) == [(5, 3)]


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
    'shape': (scan(lambda c, x: (c * np.ones(3), x), np.zeros(2)[0],
                   length=2), T, NAME + ': carry' + TYPES
              + r'float64\[\], and the output is float64\[3\]'),
    'leaf': (scan(lambda c, x: ({'a': [c['a'][0] > 0]}, x), {'a': [X]},
                  length=2), T, r"carry\['a'\]\[0\]" + TYPES
             + r'float64\[4\], and the output is bool\[4\]'),
    'number_truncated': (scan(lambda c, x: (x, c), 1.5, np.arange(2)), T,
                         TYPES + r'float64\[\], and the output is int64\[\]'),
    'no_pair': (scan(lambda c, x: c, length=2), T, f'{NAME}.*must return a '
                r'pair \(carry, y\), but its output is PyTreeDef\(\*\)'),
    'no_length': (scan(C), V, f'{NAME}: .*needs xs to iterate over, or a length'),
    'lengths_named': (scan(C, xs={'a': X, 'b': (X[:3],)}, length=4), V,
                      r"xs\['a'\] has 4, .*xs\['b'\]\[0\] has 3, "
                      'length has 4'),
    'no_axis': (scan(C, xs=2.0), V, f'{NAME}: xs: scan got value with no '
                'leading axis to scan over: scan iterates over the first axis '
                'of its inputs, but this input has no axes: float64'),
    'negative': (scan(C, length=-1), V, 'scan'),
    'length_traced': (lambda: ad.jit(lambda n: scan(C, length=n)())(3), T,
                      '__index__.. method was called on traced array'),
    'init': (scan(C, 'a', length=2), T, f'{NAME}: init: .*type str'),
    'xs': (scan(C, xs=[X, 'a']), T, r'xs\[1\]: a value of type str'),
    'd3_carry': (scan(lambda c, x: (c if c > 0 else -c, x), xs=X),
                 ad.TracerBoolConversionError,
                 f'Attempted boolean conversion .*{NAME}.*np.where'),
}


@pytest.mark.parametrize('name', ERRORS)
def test_every_mistake_with_a_scan_is_named(name):
    assert_named_everywhere(*ERRORS[name])
    # and the interpreter still works
    assert ad.scan(lambda c, x: (c + x, None), 0.0, X)[0] == X.sum()


# Without wings

def test_the_core_runs_loops_without_a_wing():
    def f(lib, x):
        c, ys = lib.scan(lambda c, x: (np.sin(c) * x, c), x, X, reverse=True)
        return ys, lib.while_loop(lambda c: c < 3, lambda c: c + x, c)

    with ad.plain():
        assert_trees(ad.jit(partial(f, ad))(0.5), f(unrolled, 0.5))
        c, ys = ad.jit(lambda x: ad.scan(
            lambda c, _: (c, (c, X)), x, length=0))(0.5)
        assert c == 0.5 and [y.shape for y in ys] == [(0,), (0, 4)]


@pytest.mark.parametrize('mistake', [
    lambda: ad.scan(lambda c, x: ((c, c), x), 0.0, X),
    lambda: ad.scan(lambda c, x: (x > 0, x), np.float64(0), X),
    lambda: ad.cond(True, lambda x: x, lambda x: (x, x), 0.0),
    lambda: ad.cond(True, lambda x: x, lambda x: x > 0, np.float64(0)),
])
def test_the_core_refuses_different_carries_without_the_checks(mistake):
    with ad.plain('messages'), pytest.raises(TypeError, match=(
            'of .*<lambda>: (body function carry input and carry output must '
            'have|the branches must return) (the same|equal)')):
        mistake()
