"""Known problems that go through several modules: they stay solved.

They are the problems that the design document lists (row D18 of *What the
documents ask*), the page's example (R1), the old mechanism (D2), and mistakes
with custom rules that the tests of the single modules don't make.  The
forward forms of D18 are in test_custom_jvp.py, those of custom_gradient in
test_closures.py.
"""

from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini import draft
from autodiff_mini.core.trace import Trace, current_trace
from tests.support.jvp_rules import custom as with_jvp
from tests.support.numerical import assert_close, assert_same
from tests.support.transforms import X, d, staged, summed_grad
from tests.support.vjp_rules import custom, square

STAGES = pytest.mark.parametrize('stage', [lambda f: f, staged])


# D18

@pytest.mark.asks('D18')
def test_the_linear_part_is_staged_once_and_transposed_later():
    """jax 636: a rule ran again for each tangent and each cotangent."""
    runs = []
    f = ad.custom_jvp(lambda x: np.sin(x))
    f.defjvp(lambda p, t: runs.append('jvp') or (
        np.sin(p[0]), 3 * np.cos(p[0]) * t[0]))
    y, run = ad.linearize(f, X)
    _, pullback = ad.vjp(f, X)
    assert runs == ['jvp'] * 2
    back = ad.linear_transpose(run, X)
    for t in (np.ones(4), X, 0 * X):
        assert_close(run(t), 3 * np.cos(X) * t)
        assert_close(pullback(t)[0], 3 * np.cos(X) * t)
        assert_close(back(t)[0], 3 * np.cos(X) * t)
    assert_close(ad.vmap(run)(np.eye(4)), np.diag(3 * np.cos(X)))
    assert runs == ['jvp'] * 2


@pytest.mark.asks('D18')
@STAGES
def test_vmap_keeps_the_rule(stage):
    """jax 1249: vmap went through the function, and its rule was gone."""
    f = ad.custom_vjp(lambda x: np.log(1 + np.exp(x)))
    f.defvjp(lambda x: (f(x), x), lambda x, ct: (
        ct * (1 - 1 / (1 + np.exp(x))),))
    x = np.array([0., 1000.])
    with np.errstate(over='ignore', invalid='ignore'):
        true = ad.vmap(ad.grad(f.fun))(x)
        assert np.isnan(true[1])
        for g in (ad.vmap(stage(ad.grad(f))), summed_grad(stage(ad.vmap(f))),
                  stage(ad.vmap(ad.grad(f)))):
            assert_same(g(x), np.array([0.5, 1.0]))


@pytest.mark.asks('D18')
def test_python_runs_in_both_passes():
    """jax 1275: a VJP rule could not run a solver or test for NaN."""
    def halved(x):
        while x > 1:
            x /= 2
        return x

    def look(x, ct):
        if np.isnan(ct):
            raise FloatingPointError('nan on the way back')
        return halved(ct),

    f = custom(halved, lambda x: (f(x), None), look)
    y, x_bar = ad.value_and_grad(lambda x: f(x) * 6.0)(3.0)
    assert (y, x_bar) == (4.5, 0.75)
    with np.errstate(all='ignore'), pytest.raises(
            FloatingPointError, match='nan on the way back'):
        ad.grad(lambda x: np.sqrt(f(x) - x) * 0.0)(0.5)
    assert current_trace() is Trace.base


@pytest.mark.asks('D18')
@STAGES
def test_a_rule_calls_jvp_with_the_tangents_it_was_given(stage):
    """jax 1670: jvp refused zeros, and zeros of integers, as tangents."""
    def g(x, y, n):
        return np.sin(x) * y ** n + np.sum(x), n

    f = with_jvp(g, lambda p, t: ad.jvp(g, p, t))
    for loss in (lambda f, x: f(x, 2.0, 3)[0], lambda f, x: f(3.0, x, 3)[0]):
        for by in ad.grad, lambda h: ad.grad(d(h)), lambda h: d(ad.grad(h)):
            by = by(stage(partial(loss, f))), by(partial(loss, g))
            assert_close(by[0](0.7), by[1](0.7))
            assert_close(ad.vmap(by[0])(X), ad.vmap(by[1])(X))


@pytest.mark.asks('D18')
def test_grad_works_over_custom_gradient_in_a_mapped_body():
    """jax 1875: what its rule closed over leaked out of the body."""
    def closing(x, c):
        scale = np.sin(c)
        return ad.custom_gradient(
            lambda x: (x * scale, lambda ct: 3 * ct * scale))(x)

    def body(x, c):
        return ad.custom_gradient(lambda x, scale: (
            x * scale, lambda ct: (3 * ct * scale, None)))(x, np.sin(c))

    expected = 3 * np.sin(X).sum()
    for f in closing, body, staged(body):
        total = lambda x: ad.vmap(f, (None, 0))(x, X).sum()
        assert_close(staged(ad.grad(total))(2.0), expected)
        assert_close(ad.vmap(ad.grad(total))(X), np.full(4, expected))
    # if it is staged first, it must not close over `c`
    total = staged(lambda x: ad.vmap(body, (None, 0))(x, X).sum())
    assert_close(ad.grad(total)(2.0), expected)


