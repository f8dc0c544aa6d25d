"""Twins: what is written down again is not compiled again, unless it is new.

Each program runs, something changes, and it runs again.
"""


import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.fast import compiler, twins
from tests.numerical import assert_same
from tests.test_jit_equals_eager import assert_identical

X = np.linspace(0.5, 1.5, 3)
scale = 1.0


def total(f):
    """Return the sum of what `f`, of one array, returns."""
    return lambda x: np.sum(f(x))


CALLS = {   # by name: a function with a body, as a function of x
    'scan': lambda body: lambda x: ad.scan(
        lambda c, _: (body(c), None), x, None, 3)[0],
    'while_loop': lambda body: lambda x: ad.while_loop(
        lambda c: c[0] < 2, lambda c: (c[0] + 1, body(c[1])), (0, x))[1],
    'cond': lambda body: lambda x: ad.cond(
        np.sum(x) > 0, body, lambda x: x, x),
    'checkpoint': lambda body: lambda x: ad.checkpoint(body)(x),
}
each_call = pytest.mark.parametrize('call', CALLS.values(), ids=CALLS)


@pytest.fixture
def compilations(monkeypatch):
    """The programs that are compiled in a test, as they are."""
    found, version = [], compiler.Version
    monkeypatch.setattr(compiler, 'Version', lambda jaxpr, *args, **kwargs: (
        found.append(jaxpr) or version(jaxpr, *args, **kwargs)))
    return found


@pytest.mark.parametrize('call', [
    CALLS[name] for name in ('scan', 'cond', 'checkpoint')])
@pytest.mark.parametrize('transform', [
    lambda f: f, lambda f: ad.grad(total(f)),
    lambda f: lambda x: ad.jvp(f, (x,), (x,)),
    lambda f: lambda x: ad.vmap(f)(np.stack([x, x]))],
    ids=['value', 'grad', 'jvp', 'vmap'])
def test_the_second_call_compiles_nothing(call, transform, compilations):
    run = lambda: transform(call(lambda x: np.sin(x) * 3.0 + X))(X)
    first = run()
    count = len(compilations)
    assert_identical(run(), first)
    assert len(compilations) == count


@each_call
def test_the_body_runs_each_time(call):
    runs = []

    def body(x):
        runs.append(1)
        return x * 2.0
    call(body)(X)
    once = len(runs)
    call(body)(X)
    assert len(runs) == 2 * once > 0


@each_call
def test_a_number_that_changes_is_the_new_one(call):
    global scale
    f = call(lambda x: x * scale + 1.0)
    scale = 2.0
    first = f(X)
    scale = 3.0
    assert not np.allclose(f(X), first)
    scale = 2.0
    assert_same(f(X), first)


@each_call
def test_an_array_that_changes_is_the_new_one(call):
    a = np.array([2.0, 3.0, 4.0])
    f = call(lambda x: x + a)
    first = f(X)
    a[0] = 9.0
    assert not np.allclose(f(X), first)
    a[0] = 2.0
    assert_same(f(X), first)


@each_call
def test_a_zero_of_the_other_sign_is_another_number(call):
    for zero in (0.0, -0.0):
        a = np.full(3, zero)
        for body in (lambda x: np.copysign(np.abs(x), zero),
                     lambda x: np.copysign(np.abs(x), a)):
            assert np.all(np.signbit(call(body)(X)) == np.signbit(zero))


@pytest.mark.parametrize('fun', [lambda x: x * 1.0, np.positive],
                         ids=['mine', 'of_numpy'])
@pytest.mark.parametrize('name', ['scan', 'cond', 'checkpoint'])
def test_a_rule_may_look_at_what_changes(name, fun):
    global scale
    f = ad.custom_jvp(fun)
    f.defjvp(lambda primals, tangents: (f(*primals), scale * tangents[0]))
    slope = ad.grad(total(CALLS[name](f)))
    scale = 1.0
    assert_same(slope(X), np.ones(3))
    scale = 2.0
    assert_same(slope(X), np.full(3, 8.0 if name == 'scan' else 2.0))


@pytest.mark.parametrize('name', ['scan', 'cond', 'checkpoint'])
def test_a_primitive_of_the_users_may_get_another_rule(name):
    twice_p = ad.Primitive('twice')
    twice_p.def_impl(lambda x: 2 * x)
    twice_p.def_abstract_eval(lambda x: x)
    slope = ad.grad(total(CALLS[name](twice_p.bind)))
    for factor in (2.0, 5.0):
        twice_p.def_vjp(lambda x: (twice_p.bind(x), ()),
                        lambda residuals, ct: (factor * ct,))
        power = factor ** 3 if name == 'scan' else factor
        assert_same(slope(X), np.full(3, power))


def test_a_policy_is_asked_once():
    answers = []

    def policy(primitive, *avals, **params):
        answers.append(primitive)
        return False
    f = ad.checkpoint(lambda x: np.sin(np.sin(x)), policy=policy)
    slope = ad.grad(total(f))
    slope(X)
    once = len(answers)
    assert once
    slope(X)
    assert len(answers) == once


@pytest.mark.parametrize('room', [0, 1])
def test_large_constants_are_not_kept(room, monkeypatch):
    a = np.ones(100)
    monkeypatch.setattr(twins, 'TOO_LARGE', a.nbytes - 1 + room)
    ad.scan(lambda c, _: (np.sum(a * c), None), 0.0, None, 2)
    assert sum(x.shape == a.shape for jaxpr in twins.known_programs.values()
               for x in jaxpr.consts) == room


