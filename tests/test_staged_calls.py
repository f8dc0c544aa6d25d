"""Calls in jaxprs: how a custom rule gets through being written down.

A program is staged, run again and transformed, in every order.  Rules that
say more than the truth show that it is they who were asked.
"""

import itertools

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core import Trace, current_trace
from autodiff_mini.higher_order.call import call, call_p
from autodiff_mini.higher_order.custom_jvp import custom_jvp_call_p
from autodiff_mini.higher_order.staged_calls import StagedRule
from tests.jaxpr_checks import check_jaxpr
from tests.numerical import assert_close, assert_same
from tests.test_custom_jvp import (
    DETECTED,
    X,
    assert_trees,
    branching,
    branching_rule,
    custom,
    d,
    power,
    sine,
    square,
)
from tests.traces import spied


def staged(f):
    """Returns `f`, as a function that writes itself down, and runs that."""
    def f_by_jaxpr(*args):
        trees = []

        def flat(*xs):
            ys, tree = ad.tree_flatten(f(*xs))
            trees.append(tree)
            return ys
        jaxpr = ad.make_jaxpr(flat)(*args)
        check_jaxpr(jaxpr)
        return trees[0].unflatten(ad.eval_jaxpr(
            jaxpr, jaxpr.consts, *ad.tree_leaves(args)))
    return f_by_jaxpr


def summed_grad(f):
    """Returns the derivative of a function that works element by element."""
    return ad.grad(lambda x: np.sum(f(x)))


TRANSFORMS = {'s': staged, 'i': ad.jit, 'v': ad.vmap, 'j': d,
              'g': summed_grad,
              'l': lambda f: lambda x: ad.linearize(f, x)[1](
                  np.ones(np.shape(x))[()])}
NESTINGS = [''.join(names) for n in (1, 2, 3, 4)
            for names in itertools.product('svjg', repeat=n)
            if 's' in names] + ['sl', 'ls', 'sls', 'lsl', 'sslsl']


def nested(f, names):
    """Returns the transforms of `f`, the last name first."""
    for name in reversed(names):
        f = TRANSFORMS[name](f)
    return f


def point(names):
    """Returns a point with an axis for each vmap."""
    shape = [2] * names.count('v')
    return np.linspace(-1, 1, 2 ** len(shape)).reshape(shape)[()]


def order_of(names):
    return sum(map(names.count, 'jgl'))


@ad.custom_jvp
def expit(x):
    """Returns the logistic function; at -800 its formula overflows."""
    return 1 / (1 + np.exp(-x))


# D1, D6, D9: the rule survives, at any order, in any nesting

@pytest.mark.parametrize('names', NESTINGS)
def test_d1_d6_d9_every_nesting_keeps_the_rule(names):
    """The n-th derivative of `power` is 2^n times itself."""
    x, order = point(names), order_of(names)
    assert_close(nested(power, names)(x), 2 ** order * np.exp(x))
    # the rule of sine says 10 cos, and then the truth
    truth = [np.sin, np.cos, lambda x: -np.sin(x),
             lambda x: -np.cos(x), np.sin][order](x)
    assert_close(nested(sine, names)(x), truth * (10 if order else 1))


# D5, D6: what the jaxpr holds

def test_d6_the_equation_holds_the_call_and_its_rule():
    jaxpr = ad.make_jaxpr(lambda x: square(x) + 1)(2.0)
    eqn, add = jaxpr.eqns
    assert eqn.primitive is custom_jvp_call_p
    assert [e.primitive.name for e in eqn.params['fun'].jaxpr.eqns] == ['mul']
    assert str(jaxpr) == (
        '{ lambda ; a:float . let\n'
        '    b:float = custom_jvp_call[jvp=square_jvp] a\n'
        '        fun={ lambda ; a:float . let\n'
        '            b:float = mul a a\n'
        '          in (b,) }\n'
        '    c:float = add b 1\n'
        '  in (c,) }')
    ys, y_dots = eqn.params['jvp']([2.0], [1.0])
    assert (ys, y_dots) == ([4.0], [6.0])
    assert str(ad.make_jaxpr(staged(lambda x: square(x) + 1))(2.0)) == \
        str(jaxpr)


def test_d5_transforms_of_a_staged_call_are_staged_calls():
    for transform in (ad.vmap, d, lambda f: ad.vmap(d(f))):
        (eqn,) = ad.make_jaxpr(transform(lambda x: call(np.sin, x)))(X).eqns
        assert eqn.primitive is call_p
    for f, x in ((ad.vmap(square), X), (ad.vmap(ad.vmap(square)), X[None])):
        (eqn,) = ad.make_jaxpr(f)(x).eqns
        assert eqn.primitive is custom_jvp_call_p