# R1: the example of the page

@pytest.mark.asks('R1')
@pytest.mark.parametrize('stage', [lambda f: f, staged])
@pytest.mark.parametrize('dtype', [np.float32, float])
@pytest.mark.parametrize('options', [
    {}, {'symbolic_zeros': False, 'optimize_remat': True}])
def test_the_example_of_the_page_has_its_gradient(dtype, stage, options):
    @ad.custom_vjp
    def f(x, y):
        return np.sin(x) * y

    def f_fwd(x, y):
        return f(x, y), (np.cos(x), np.sin(x), y)

    def f_bwd(res, g):
        cos_x, sin_x, y = res
        return cos_x * g * y, sin_x * g

    f.defvjp(f_fwd, f_bwd, **options)
    y, (x_bar, y_bar) = ad.value_and_grad(stage(f), (0, 1))(
        dtype(1.0), dtype(2.0))
    for v, expected in (y, 1.68), (x_bar, 1.08), (y_bar, 0.84):
        assert round(float(v), 2) == expected
        assert np.result_type(v) == np.dtype(dtype)


# The table of mistakes.  All say the name of the user's function.

def loss(x, y=1.0):
    return x * y


def vjp_of(bwd=lambda r, ct: (ct, None)):
    return custom(loss, lambda x, y: (x * y, None), bwd)


def gradient_of(rule):
    def loss(x, y=1.0):
        return rule(x, y)
    return ad.custom_gradient(loss)


def late(x):
    """Run a rule that closes over a tracer of a finished program."""
    def program(c, x):
        c = c * 1.0
        return vjp_of(bwd=lambda r, ct: (ct * c, None))(x)
    return staged(program)(3.0, x)


ERRORS = [
    (ad.custom_vjp(loss), AttributeError,
     'No VJP defined for custom_vjp function loss.*defvjp'),
    (lambda x: ad.custom_vjp(loss, nondiff_argnums=-3), ValueError,
     'loss has no argument -3'),
    (lambda x: ad.custom_jvp(loss, nondiff_argnames='z'), ValueError,
     "loss has no argument 'z'"),
    (lambda x: vjp_of()(x, 'text'), TypeError,
     r'arguments of loss\[1\]: .*type str'),
    (with_jvp(loss, lambda p, t: (t[1], t[0]), symbolic_zeros=True),
     TypeError, 'loss.*(SymbolicZero|symbolic zero)'),
    (late, TypeError, 'The rule of .*loss closes over '
     'JaxprTracer.*had returned. Pass the value'),
    (gradient_of(lambda x, y: x), TypeError,
     'loss is a custom_gradient function, so it must return a pair '
     '.*but it returned'),
    (gradient_of(lambda x, y: (x, lambda ct: (
        ct if ct > 0 else -ct, None))),
     ad.TracerBoolConversionError, 'in custom_gradient of .*np.where'),
]


@pytest.mark.parametrize('program, error, words', ERRORS)
def test_every_mistake_with_a_custom_rule_is_named(program, error, words):
    for transform in ad.grad, lambda f: lambda x: ad.vjp(f, x)[1](1.0):
        with pytest.raises(error, match=f'(?s){words}'):
            transform(program)(2.0)
        assert current_trace() is Trace.base
    # and the interpreter works afterwards
    assert staged(ad.grad(staged(square)))(1.0) == 3.0


# D2: the old way is built and seen to fail

def old_custom_vjp(f, vjp_rule):
    """Return `f` as a primitive of the draft, with a rule for its name."""
    from autodiff_mini.draft.core import Primitive
    from autodiff_mini.draft.jaxpr import abstract_rules
    from autodiff_mini.draft.jvp import jvp_rules
    from autodiff_mini.draft.transpose import transpose_rules
    from autodiff_mini.draft.vmap import vmap_rules, vmap_with
    primitive, sealed_p = Primitive(f.__name__, f), Primitive('sealed', None)
    abstract_rules[sealed_p] = lambda x_dot, pullback: x_dot
    transpose_rules[sealed_p] = lambda cts, x_dot, pullback: [pullback(*cts)]

    def jvp_rule(tag, xs, x_dots):
        y, pullback = vjp_rule(*xs)
        return y, sealed_p.bind(*x_dots, pullback=pullback)

    jvp_rules[primitive] = jvp_rule
    vmap_rules[primitive] = lambda axis, *xs: vmap_with(axis, f)(*xs)
    return primitive.bind


@pytest.mark.asks('D2')
def test_the_old_way_loses_a_vjp_under_vmap():
    """The design document's own program, and its numbers."""
    f = old_custom_vjp(double, lambda x: (double(x), lambda ct: 3 * ct))
    grad, vmap, ones = draft.grad, draft.vmap, np.ones(4)
    assert grad(f)(1.0) == 3.0
    assert_same(vmap(grad(f))(ones), 3 * ones)
    assert_same(grad(lambda x: np.sum(vmap(f)(x)))(ones), 2 * ones)
    with pytest.raises(TypeError, match='not callable'):
        draft.jvp(f, (1.0,), (1.0,))
    assert grad(np.sin)(0.0) == 1.0


def double(x):
    return 2 * x
