"""Guard `while_loop` and `fori_loop`: batches, known parts, and refusals.

Random loops are compared with Python's `while` in test_unrolled.py.
"""

from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.calls.loops import scan_p, while_p
from autodiff_mini.core.trace import Trace, current_trace
from tests.support.control_flow import unrolled
from tests.support.numerical import assert_close, assert_same
from tests.support.traces import assert_named_everywhere
from tests.support.transforms import d
from tests.support.trees import assert_trees

X = np.array([0.5, 1.5, -1.25, 2.0])
T = TypeError


# Values and types

def test_while_loop_runs_as_long_as_the_condition_holds():
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


# Forward mode

def power_of(lib, x, n):
    return lib.while_loop(lambda k: k[0] < n,
                          lambda k: (k[0] + 1, k[1] * x), (0, 1.))[1]


def test_a_stopped_element_keeps_its_values():
    """After the last step, the body has no value and no slope."""
    f = lambda lib, x: lib.while_loop(lambda c: c > 0.75, np.log, x)
    g, twin = partial(f, ad), partial(f, unrolled)
    xs = np.array([1.0, 0.5, 3.0, -2.0, 0.0])
    with np.errstate(all='ignore'):
        for change in (lambda f: f, d, lambda f: d(d(f))):
            expected = np.stack([change(twin)(x) for x in xs])
            assert_same(ad.vmap(change(g))(xs), expected, 4)
            assert_same(change(ad.vmap(g))(xs), expected, 4)


def test_a_stopped_element_raises_no_error():
    """Its matrix is singular, and the body would divide by zero."""
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
            for h in many, ad.jit(many), change(ad.vmap(g)):
                assert_close(h(a, b), expected)


def test_an_unmapped_condition_stays_a_scalar():
    f = lambda x: power_of(ad, x, 4)
    jaxpr = ad.make_jaxpr(ad.vmap(f))(X)
    (eqn,) = [e for e in jaxpr.eqns if e.primitive is while_p]
    assert str(eqn.params['test'].out_avals[0]) == 'bool[]'
    assert [str(v.aval) for v in eqn.outvars] == ['int64[]', 'float64[4]']


def test_vmap_can_map_a_part_of_what_the_condition_reads():
    f = lambda n: ad.while_loop(lambda c: np.sum(c[0]) < c[1], lambda c: (
        c[0] + 1, c[1]), (np.zeros(2), n))[0]
    assert_same(ad.vmap(f)(np.array([1., 5.])), np.array([[1, 1], [3., 3]]))


def test_linearize_loops_once_more_over_perturbed_carries():
    """The known part is computed, and the derivative is a separate loop."""
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


# Reverse mode