# D6: the rule is delayed

def test_d6_a_rule_does_not_run_while_its_function_is_staged():
    runs = []
    f = custom(lambda x: runs.append('f') or np.sin(x),
               lambda p, t: runs.append('rule') or (np.sin(p[0]), t[0]))
    jaxpr = ad.make_jaxpr(f)(1.0)
    assert runs == ['f']
    ad.eval_jaxpr(jaxpr, [], 2.0)
    ad.vmap(lambda x: ad.eval_jaxpr(jaxpr, [], x))(X)
    ad.make_jaxpr(lambda x: ad.eval_jaxpr(jaxpr, [], x))(1.0)
    assert runs == ['f']            # what was written down is run instead
    ad.grad(lambda x: ad.eval_jaxpr(jaxpr, [], x)[0])(2.0)
    assert runs == ['f', 'rule']


def test_d6_a_rule_that_calls_its_own_function_does_not_recurse():
    """Without the thunk, staging the rule would stage the function."""
    f = custom(lambda x: np.sin(x), lambda p, t: (
        f(*p), (f(*p) + np.cos(p[0])) * t[0]))
    g = staged(f)
    assert_close(ad.grad(g)(1.0), np.sin(1.0) + np.cos(1.0))
    # sin + cos - sin
    assert_close(ad.grad(ad.grad(g))(1.0), np.cos(1.0))
    staged(staged(ad.grad(staged(ad.grad(g)))))(1.0)
    # hard case 4, as far as it goes without jit
    ten = custom(np.sin, lambda p, t: (ten(*p), 10 * np.cos(p[0]) * t[0]))
    assert_close(staged(ad.grad(staged(ad.grad(staged(ten)))))(1.),
                 -8.414709848078965)


def test_d4_a_staged_rule_sees_values_when_its_jaxpr_is_differentiated():
    seen = []
    f = custom(np.sin, lambda p, t: seen.append(p[0]) or (np.sin(p[0]), t[0]))
    ad.grad(staged(f))(2.0)
    assert seen == [2.0] and type(seen[0]) is float


# D2, D3: Python branches

def test_d2_python_branches_work_under_grad_and_not_when_staged():
    f = custom(branching, branching_rule)
    assert ad.grad(f)(2.0) == 3.0 and ad.grad(f)(-2.0) == -5.0
    for g in (f, ad.grad(f), ad.vmap(f), lambda x: f(x) * 2):
        with pytest.raises(ad.TracerBoolConversionError,
                           match='Attempted boolean conversion.*np.where'):
            ad.make_jaxpr(g)(np.ones(3) if g is not f else 1.0)
        assert current_trace() is Trace.base
    with pytest.raises(ad.TracerBoolConversionError, match='vmap of'):
        ad.vmap(f)(X)


# D17: closures

def test_closures_over_constants_become_arguments_of_the_call():
    c = np.arange(4.)
    f = custom(lambda x: x * c + 2.0, lambda p, t: (f(*p), 3 * c * t[0]))
    jaxpr = ad.make_jaxpr(f)(X)
    (eqn,) = jaxpr.eqns
    assert len(eqn.invars) == 2 and len(jaxpr.consts) == 1
    assert eqn.params['fun'].jaxpr.constvars == []
    run = lambda x: ad.eval_jaxpr(jaxpr, jaxpr.consts, x)[0]
    assert_same(run(X), X * c + 2)
    assert_same(d(run)(X), 3 * c)
    assert_same(summed_grad(run)(X), 3 * c)
    assert_same(ad.vmap(run)(np.stack([X, X]))[1], X * c + 2)
    c[:] = 99.0     # the jaxpr keeps what the constant was
    assert_same(run(X), X * np.arange(4.) + 2)


def test_other_constants_may_be_given_but_not_differentiated():
    """The rule speaks of the arguments, and closes over its own."""
    c = np.arange(4.)
    f = custom(lambda x: x * c, lambda p, t: (p[0] * c, 3 * c * t[0]))
    jaxpr = ad.make_jaxpr(f)(X)
    run = lambda c: ad.eval_jaxpr(jaxpr, [c], X)[0]
    assert_same(run(2 * c), X * 2 * c)
    assert_same(ad.vmap(run)(np.stack([c, 2 * c]))[1], X * 2 * c)
    for transform in (d, summed_grad):
        with pytest.raises(TypeError, match=DETECTED):
            transform(run)(c)


