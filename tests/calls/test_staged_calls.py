"""staged_calls.py: a custom rule survives in a jaxpr.

The rules say three times the truth, so a result shows whether its rule was
used.
"""

import itertools
import math

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.calls.call import call, call_p
from autodiff_mini.calls.custom_jvp import custom_jvp_call_p
from autodiff_mini.calls.staged_calls import StagedRule
from autodiff_mini.core.trace import Trace, current_trace
from tests.support import amount
from tests.support.jvp_rules import branching, branching_rule, custom, square
from tests.support.numerical import assert_close, assert_same
from tests.support.transforms import (
    TRANSFORMS, X, d, nested, point, staged, summed_grad)
from tests.support.trees import assert_trees

# D1, D6, D9: each transformation uses its own rule, at any order, in any
# nesting. For e^x, a batch gives 2 e^x, the JVP rule 5 e^x, and bwd 3 e^x.

def exp_with(make, *kinds):
    """Return e^x with these rules, each of which calls the function."""
    f = make(lambda x: np.exp(x))
    if 'vmap' in kinds:
        f.def_vmap(lambda n, in_batched, x: (2 * np.exp(x), in_batched[0]))
    if 'jvp' in kinds:
        f.defjvp(lambda p, t: (f(*p), 5 * f(*p) * t[0]))
    if 'vjp' in kinds:
        f.defvjp(lambda x: (f(x), x), lambda x, ct: (3 * f(x) * ct,))
    return f


RULES = [
    (ad.custom_jvp, 'jvp'), (ad.custom_jvp, 'jvp', 'vmap'),
    (ad.custom_vjp, 'vjp'), (ad.custom_vjp, 'vjp', 'vmap'),
    (ad.custom_vjp, 'vjp', 'jvp'), (ad.custom_vjp, 'vjp', 'jvp', 'vmap'),
    (ad.custom_vmap, 'jvp', 'vmap'), (ad.custom_vmap, 'vjp', 'vmap'),
    (ad.custom_vmap, 'vjp', 'jvp', 'vmap')]
NESTINGS = [''.join(names) for n in (1, 2, 3)
            for names in itertools.product(TRANSFORMS, repeat=n)]


@pytest.mark.asks('D1', 'D6', 'D9')
@pytest.mark.parametrize('make, kinds', [
    (make, kinds) for make, *kinds in RULES])
def test_every_nesting_keeps_every_rule(make, kinds):
    forwards, backwards = 5, 3 if 'vjp' in kinds else 5
    factors = {'j': forwards, 'l': forwards, 'g': backwards}
    for i, names in enumerate(NESTINGS):
        if 'jvp' not in kinds and {*names} & {*'jl'}:
            continue
        if amount.WHOLE or i % 19 == 0 or len(names) < 3 and (
                {*names} <= {*'svjg'}):
            factor = math.prod(factors.get(name, 1) for name in names)
            if 'vmap' in kinds and 'v' in names:
                factor *= 2
            x, f = point(names), exp_with(make, *kinds)
            assert np.allclose(nested(f, names)(x), factor * np.exp(x)), names


# D5, D6: the content of the jaxpr

@pytest.mark.asks('D6')
def test_the_equation_holds_the_call_and_its_rule():
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


# D6: the rule is delayed

@pytest.mark.asks('D6')
def test_a_rule_does_not_run_while_its_function_is_staged():
    runs = []
    f = custom(lambda x: runs.append('f') or np.sin(x),
               lambda p, t: runs.append('rule') or (np.sin(p[0]), t[0]))
    jaxpr = ad.make_jaxpr(f)(1.0)
    assert runs == ['f']
    ad.eval_jaxpr(jaxpr, [], 2.0)
    ad.vmap(lambda x: ad.eval_jaxpr(jaxpr, [], x))(X)
    ad.make_jaxpr(lambda x: ad.eval_jaxpr(jaxpr, [], x))(1.0)
    assert runs == ['f']            # the recorded program runs instead
    ad.grad(lambda x: ad.eval_jaxpr(jaxpr, [], x)[0])(2.0)
    assert runs == ['f', 'rule']


@pytest.mark.asks('D6')
def test_a_rule_that_calls_its_own_function_does_not_recurse():
    """Without the thunk, staging the rule would stage the function."""
    f = custom(lambda x: np.sin(x), lambda p, t: (
        f(*p), (f(*p) + np.cos(p[0])) * t[0]))
    g = staged(f)
    assert_close(ad.grad(g)(1.0), np.sin(1.0) + np.cos(1.0))
    # sin + cos - sin
    assert_close(ad.grad(ad.grad(g))(1.0), np.cos(1.0))
    # hard case 4, as far as it goes without jit
    ten = custom(np.sin, lambda p, t: (ten(*p), 10 * np.cos(p[0]) * t[0]))
    assert_close(staged(ad.grad(staged(ad.grad(staged(ten)))))(1.),
                 -8.414709848078965)


