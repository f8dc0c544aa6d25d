"""Guard calls inside calls: a jit in a loop in a branch, with custom rules.

test_unrolled.py compares random nestings with twins. This file covers nondiff
arguments, escaped tracers, dead equations, and backward rules in each
operation that holds a function. b2 is a row of the appendix *What the
documents ask*.
"""

import numpy as np
import pytest

import autodiff_mini as ad
from tests.support.control_flow import ours, unrolled
from tests.support.numerical import assert_close
from tests.support.transforms import EDGES
from tests.support.vjp_rules import held


class twins(unrolled):
    """Python's control flow, instead of the library's."""

    cond = staticmethod(lambda pred, true_fun, false_fun, x: true_fun(x))


# Each takes a function of a number, and returns another.

CARRIERS = {
    'jit': lambda lib, f: lib.jit(f),
    'checkpoint': lambda lib, f: lib.checkpoint(f),
    'scan': lambda lib, f: lambda x: lib.scan(
        lambda c, w: (f(c), w * f(c)), x, np.array([0.5, 2.0]))[1].sum(),
    'cond': lambda lib, f: lambda x: lib.cond(x < 5, f, np.sin, x),
    'while': lambda lib, f: lambda x: lib.while_loop(
        lambda state: state[0] < 2,
        lambda state: (state[0] + 1, f(state[1])), (0, x))[1],
    'fori': lambda lib, f: lambda x: lib.fori_loop(
        0, 2, lambda i, c: f(c), x),
    'vmap': lambda lib, f: lambda x: lib.vmap(f)(
        np.stack([x, x * 0.5])).sum(),
    'call': lambda lib, f: lambda x: lib.call(f, x),
}


@ad.custom_vjp
def backwards(x):
    return np.sin(x)


backwards.defvjp(lambda x: (backwards(x), x),
                 lambda x, ct: (3 * np.cos(x) * ct,))


def slope_of(f):
    return lambda x: ad.jvp(f, (x,), (1.0,))[1]


def by_jaxpr(f):
    def again(x):
        jaxpr = ad.make_jaxpr(f)(x)
        return ad.eval_jaxpr(jaxpr, jaxpr.consts, x)[0]
    return again


def mapped(f):
    return lambda x: ad.vmap(f)(np.stack([x, x * 0.5, x + 0.2]))


FORWARD = "can't apply forward-mode autodiff .* to a custom_vjp function"


@pytest.mark.parametrize('carrier', CARRIERS)
def test_forward_mode_is_refused_without_a_forward_rule(carrier):
    f = CARRIERS[carrier](ours, backwards)
    for change in (slope_of, lambda f: ad.jit(slope_of(f)), ad.jacfwd,
                   lambda f: slope_of(ad.jit(f)),
                   lambda f: slope_of(by_jaxpr(f))):
        with pytest.raises(TypeError, match=FORWARD):
            change(f)(0.7)


@pytest.mark.asks('B2')
@pytest.mark.parametrize('carrier', CARRIERS)
def test_nondiff_arguments_can_hold_traced_values(carrier):
    """jax 9374, 20889, 23065: they leaked, or the loop refused them."""
    derivative = slope_of if carrier == 'while' else ad.grad

    def by_x(lib, a):
        return CARRIERS[carrier](lib, lambda x: f({'w': a}, x))

    def slope(lib, a):
        return derivative(by_x(lib, a))(0.25)

    for kind in ('jvp', 'both') if carrier == 'while' else (
            'jvp', 'vjp', 'both'):
        f, _ = held(kind)
        expected = slope(twins, 3.0)
        for wrap in (lambda f: f, ad.jit):
            g = wrap(lambda a: slope(ours, a))
            assert_close(wrap(lambda a: by_x(ours, a)(0.25))(3.0),
                         by_x(twins, 3.0)(0.25))
            assert_close(g(3.0), expected)
            assert_close(ad.vmap(g)(np.array([0.5, 3.0]))[1], expected)
        with pytest.raises(TypeError, match='(?s)Argument 0 of .*scale is '
                           'named in nondiff_argnums, but it is being diff'):
            derivative(lambda a: by_x(ours, a)(0.25))(3.0)


def test_linearize_of_a_loop_returns_an_array():
    """A loop treated all results of a call as unknown, so y was a tracer."""
    for body in CARRIERS.values():
        f, twin = [CARRIERS['while'](lib, body(lib, lambda x: x * 1.5))
                   for lib in (ours, twins)]
        y, run = ad.linearize(f, 2.0)
        assert_close(y, twin(2.0))
        assert_close(run(2.0), slope_of(twin)(2.0) * 2.0)


USES = [
    lambda t: t + 1, ad.jit(np.sin), lambda t: ad.vjp(np.sin, 1.0)[1](t),
    lambda t: ad.scan(lambda c, x: (c, x), t, np.ones(2)),
    lambda t: ad.cond(True, np.positive, np.positive, t),
    lambda t: ad.grad(lambda x: t[...])(1.0)]


@pytest.mark.parametrize('origin', [
    'jvp', 'vmap', 'jit', 'linearize', 'grad'])
def test_an_escaped_tracer_is_caught_where_it_is_used(origin):
    """It is an argument, or what a function returns."""
    escaped = []
    EDGES[origin](lambda x: escaped.append(np.sin(x)) or x)
    by_edge = [lambda t, f=f: f(lambda x: t) for f in EDGES.values()]
    for use in USES + by_edge:
        with pytest.raises(ad.UnexpectedTracerError, match='had returned'):
            use(escaped[0])