def test_d17_functions_close_over_staged_tracers():
    """They are operands of the call; the rule does not need them."""
    def f(x):
        k = custom(lambda y: np.sin(x) * y,
                   lambda p, t: (k(*p), 7 * t[0]))
        return x * k(2.0)

    assert_close(staged(f)(3.0), 3 * np.sin(3.0) * 2)
    assert_close(ad.vmap(staged(f))(X), X * np.sin(X) * 2)
    assert_close(staged(ad.vmap(f))(X), X * np.sin(X) * 2)
    # within the staging, the rule may close over them too
    def g(x):
        k = custom(lambda y: x * y, lambda p, t: (x * p[0], 7 * x * t[0]))
        return ad.grad(k)(2.0)

    assert_same(staged(g)(3.0), 21.0)
    assert_same(ad.vmap(staged(g))(X), 7 * X)
    assert_same(staged(ad.vmap(g))(X), 7 * X)


def test_d17_a_rule_that_closes_over_a_staged_tracer_is_told_so():
    def f(x, y):
        k = custom(lambda z: 2 * z, lambda p, t: (2 * p[0], x * t[0]))
        return k(y)

    assert ad.grad(f, 1)(3.0, 1.0) == 3.0
    g = staged(f)
    assert g(3.0, 1.0) == 2.0
    words = ('The rule of .*<lambda> closes over JaxprTracer<float64.*>, in '
             'make_jaxpr of .*called after make_jaxpr of .* has returned: '
             'pass the value to the function as an argument')
    for transform in (ad.grad, lambda f, i: lambda x, y: ad.jvp(
            lambda y: f(x, y), (y,), (1.0,)), ad.jacrev):
        with pytest.raises(TypeError, match=words) as info:
            transform(g, 1)(3.0, 1.0)
        assert not isinstance(info.value, ad.UnexpectedTracerError)
        assert any("'custom_jvp_call'" in note and __file__ in note
                   for note in info.value.__notes__)
    assert current_trace() is Trace.base


# vmap before staging, and after: which outputs are mapped

def unmapped(x, c):
    """The first output does not depend on c; its rule's tangent does."""
    f = custom(lambda x, c: (x, x * c, 4.0), lambda p, t: (
        (p[0], p[0] * p[1], 4.0), (p[1] * t[0], 7 * t[0], 0.0)))
    return f(x, c)


@pytest.mark.parametrize('before', ['v', 'sv', 'vs', 'svs', 'ssv'])
def test_outputs_are_mapped_alike_however_they_were_staged(before):
    c = np.arange(4.)

    def f(x):
        g = unmapped
        for name in reversed(before):
            g = ad.vmap(g, (None, 0)) if name == 'v' else staged(g)
        return g(x, c)

    y = (np.full(4, 2.), 2 * c, np.full(4, 4.))
    y_dot = (c, np.full(4, 7.), np.zeros(4))
    for g in (f, staged(f)):
        assert_trees(g(2.0), y)
        assert_trees(ad.jvp(g, (2.,), (1.,)), (y, y_dot))
        assert_trees(ad.linearize(g, 2.)[1](1.), y_dot)
        assert ad.vjp(g, 2.)[1]((c, np.ones(4), c))[0] == 14. + 28.


@pytest.mark.parametrize('names', ['js', 'gs', 'ls', 'sjs', 'jss'])
def test_what_the_function_decided_holds_for_its_rule(names):
    """Over closures: the function ran when it was staged, the rule later."""
    c = np.arange(4.)

    def mapped_function(x):
        def inner(c):
            return custom(lambda x: x * c, lambda p, t: (
                p[0] * ad.stop_gradient(c), 7 * t[0]))(x)
        return ad.vmap(inner)(c)            # the rule's tangent is unmapped

    assert nested(lambda x: np.sum(mapped_function(x)), names)(2.0) == 28.0

    def unmapped_function(x):
        def inner(c):
            return custom(lambda x: 2 * x, lambda p, t: (
                2 * p[0], c * t[0]))(x)     # the rule's tangent is mapped
        return ad.vmap(inner)(c)

    f = lambda x: np.sum(unmapped_function(x))
    assert f(2.0) == staged(f)(2.0) == 16.0
    assert nested(f, names.replace('s', ''))(2.0) == 6.0
    with pytest.raises(TypeError, match=(
            'vmap of .*inner: the rule of a staged custom function closes '
            'over a mapped value, but the function does not: pass the value '
            'to the function as an argument')):
        nested(f, names)(2.0)
    assert current_trace() is Trace.base


# Symbolic zeros, nondiff arguments, trees