# D2, D3: Python branches

@pytest.mark.asks('D2')
def test_python_branches_work_under_grad_and_not_when_staged():
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
    c[:] = 99.0     # the jaxpr keeps the old content of the constant
    assert_same(run(X), X * np.arange(4.) + 2)


@pytest.mark.asks('D17')
def test_a_rule_that_closes_over_a_staged_tracer_is_named():
    def f(x, y):
        k = custom(lambda z: 2 * z, lambda p, t: (2 * p[0], x * t[0]))
        return k(y)

    assert ad.grad(f, 1)(3.0, 1.0) == 3.0
    g = staged(f)
    assert g(3.0, 1.0) == 2.0
    words = ('The rule of the .*lambda in .* closes over '
             'JaxprTracer<float64.*> in make_jaxpr of .*called after make_jaxpr of .* had returned. '
             'Pass the value to the function as an argument')
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


def test_outputs_are_batched_alike_however_they_were_staged():
    c = np.arange(4.)
    y = (np.full(4, 2.), 2 * c, np.full(4, 4.))
    y_dot = (c, np.full(4, 7.), np.zeros(4))
    for before in 'v', 'sv', 'vs', 'svs':
        def f(x):
            g = unmapped
            for name in reversed(before):
                g = ad.vmap(g, (None, 0)) if name == 'v' else staged(g)
            return g(x, c)

        assert_trees(f(2.0), y)
        assert_trees(ad.jvp(f, (2.,), (1.,)), (y, y_dot))
        assert_trees(ad.linearize(f, 2.)[1](1.), y_dot)
        assert ad.vjp(f, 2.)[1]((c, np.ones(4), c))[0] == 14. + 28.


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


# Rules that do not fit the recorded function

def test_a_rule_must_return_the_types_of_its_function():
    for y, words in (
            (np.ones(2), r'it returns float64\[2\], and the function returns '
             r'float64\[\]'),
            (np.float32(1), r'it returns float32\[\], and the function')):
        f = custom(lambda x: np.sin(x), lambda p, t: (y, 0 * y))
        for transform in (d, ad.grad):
            with pytest.raises(TypeError, match=(
                    'Custom JVP rule the second lambda in .* must produce '
                    'primal outputs equal to those of the function, but '
                    + words)):
                transform(staged(f))(1.0)
    f = custom(lambda x: (x, x), lambda p, t: ((p[0],), (t[0],)))
    with pytest.raises(TypeError, match='must produce primal outputs equal'):
        d(lambda x: staged(f)(x)[0])(1.0)
    assert current_trace() is Trace.base


# Partial evaluation of calls

def test_a_call_is_cut_in_two():
    """Its known part is computed, and its linear part is recorded."""
    runs = []
    f = lambda x: call(lambda y: runs.append(1) or np.sin(y) * y, x)
    y, f_jvp = ad.linearize(f, X)
    assert_close(y, np.sin(X) * X)
    assert_close(f_jvp(X), X * (np.cos(X) * X + np.sin(X)))
    assert runs == [1]
    assert call_p not in [e.primitive for e in f_jvp.program.jaxpr.eqns]
    assert_close(ad.vjp(f, X)[1](X)[0], X * (np.cos(X) * X + np.sin(X)))


def test_a_linear_function_in_a_rule_can_close_over_its_tangent():
    def rule(primals, tangents):
        (x,), (t,) = primals, tangents
        g = custom(lambda s, y: (s + t) * y, lambda p, u: (
            g(*p), u[0] * p[1] + 5 * (p[0] + t) * u[1]))
        return f(x), g(t, x)

    f = custom(lambda x: x * x, rule)
    assert ad.grad(f)(3.0) == d(f)(3.0) == 6.0
    assert ad.grad(ad.grad(f))(3.0) == d(d(f))(3.0) == 10.0     # no 2


def test_staged_rules_are_named_as_the_rule():
    (eqn,) = ad.make_jaxpr(ad.vmap(square))(X).eqns
    rule = eqn.params['jvp']
    assert type(rule) is StagedRule and rule.__qualname__ == 'square_jvp'
    assert eqn.params['fun'].__qualname__ == 'square'


@pytest.mark.parametrize('names', ['js', 'gs', 'ls', 'jss'])
def test_the_outputs_of_a_rule_are_batched_as_the_functions_were(names):
    """With closures, the function runs when staged, and the rule later."""
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
            'over a mapped value, but the function does not. Pass the value '
            'to the function as an argument')):
        nested(f, names)(2.0)
    assert current_trace() is Trace.base