def test_an_escaped_tracer_from_a_rule_or_as_a_cotangent_is_refused():
    escaped = []
    ad.jit(lambda x: escaped.append(x) or x)(1.0)
    f = ad.custom_jvp(lambda x: x)
    f.defjvp(lambda p, t: (p[0], escaped[0]))
    g = ad.custom_vjp(lambda x: x)
    g.defvjp(lambda x: (x, None), lambda r, ct: (escaped[0],))
    for program in (lambda: ad.jvp(f, (1.0,), (1.0,)),
                    lambda: ad.vjp(g, 1.0)[1](1.0),
                    lambda: ad.vjp(np.sin, np.float64(1.0))[1](escaped[0]),
                    lambda: ad.grad(g)(1.0)):
        with pytest.raises((ad.UnexpectedTracerError, TypeError),
                           match='had returned'):
            program()


# Dead code does not run: only the first result of each is used

def pair_of(x):
    return x * x, backwards(x)


DEAD = {
    'plain': (pair_of, np.square),
    'jit': (ad.jit(pair_of), np.square),
    'jit_loop': (ad.jit(lambda x: (x * x, ad.fori_loop(
        0, 2, lambda i, c: backwards(c), x))), np.square),
    'jit_argument': (lambda x: (ad.jit(lambda a, b: a)(
        x * x, backwards(x)), backwards(x)), np.square),
    'checkpoint': (ad.checkpoint(pair_of), np.square),
    'cond': (lambda x: ad.cond(x < 9, pair_of, lambda x: (x, backwards(x)),
                               x), np.square),
    'carry': (lambda x: ad.scan(lambda c, _: (
        (c[0] * x, backwards(c[1])), None), (x, x), length=3)[0],
        lambda x: x ** 4),
    'while': (lambda x: ad.while_loop(lambda c: c[0] < 10, lambda c: (
        c[0] * x, backwards(c[1])), (x, x)), lambda x: x ** 4),
}


def run_of(f):
    return lambda x: np.sum(ad.linearize(f, x)[1](1.0))


def again(d, f):
    """Return the derivative of the sum of what `f` returns."""
    return d(lambda x: np.sum(f(x)))


def in_a_branch(f):
    return lambda x: ad.cond(x < 9, lambda x: np.sum(f(x)), np.sin, x)


FORWARD_ONLY = [
    run_of, lambda f: ad.jit(run_of(f)), lambda f: run_of(ad.jit(f))]
BOTH_WAYS = [
    lambda f: ad.grad(run_of(f)), lambda f: ad.jit(ad.grad(run_of(f))),
    # All operands of an inner jit counted as needed, even unread ones, and a
    # missing cotangent became zeros, which had a slope.
    lambda f: run_of(mapped(again(ad.grad, f))),
    lambda f: run_of(again(ad.grad, again(ad.grad, f))),
    # A known branch ran line by line, with its dead lines.
    lambda f: run_of(slope_of(in_a_branch(f))),
    lambda f: slope_of(again(ad.grad, in_a_branch(f))),
    lambda f: again(ad.grad, slope_of(in_a_branch(f)))]


@pytest.mark.parametrize('name', DEAD)
def test_dead_equations_of_a_linear_program_do_not_run(name):
    both_results, truth = DEAD[name]
    for transform in FORWARD_ONLY + BOTH_WAYS * (name != 'while'):
        assert_close(transform(lambda x: both_results(x)[0])(2.0),
                     transform(truth)(2.0))
    _, run = ad.linearize(lambda x: both_results(x)[1], 2.0)
    with pytest.raises(TypeError, match=FORWARD):
        run(1.0)


# A custom_vjp function, used linearly in a rule

def sine_by(g):
    """Return a function whose rule applies `g` to its tangent."""
    f = ad.custom_jvp(lambda x: np.sin(x))
    f.defjvp(lambda p, t: (f(*p), g(t[0], p[0])))
    return f


def lying_slope():
    """Return t cos(y), whose backward rule says ten times as much."""
    g = ad.custom_vjp(lambda t, y: t * np.cos(y))
    g.defvjp(lambda t, y: (g(t, y), (t, y)), lambda r, ct: (
        g(ct, r[1]), -10 * r[0] * np.sin(r[1]) * ct))
    return g


@pytest.mark.parametrize('carrier', [
    'jit', 'checkpoint', 'cond', 'call'])
def test_a_backward_rule_applied_to_a_tangent_survives(carrier):
    """The call was opened, and the second derivative was -sin."""
    f = CARRIERS[carrier](ours, sine_by(lying_slope()))
    for twice in (ad.grad(ad.grad(f)), ad.grad(slope_of(f)),
                  ad.grad(lambda x: ad.linearize(f, x)[1](1.0)),
                  ad.jit(ad.grad(ad.grad(f))), ad.grad(ad.jit(ad.grad(f))),
                  ad.jacrev(ad.jacrev(f)), by_jaxpr(ad.grad(ad.grad(f)))):
        assert_close(twice(1.0), -10 * np.sin(1.0))
    xs = np.array([0.5, 1.0])
    assert_close(ad.vmap(ad.grad(ad.grad(f)))(xs), -10 * np.sin(xs))
    assert_close(ad.grad(ad.grad(ad.grad(f)))(1.0), -10 * np.cos(1.0))
    for forwards_of_it in (ad.hessian(f), slope_of(ad.grad(f))):
        with pytest.raises(TypeError, match=FORWARD + '.*the lambda in '):
            forwards_of_it(1.0)