def test_symbolic_zeros_reach_a_staged_rule():
    seen = []

    def rule(primals, tangents):
        seen.append([type(t) is ad.SymbolicZero for t in tangents])
        return f(*primals), sum(
            k * ad.instantiate_zeros(t) for k, t in zip((3, 5), tangents))

    f = custom(lambda x, y: x + y, rule, symbolic_zeros=True)
    g = staged(f)
    assert ad.grad(g)(1.0, 2.0) == 3.0
    assert ad.grad(g, 1)(1.0, 2.0) == 5.0
    assert d(lambda x: g(x, x))(1.0) == 8.0
    assert seen == [[False, True], [True, False], [False, False]]
    ad.vmap(lambda x: ad.grad(g)(x, 2.0))(X)
    ad.jvp(lambda x: ad.vmap(g, (0, None))(x, 2.0), (X,), (X,))
    assert seen[3:] == [[False, True]] * 2


def test_a_staged_rule_is_not_asked_where_nothing_moves():
    f = custom(np.sin, lambda *_: pytest.fail('not asked'))
    g = lambda x: x * staged(f)(0.5)
    assert ad.grad(g)(2.0) == ad.grad(staged(g))(2.0) == np.sin(0.5)
    assert d(staged(g))(2.0) == np.sin(0.5)


def test_b2_nondiff_arguments_may_hold_staged_tracers():
    f = custom(lambda n, x: n * x,
               lambda n, p, t: (n * p[0], 3 * n * t[0]), 0)
    assert staged(lambda n: f(n, 2.0))(5.0) == 10.0
    assert staged(lambda n: ad.grad(f, 1)(n, 2.0))(5.0) == 15.0
    assert_same(staged(ad.vmap(lambda n: ad.grad(f, 1)(n, 2.0)))(X), 3 * X)
    with pytest.raises(TypeError, match='nondiff_argnums|closed-over'):
        ad.grad(staged(lambda n: f(n, 2.0)))(5.0)


# Rules that do not fit what was written down

@pytest.mark.parametrize('y, words', [
    (np.ones(2), r'they are float64\[2\], and the function returns '
     r'float64\[\]'),
    (np.float32(1), r'they are float32\[\], and the function returns'),
])
def test_a_rule_must_return_what_its_function_does(y, words):
    def rule(primals, tangents):
        return y, 0 * y

    f = custom(lambda x: np.sin(x), rule)
    for transform in (d, ad.grad):
        with pytest.raises(TypeError, match=(
                'Custom JVP rule .*rule for function .* must produce primal '
                'outputs equal to those of the function, but ' + words)):
            transform(staged(f))(1.0)
    assert current_trace() is Trace.base


def test_a_rule_may_return_too_few_or_too_many():
    f = custom(lambda x: (x, x), lambda p, t: ((p[0],), (t[0],)))
    with pytest.raises(TypeError, match='must produce primal outputs equal'):
        d(lambda x: staged(f)(x)[0])(1.0)


def test_a_weak_result_of_a_rule_is_taken():
    f = custom(lambda x: np.sin(x), lambda p, t: (0.5, 3.0 * t[0]))
    assert ad.grad(staged(f))(1.0) == 3.0


# Partial evaluation of calls

def test_a_call_is_cut_in_two():
    """What is known of it is computed; what is linear is written down."""
    runs = []
    f = lambda x: call(lambda y: runs.append(1) or np.sin(y) * y, x)
    y, f_jvp = ad.linearize(f, X)
    assert_close(y, np.sin(X) * X)
    assert_close(f_jvp(X), X * (np.cos(X) * X + np.sin(X)))
    assert runs == [1]
    assert call_p not in [e.primitive for e in f_jvp.program.jaxpr.eqns]
    assert_close(ad.vjp(f, X)[1](X)[0], X * (np.cos(X) * X + np.sin(X)))


@pytest.mark.parametrize('names', ['g', 'gg', 'gs', 'sg', 'gv', 'vg', 'gj',
                                   'jg', 'ggs', 'gsg', 'sgg', 'lg', 'gl'])
def test_a_custom_function_used_linearly_in_a_rule(names):
    """What it does is linear, so its own rule is not needed (as in JAX)."""
    scale = custom(lambda t: 3 * t, lambda p, t: (3 * p[0], 3 * t[0]))
    f = custom(np.sin, lambda p, t: (f(*p), scale(np.cos(p[0]) * t[0])))
    x, order = point(names) + 0.5, order_of(names)
    expected = [None, 3 * np.cos(x), -3 * np.sin(x)][order]
    assert_close(nested(f, names)(x), expected)