REVERSE = {
    'grad': ad.grad, 'jit_grad': lambda f: ad.jit(ad.grad(f)),
    'grad_jit': lambda f: ad.grad(ad.jit(f)),
    'checkpoint': lambda f: ad.grad(ad.checkpoint(f)),
    'grad_vmap': lambda f: lambda x: ad.grad(
        lambda x: ad.vmap(f)(x).sum())(X),
    'grad_jvp': lambda f: ad.grad(d(f)),
    'condition': lambda f: lambda x: ad.linear_transpose(
        lambda x: ad.while_loop(lambda c: c < 9, lambda c: 2 * c, x), x)(x),
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
    # and the interpreter still works
    assert d(f)(2.0) == 12.0 and ad.grad(np.square)(3.0) == 6.0
    assert ad.jit(f)(2.0) == 8.0
    assert_same(ad.vmap(d(f))(X), 3 * X * X)


def test_reverse_mode_passes_a_loop_without_tangents():
    f = lambda x: x * power_of(ad, 3.0, 2) + ad.while_loop(
        lambda c: c < x, lambda c: c + 1, 0)
    assert ad.grad(f)(2.5) == 9.0
    assert ad.grad(lambda x: x * power_of(
        ad, ad.stop_gradient(x), 2))(2.0) == 4.0
    # an output that does not depend on the perturbed input
    g = lambda x: ad.while_loop(lambda k: k[0] < 3, lambda k: (
        k[0] + 1, k[1] * x), (0, 1.0))[0] * x
    assert ad.grad(g)(2.0) == 3.0


# fori_loop

def factorial(lib, x, lower=1, upper=5):
    return lib.fori_loop(lower, upper, lambda i, c: c * i * x, 1.)


def test_fori_loop_counts():
    product = lambda i, c: c * i
    assert_same(ad.fori_loop(1, 5, product, 1), np.int64(24))
    assert_same(ad.fori_loop(5, 2, product, 7), np.int64(7))
    assert ad.fori_loop(np.int8(0), np.uint8(3), lambda i, c: c + i, 0) == 3
    assert_trees(ad.fori_loop(0, 3, lambda i, c: {
        'a': c['a'] + i, 'b': (c['b'][0] * 0.5, None)}, {
            'a': X, 'b': (1.0, None)}), {'a': X + 3, 'b': (0.125, None)})


def test_fori_loop_with_integers_is_a_scan_with_reverse_mode():
    f = partial(factorial, ad)
    assert scan_p in [e.primitive for e in ad.make_jaxpr(f)(2.0).eqns]
    for change in lambda f: f, ad.grad, d, ad.hessian:
        truth = change(lambda x: 24 * x ** 4)
        for g in (f, ad.jit(f), ad.checkpoint(f)):
            assert_close(change(g)(1.5), truth(1.5))
        assert_close(ad.vmap(change(f))(X), np.stack(list(map(truth, X))))


@pytest.mark.parametrize('bounds', [
    lambda n: (1, n), lambda n: (n - 4, 5), lambda n: (n - 4, n)])
def test_fori_loop_with_traced_bounds_is_a_while_loop(bounds):
    f = lambda n, x: factorial(ad, x, *bounds(n))
    assert while_p in [e.primitive for e in ad.make_jaxpr(f)(5, 2.).eqns]
    assert f(5, 2.0) == ad.jit(f)(5, 2.0) == 24 * 16.
    assert d(lambda x: ad.jit(f)(5, x))(2.0) == 24 * 32.
    assert ad.grad(f, 1)(5, 2.0) == 24 * 32.
    for gradient in ad.grad(ad.jit(f), 1), ad.jit(ad.grad(f, 1)):
        with pytest.raises(TypeError, match=WORDS):
            gradient(5, 2.0)


# Mistakes

def goes_on(x):
    return x


def loop(cond_fun=lambda c: c > 0, body=goes_on, init=1.0):
    def body_fun(x):
        return body(x)
    return lambda: ad.while_loop(cond_fun, body_fun, init)


NAME = 'while_loop of .*body_fun'
TREES = (f'{NAME}.*carry input and carry output must have the same pytree '
         'structure.*the input is ')
SCALAR = ', the condition of a while_loop, '
BOOL = ad.TracerBoolConversionError
ERRORS = {
    'float': (loop(goes_on), T, 'cond_fun must return a boolean scalar, but '
              rf'goes_on{SCALAR}returns float64\[\]'),
    'vector': (loop(lambda c: X > c), T, rf'{SCALAR}returns bool\[4\]'),
    'none': (loop(lambda c: None), T, SCALAR + 'returns .*None'),
    'tree': (loop(body=lambda c: (c, c)), T,
             TREES + r'.*\(\*\), and the output .*\(\*, \*\)'),
    'leaf': (loop(lambda c: c['a'] > 0, lambda c: {
        'a': c['a'], 'b': [c['b'][0] * np.float64(1)]},
        {'a': 1., 'b': [np.float32(1)]}), T, r"carry\['b'\]\[0\]: .*the "
        r'input is float32\[\], and the output is float64\[\]'),
    'd3_condition': (loop(lambda c: c > 0 and c < 1), BOOL,
                     'Attempted boolean conversion.*while_loop of'),
    'd3_body': (loop(body=lambda c: c - 1 if c > 0 else c), BOOL,
                f'{NAME}.*cannot branch on a value'),
    'fori_float': (lambda: ad.fori_loop(0, 2.5, lambda i, c: c, 1.), T,
                   'integer'),
}


@pytest.mark.parametrize('name', ERRORS)
def test_every_mistake_with_a_loop_is_named(name):
    assert_named_everywhere(*ERRORS[name])
    # and the interpreter still works
    assert d(lambda x: power_of(ad, x, 2))(3.0) == 6.0
