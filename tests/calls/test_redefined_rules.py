"""A call keeps the rule that its function had when it was called.

A function gets one rule after another.  A pullback or a jitted program that
was made under the first rule keeps it.  A later one has the second.  An
operation of `ad.Primitive` uses the rules that it has when an interpreter
processes it.
"""

from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from tests.support.numerical import assert_close

X = np.float64(1.5)


# Each gives a function the slope `k * f(x)`, by a rule that calls it, so that
# the n-th derivative is k ** n * x ** 2.

def give_jvp(f, k, **options):
    f.defjvp(lambda primals, tangents: (
        f(*primals), k * f(*primals) * tangents[0]), **options)


def give_vjp(f, k, **options):
    f.defvjp(lambda x: (f(x), (f(x), k)),
             lambda kept, ct: (kept[1] * kept[0] * ct,), **options)


def give_both(f, k):
    give_vjp(f, k)
    give_jvp(f, k)


RULES = {   # a kind of function, and a function that gives it a rule
    'jvp': (ad.custom_jvp, give_jvp),
    'vjp': (ad.custom_vjp, give_vjp),
    'late_vjp': (ad.custom_vjp, lambda f, k: f.defvjp(
        lambda x: (f(x), x), lambda x, ct: (k * f(x) * ct,))),
    'both': (ad.custom_vjp, give_both),
    'remat': (ad.custom_vjp, partial(give_vjp, optimize_remat=True)),
}


def function(rule, k):
    """Return a function with a rule of this kind, and its setter."""
    kind, give = RULES[rule]
    f = kind(lambda x: x * x)
    give(f, k)
    return f, partial(give, f)


def by_jaxpr(f):
    jaxpr = ad.make_jaxpr(f)(X)
    return lambda x: ad.eval_jaxpr(jaxpr, jaxpr.consts, x)[0]


def scanned(f):
    return lambda x: ad.scan(lambda c, a: (c, f(a)), 0.0, np.stack([x]))[1][0]


def called(g, *transforms):
    """Return `g`, after it and its transforms have run."""
    for transform in (lambda g: g, *transforms):
        transform(g)(X)
    return g


second = lambda f: ad.grad(ad.grad(f))
MADE = [    # an object made under a rule, how to call it, and the order
    (lambda f: ad.vjp(f, X)[1], lambda g: g(1.0)[0], 1),
    (lambda f: ad.vjp(ad.vmap(f), np.full(2, X))[1],
     lambda g: g(np.ones(2))[0][0], 1),
    (lambda f: ad.vjp(scanned(f), X)[1], lambda g: g(1.0)[0], 1),
    (lambda f: ad.vjp(ad.grad(f), X)[1], lambda g: g(1.0)[0], 2),
    (by_jaxpr, lambda g: second(g)(X), 2),
    (lambda f: by_jaxpr(ad.grad(f)), lambda g: ad.grad(g)(X), 2),
    (lambda f: called(partial(ad.jit(lambda f, x: f(x), 0), f)),
     lambda g: ad.grad(g)(X), 1),
    (lambda f: called(ad.jit(f)), lambda g: second(g)(X), 2),
    (lambda f: called(ad.jit(f), ad.grad, second),
     lambda g: second(g)(X), 2),
    (lambda f: called(ad.jit(scanned(f))), lambda g: second(g)(X), 2)]
FORWARD = [
    (lambda f: ad.linearize(f, X)[1], lambda g: g(1.0), 1),
    (lambda f: called(ad.jit(f)), lambda g: ad.hessian(g)(X), 2)]


@pytest.mark.parametrize('rule', RULES)
def test_earlier_transformations_keep_their_rule(rule):
    for make, ask, order in (
            [*MADE, *FORWARD] if rule in ('jvp', 'both') else MADE):
        f, give = function(rule, 3.0)
        begun = make(f)
        give(5.0)
        assert_close(ask(begun), 3.0 ** order * X ** 2)
        assert_close(ask(make(f)), 5.0 ** order * X ** 2)