@pytest.mark.parametrize('names', ['jj', 'gj', 'gg', 'jg', 'gsj', 'gsg'])
def test_a_custom_function_used_linearly_keeps_the_rest_of_its_rule(names):
    """It is linear in t only; by y its rule says ten times the truth."""
    g = custom(lambda t, y: t * np.cos(y), lambda p, t: (
        g(*p), t[0] * np.cos(p[1]) - 10 * p[0] * np.sin(p[1]) * t[1]))
    f = custom(np.sin, lambda p, t: (f(*p), g(t[0], p[0])))
    assert_close(nested(f, names)(1.0), -10 * np.sin(1.0))


LINEAR_NESTINGS = [''.join(names) for n in (2, 3) for names in
                   itertools.product('svjgl', repeat=n)
                   if 2 <= order_of(names)]


@pytest.mark.parametrize('names', LINEAR_NESTINGS)
def test_what_a_rule_uses_linearly_in_every_nesting(names):
    """The n-th derivative of f is (-2)^(n - 1) cosh, by g's rule."""
    def g_rule(primals, tangents):
        (t, y), (t_dot, y_dot) = primals, tangents
        return g(t, y), g(t_dot, y) - 2 * g(t * y_dot, y)

    g = custom(lambda t, y: t * np.cosh(y), g_rule)
    f = custom(np.sinh, lambda p, t: (f(*p), g(t[0], p[0])))
    x, order = point(names), order_of(names)
    assert_close(nested(f, names)(x), (-2) ** (order - 1) * np.cosh(x))


@pytest.mark.parametrize('names', ['gj', 'gg', 'jg', 'gsg', 'vgg', 'gvg',
                                   'sgg', 'ggs', 'lg'])
def test_several_operands_and_results_of_what_a_rule_uses_linearly(names):
    """One result is not used, one operand is an integer."""
    def g_rule(primals, tangents):
        (s, t, y, n), (s_dot, t_dot, y_dot, _) = primals, tangents
        a, b = g(s_dot, t_dot, y, n)
        return g(s, t, y, n), (a + 5 * s * n * y_dot, b + 7 * t * y_dot)

    g = custom(lambda s, t, y, n: (s * y * n + t, t * y), g_rule)

    def rule(primals, tangents):
        (x,), (t,) = primals, tangents
        a, _ = g(t, 2 * t, x, 3)
        return f(x), a + g(t, t, x, 2)[1]

    f = custom(lambda x: 2 * x * x + 2 * x, rule)   # 4 x + 2, and 15 + 7
    x = point(names)
    assert_close(nested(f, names)(x), 0 * x + 22.0)


def test_partial_eval_keeps_the_call_that_a_rule_applies_to_a_tangent():
    scale = custom(lambda t, y: t * y, lambda p, t: (
        scale(*p), t[0] * p[1] + 3 * p[0] * t[1]))
    f = custom(lambda x: x * x, lambda p, t: (f(*p), scale(t[0], p[0])))
    programs = []

    def slope(x):
        _, f_jvp = ad.linearize(f, x)
        programs.append(f_jvp.program.jaxpr.eqns)
        return f_jvp(1.0)

    assert slope(2.0) == 2.0 and ad.grad(slope)(2.0) == 3.0
    for (call_of_scale,) in programs:
        assert call_of_scale.primitive is custom_jvp_call_p
        assert '<lambda>' in call_of_scale.params['fun'].__qualname__


def test_what_a_rule_uses_linearly_may_close_over_its_tangent():
    def rule(primals, tangents):
        (x,), (t,) = primals, tangents
        g = custom(lambda s, y: (s + t) * y, lambda p, u: (
            g(*p), u[0] * p[1] + 5 * (p[0] + t) * u[1]))
        return f(x), g(t, x)

    f = custom(lambda x: x * x, rule)
    assert ad.grad(f)(3.0) == d(f)(3.0) == 6.0
    assert ad.grad(ad.grad(f))(3.0) == d(d(f))(3.0) == 10.0     # no 2


def test_a_known_call_stays_a_call_for_the_outer_transformation():
    """Its rule must be there when the outer one differentiates it."""
    f = lambda x, y: x * square(y)
    inner = lambda y: ad.grad(f)(2.0, y)            # square(y)
    assert ad.grad(inner)(1.0) == d(inner)(1.0) == 3.0
    assert ad.grad(staged(inner))(1.0) == staged(ad.grad(inner))(1.0) == 3.0
    _, counts = spied(inner, 1.0)
    assert counts[custom_jvp_call_p] == 1


def test_staged_rules_are_named_as_the_rule():
    (eqn,) = ad.make_jaxpr(ad.vmap(square))(X).eqns
    rule = eqn.params['jvp']
    assert type(rule) is StagedRule and rule.__qualname__ == 'square_jvp'
    assert eqn.params['fun'].__qualname__ == 'square'
