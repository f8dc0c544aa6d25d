"""Twins: a program that is recorded again is not compiled again.

Each program runs, something changes, and it runs again.
"""

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.wings.fast import compiler, equal_programs as twins
from tests.support.identical import assert_identical
from tests.support.numerical import assert_same

X = np.linspace(0.5, 1.5, 3)
scale = 1.0


def total(f):
    """Return a function that sums the result of `f`."""
    return lambda x: np.sum(f(x))


# By name: a function with a body, as a function of x; the last nests two.
CALLS = {
    'scan': lambda body: lambda x: ad.scan(
        lambda c, _: (body(c), None), x, None, 3)[0],
    'while_loop': lambda body: lambda x: ad.while_loop(
        lambda c: c[0] < 2, lambda c: (c[0] + 1, body(c[1])), (0, x))[1],
    'cond': lambda body: lambda x: ad.cond(
        np.sum(x) > 0, body, lambda x: x, x),
    'checkpoint': lambda body: lambda x: ad.checkpoint(CALLS['cond'](body))(x),
}
each_call = pytest.mark.parametrize('call', CALLS.values(), ids=CALLS)
REVERSIBLE = pytest.mark.parametrize('name', ['scan', 'cond', 'checkpoint'])


@REVERSIBLE
def test_the_second_call_compiles_nothing(name, monkeypatch):
    compiled, version = [], compiler.Version
    monkeypatch.setattr(compiler, 'Version', lambda jaxpr, *args, **kwargs: (
        compiled.append(jaxpr) or version(jaxpr, *args, **kwargs)))
    f = CALLS[name](lambda x: np.sin(x) * 3.0 + X)
    for run in (f, ad.grad(total(f)), lambda x: ad.jvp(f, (x,), (x,)),
                lambda x: ad.vmap(f)(np.stack([x, x]))):
        first, count = run(X), len(compiled)
        assert count
        assert_identical(run(X), first)
        assert len(compiled) == count


@each_call
def test_changed_numbers_and_arrays_are_used(call):
    """The body runs each time, so it sees a new number or array."""
    global scale
    runs, a = [], np.array([2.0, 3.0, 4.0])

    def body(x):
        runs.append(1)
        return x * scale + a
    f, scale = call(body), 2.0
    first, once = f(X), len(runs)
    scale = 3.0
    second = f(X)
    a[0] = 9.0
    assert not np.allclose(second, first) and not np.allclose(f(X), second)
    a[0], scale = 2.0, 2.0
    assert_same(f(X), first)
    assert len(runs) == 4 * once > 0


@each_call
def test_a_zero_of_the_other_sign_gets_another_program(call):
    for zero in (0.0, -0.0):
        a = np.full(3, zero)
        for body in (lambda x: np.copysign(np.abs(x), zero),
                     lambda x: np.copysign(np.abs(x), a)):
            assert np.all(np.signbit(call(body)(X)) == np.signbit(zero))


@REVERSIBLE
def test_a_twin_is_not_used_after_a_global_of_a_rule_changes(name):
    global scale
    for fun in (lambda x: x * 1.0), np.positive:
        f = ad.custom_jvp(fun)
        f.defjvp(lambda primals, tangents: (f(*primals), scale * tangents[0]))
        slope = ad.grad(total(CALLS[name](f)))
        for scale in 1.0, 2.0:
            power = scale ** 3 if name == 'scan' else scale
            assert_same(slope(X), np.full(3, power))


@REVERSIBLE
def test_a_user_primitive_can_get_a_new_rule(name):
    twice_p = ad.Primitive('twice')
    twice_p.def_impl(lambda x: 2 * x)
    twice_p.def_abstract_eval(lambda x: x)
    slope = ad.grad(total(CALLS[name](twice_p.bind)))
    for factor in (2.0, 5.0):
        twice_p.def_vjp(lambda x: (twice_p.bind(x), ()),
                        lambda residuals, ct: (factor * ct,))
        power = factor ** 3 if name == 'scan' else factor
        assert_same(slope(X), np.full(3, power))


@pytest.mark.parametrize('room', [0, 1])
def test_large_constants_are_not_kept(room, monkeypatch):
    a = np.ones(100)
    monkeypatch.setattr(twins, 'TOO_LARGE', a.nbytes - 1 + room)
    ad.scan(lambda c, _: (np.sum(a * c), None), 0.0, None, 2)
    assert sum(x.shape == a.shape for jaxpr in twins.known_programs.values()
               for x in jaxpr.consts) == room