@pytest.mark.parametrize('rule', RULES)
def test_a_new_loop_or_branch_has_the_new_rule(rule):
    f, give = function(rule, 3.0)
    for wrap in (scanned(f), ad.checkpoint(f),
                 lambda x: ad.cond(x > 0, f, np.sin, x)):
        give(3.0)
        assert_close(second(wrap)(X), 9.0 * X ** 2)
        give(5.0)
        assert_close(second(wrap)(X), 25.0 * X ** 2)


def test_an_error_in_a_rule_leaves_no_rule_running():
    f = ad.custom_jvp(lambda x: x * 1.0)

    def wrong(primals, tangents):
        raise RuntimeError('wrong')
    f.defjvp(wrong)
    with pytest.raises(RuntimeError, match='wrong'):
        ad.grad(f)(X)
    f.defjvp(lambda p, t: (p[0] * 1.0, 5.0 * t[0]))
    assert ad.grad(f)(X) == 5.0


# An operation of ad.Primitive uses its current rules.

def scaling(factor=2.0):
    """Return an operation, and a function that sets all its rules again."""
    p = ad.Primitive('scaling')

    def give(k):
        p.def_impl(lambda x: k * x)
        p.def_abstract_eval(lambda x: ad.ShapedArray(x.shape, x.dtype))
        p.def_jvp(lambda primals, tangents: (
            p.bind(*primals), p.bind(ad.instantiate_zeros(tangents[0]))))
        p.def_transpose(lambda ct, x: (p.bind(ct),))
        p.def_vmap(lambda args, dims: (10 * p.bind(*args), dims[0]))
    give(factor)
    return p, give


batch = lambda f: lambda x: ad.vmap(f)(np.stack([x, x]))[0]
slope = lambda f: lambda x: ad.grad(lambda x: f(x) * 1.0)(x)
USES = {    # a transformation of a function, and its result for a factor k
    'value': (lambda f: f, lambda k: k * X),
    'jvp': (lambda f: lambda x: ad.jvp(f, (x,), (np.float64(1),))[1],
            lambda k: k),
    'grad': (slope, lambda k: k),
    'vmap': (batch, lambda k: 10 * k * X),
    'vmap_of_grad': (lambda f: batch(slope(f)), lambda k: k),
    'grad_of_vmap': (lambda f: slope(batch(f)), lambda k: 10 * k),
    'jit_of_grad': (lambda f: ad.jit(slope(f)), lambda k: k),
    'transpose': (lambda f: lambda x: ad.linear_transpose(f, x)(
        np.float64(1))[0], lambda k: k),
}
STAGED = {
    'bind': lambda p: p.bind, 'jit': lambda p: ad.jit(p.bind),
    'jit_jit': lambda p: ad.jit(ad.jit(p.bind)),
    'jaxpr': lambda p: by_jaxpr(p.bind),
    'checkpoint': lambda p: ad.checkpoint(ad.jit(p.bind)),
    'scan': lambda p: scanned(ad.jit(p.bind)),
    'cond': lambda p: lambda x: ad.cond(True, ad.jit(p.bind), np.sin, x),
    'while_loop': lambda p: lambda x: ad.while_loop(
        lambda c: c[0] < 1, lambda c: (c[0] + 1, ad.jit(p.bind)(c[1])),
        (0, x))[1],
}


@pytest.mark.parametrize('staged', STAGED)
def test_an_operation_uses_its_current_rules(staged):
    for is_used in True, False:
        p, give = scaling()
        f = STAGED[staged](p)
        f(X)
        uses = [(transform(f), transform, expected)
                for name, (transform, expected) in USES.items() if not (
                    staged == 'while_loop'
                    and ('grad' in name or name == 'transpose'))]
        for g, _, _ in uses if is_used else ():
            g(X)
        give(5.0)
        for g, transform, expected in uses:
            assert_close(g(X), expected(5.0))
            assert_close(transform(f)(X), expected(5.0))
