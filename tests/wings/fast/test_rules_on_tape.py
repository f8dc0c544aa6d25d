"""Rules on the tape give the bits, and the errors, of the general road."""

from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.wings.fast import rules_on_tape
from tests.support import amount
from tests.tables.random_gradients import random_gradient
from tests.wings.fast.both_ways import check_both_ways

X = np.array([0.5, -1.0, 2.0])

pytestmark = pytest.mark.usefixtures('prepare_at_once')


@pytest.fixture
def surprises(monkeypatch):
    """Return a list of the answers that the general road has been given."""
    found, original = [], rules_on_tape.answered

    def note(*args, **kwargs):
        found.append(args)
        return original(*args, **kwargs)
    monkeypatch.setattr(rules_on_tape, 'answered', note)
    return found


def by_jvp(rule, fun=lambda x, y: np.sin(x) * y, **options):
    """Return a custom_jvp function of two arguments."""
    f = ad.custom_jvp(fun, **options)
    f.defjvp(partial(rule, f))
    return f


def by_vjp(bwd, fwd=lambda f, x, y: (f(x, y), (np.cos(x), np.sin(x), y)),
           fun=lambda x, y: np.sin(x) * y, **options):
    """Return a custom_vjp function of two arguments."""
    f = ad.custom_vjp(fun, **options)
    f.defvjp(partial(fwd, f), bwd)
    return f


def product_rule(f, primals, tangents):
    (x, y), (x_dot, y_dot) = primals, tangents
    return f(x, y), np.cos(x) * y * x_dot + np.sin(x) * y_dot


def product_bwd(residuals, ct):
    cos_x, sin_x, y = residuals
    return ct * cos_x * y, ct * sin_x


def held_rule(f, n, primals, tangents):
    return f(n, *primals), len(n) * tangents[0]


def held_bwd(n, residuals, ct):
    return (len(n) * ct,)


def forgets_ct(residuals, ct):
    return 1.0, 2.0


held = {'fun': lambda n, x: len(n) * x, 'nondiff_argnums': (0,)}
held_fwd = {'fwd': lambda f, n, x: (f(n, x), None), **held}
saves_x = lambda f, x, y: (f(x, y), x)

# A function of f, x, and y, whose gradient by x and y is taken.
CALL = lambda f, x, y: np.sum(f(x, y))
USUAL = {
    'jvp': (by_jvp(product_rule), CALL),
    'vjp': (by_vjp(product_bwd), CALL),
    'three times': (by_vjp(product_bwd),
                    lambda f, x, y: np.sum(f(f(f(x, y), y) * 2.0, x))),
    'three times, jvp': (by_jvp(product_rule),
                         lambda f, x, y: np.sum(f(f(f(x, y), y) * 2.0, x))),
    'a constant': (by_vjp(product_bwd), lambda f, x, y: np.sum(f(x, 2.0))),
    'a constant, jvp': (by_jvp(product_rule),
                        lambda f, x, y: np.sum(f(2.0, y))),
    'an integer': (by_jvp(product_rule), lambda f, x, y: np.sum(f(x, 2))),
    'one residual': (by_vjp(lambda x, ct: (ct * x, None), saves_x), CALL),
    'no residuals': (by_vjp(lambda r, ct: (ct, ct * 2),
                            lambda f, x, y: (x + y, ())), CALL),
    'a zero': (by_vjp(lambda r, ct: (None, ct),
                      lambda f, x, y: (x + y, ())), CALL),
    'the cotangent itself': (by_vjp(lambda r, ct: (ct, ct),
                                    lambda f, x, y: (x + y, ())), CALL),
    'a nondiff argument': (by_jvp(held_rule, **held),
                           lambda f, x, y: np.sum(f('ab', x))),
    'a nondiff argument, vjp': (
        by_vjp(held_bwd, **(held_fwd | {'fwd': lambda f, n, x: (
            f(n, x), ())})), lambda f, x, y: np.sum(f('ab', x))),
    'an argument that is a write': (
        by_jvp(product_rule),
        lambda f, x, y: np.sum(f(np.add(x, 1.0), np.add(y, 1.0)))),
}


@pytest.mark.parametrize('name', USUAL)
@pytest.mark.parametrize('x, y', [
    (1.5, 2.5), (np.float64(1.5), 2.5), (X, 2.5), (X, X[::-1]),
    (np.float32(1.5), np.float32(2.5)), (np.outer(X, X).T, X)],
    ids=['floats', 'a scalar', 'an array', 'arrays', 'float32', 'two axes'])
def test_usual_rules_go_straight_onto_the_tape(name, x, y, surprises):
    f, program = USUAL[name]
    check_both_ways(ad.value_and_grad(partial(program, f), (0, 1)), x, y)
    if type(x) is float and name != 'an integer':
        assert surprises == []


OLD = []
keeps = by_jvp(lambda f, p, t: OLD.append(t[0]) or (f(*p), t[0]))
ad.grad(keeps)(1.5, 2.5)


def raising(error):
    def rule(*_):
        raise error
    return rule


def grows(residuals, ct):
    ct += 1.0


SURPRISES = {
    'a list': by_jvp(lambda f, p, t: [f(*p), t[0]]),
    'no pair': by_jvp(lambda f, p, t: f(*p)),
    'nothing': by_jvp(lambda f, p, t: None),
    'a known tangent': by_jvp(lambda f, p, t: (f(*p), 1.0)),
    'a zero tangent': by_jvp(lambda f, p, t: (f(*p), ad.Zero(p[0]))),
    'an integer result': by_jvp(lambda f, p, t: (3, t[0])),
    'a tree': by_jvp(lambda f, p, t: ((f(*p), p[1]), t)),
    'tuples as arrays': by_jvp(lambda f, p, t: (np.sin(p), np.cos(p) * t)),
    'a tuple as an array': by_jvp(lambda f, p, t: (
        np.sin(p), np.stack([t[0]] * 2))),
    'an old tangent': by_jvp(lambda f, p, t: (f(*p), OLD[0] * 2.0)),
    'a rule that writes into a tangent': by_jvp(
        lambda f, p, t: p[0].shape and t[0].__setitem__(..., 0.0)),
    'a function that writes': by_jvp(
        lambda f, p, t: (f(np.ones(3), p[1]), t[0]),
        lambda x, y: x.fill(0.0)),
    'another shape': by_jvp(lambda f, p, t: (f(*p), np.stack([t[0]] * 2))),
    'another dtype': by_jvp(
        lambda f, p, t: (f(*p), np.asarray(t[0], np.float32))),
    'the wrong arguments': by_jvp(lambda f, primals: primals),
    'a TypeError': by_jvp(raising(TypeError('no'))),
    'a ValueError': by_jvp(raising(ValueError('no'))),
    'a KeyError': by_jvp(raising(KeyError('no'))),
    'a rule that writes': by_jvp(lambda f, p, t: p[0].fill(0.0)),
    'no pair from fwd': by_vjp(product_bwd, lambda f, x, y: f(x, y)),
    'an error in fwd': by_vjp(product_bwd, raising(ValueError('no'))),
    'a text as a result': by_vjp(product_bwd, lambda f, x, y: ('y', x)),
    'a text as a residual': by_vjp(lambda r, ct: (ct, ct * len(r[1])),
                                   lambda f, x, y: (f(x, y), (x, 'ab'))),
    'a dict as residuals': by_vjp(
        lambda r, ct: (ct * r['x'], ct), lambda f, x, y: (
            f(x, y), {'x': x, 'y': None})),
    'one array': by_vjp(lambda r, ct: ct, saves_x),
    'a list of cotangents': by_vjp(lambda r, ct: [ct, ct], saves_x),
    'too many': by_vjp(lambda r, ct: (ct, ct, ct), saves_x),
    'a pair for one': by_vjp(lambda r, ct: (ct, (ct, ct)), saves_x),
    'another shape from bwd': by_vjp(
        lambda r, ct: (ct, np.stack([ct] * 2)), saves_x),
    'an integer from bwd': by_vjp(lambda r, ct: (1, 2), saves_x),
    'a complex number from bwd': by_vjp(lambda r, ct: (1j, 2j), saves_x),
    'a float from bwd': by_vjp(forgets_ct, saves_x),
    'a float32 from bwd': by_vjp(
        lambda r, ct: (np.float32(1.0), np.float32(2.0)), saves_x),
    'a text from bwd': by_vjp(lambda r, ct: ('x', ct), saves_x),
    'bwd takes one': by_vjp(lambda ct: (ct, ct), saves_x),
    'bwd writes': by_vjp(grows, saves_x),
    'an error in bwd': by_vjp(raising(TypeError('no')), saves_x),
    'symbolic zeros': ad.custom_jvp(lambda x, y: x * y),
    'a keyword': by_jvp(product_rule),
}
SURPRISES['symbolic zeros'].defjvp(
    lambda p, t: (p[0] * p[1], t[0]), symbolic_zeros=True)


@pytest.mark.parametrize('name', SURPRISES)
@pytest.mark.parametrize('x, y', [(1.5, 2.5), (X, X[::-1])],
                         ids=['floats', 'arrays'])
def test_a_surprise_has_the_outcome_of_the_general_road(name, x, y):
    f = SURPRISES[name]

    def program(x, y):
        out = f(x, y=y) if name == 'a keyword' else f(x, y)
        return np.sum(out) if np.shape(x) else out
    check_both_ways(ad.value_and_grad(program, (0, 1)), x, y)


def test_a_rule_runs_once_and_is_given_again_what_it_returned(surprises):
    runs = []
    f = by_jvp(lambda f, p, t: runs.append(p) or [f(*p), t[0]])
    assert ad.grad(f)(1.5, 2.5) == 1.0
    f = by_vjp(lambda r, ct: runs.append(r) or [ct, ct], saves_x)
    assert ad.grad(f)(1.5, 2.5) == 1.0
    assert len(runs) == len(surprises) == 2


def test_a_pullback_keeps_the_rules_of_its_call():
    f = by_vjp(product_bwd)

    def late(x):
        y = f(x, 2.0)
        f.defvjp(lambda x, y: (f(x, y), None), lambda r, ct: (ct * 7, ct))
        return y
    assert ad.grad(late)(0.0) == 2.0
    assert ad.grad(f)(0.0, 2.0) == 7.0


def test_a_rule_can_be_told_of_zeros():
    seen = []

    def rule(primals, tangents):
        seen.append([type(t).__name__ for t in tangents])
        return f(*primals), tangents[0] * primals[1]
    f = ad.custom_jvp(lambda x, y: x * y)
    f.defjvp(rule, symbolic_zeros=True)
    assert check_both_ways(ad.grad(f), 2.0, 3.0) == 3.0
    assert seen[0] == seen[1] and seen[1][1] == 'SymbolicZero'


def test_a_rule_for_vmap_needs_its_wing():
    f = by_jvp(product_rule)
    f.def_vmap(lambda size, mapped, x, y: (f.fun(x, y), True))
    with ad.plain('more_calls'), pytest.raises(
            NotImplementedError, match='more_calls'):
        ad.grad(f)(2.0, 3.0)


def test_a_surprise_keeps_the_rules_of_its_call():
    f = ad.custom_vjp(lambda x: x * 2)

    def fwd(x):
        f.defvjp(fwd, lambda residuals, ct: (ct * 1000,))  # for later calls
        return x * 2, [x]   # a list is a surprise

    def gradient(x):
        f.defvjp(fwd, lambda residuals, ct: (ct * 5,))
        return ad.grad(f)(x)
    assert check_both_ways(gradient, 0.5) == 5.0


def test_a_pullback_calls_the_function_with_the_rules_of_its_call():
    inside = []

    def bwd(x, ct):
        if inside:
            return ct * 3.0, None
        inside.append(x)
        return ct * ad.grad(f)(x, 2.0), None

    def program(x):
        y = f(x, 2.0)
        f.defvjp(lambda x, y: (f(x, y), x), lambda x, ct: (ct * 7.0, None))
        return y
    f = by_vjp(bwd, saves_x)
    assert ad.grad(program)(1.5) == 3.0


def test_a_pullback_is_given_the_types_of_the_general_road():
    f = by_vjp(lambda r, ct: kinds.append(type(ct)) or (2.0, None), saves_x)
    ways = []
    for way in ad.plain(), ad.plain('notebook'):
        kinds = []
        with way:
            ad.grad(lambda x: f(f(x, 1.0) * 2.0, 1.0))(1.5)
        ways.append(kinds)
    assert ways[0] == ways[1] == [np.float64, np.float64]


def test_a_staged_gradient_records_what_it_recorded():
    f = by_jvp(product_rule)

    def text():
        return str(ad.make_jaxpr(ad.grad(lambda x: f(x, 2.0) * f(1.5, 2.0)))(
            1.0))
    with ad.plain():
        expected = text()
    assert text() == expected and 'custom_jvp_call' in expected


def test_residuals_can_change_after_the_call():
    kept = np.ones(3)
    f = by_vjp(lambda r, ct: (ct * r, None), lambda f, x, y: (x + y, kept))

    def program(x):
        kept[:] = 2.0
        y = f(x, 1.0)
        kept[:] = 3.0
        return np.sum(y)
    assert np.all(ad.grad(program)(X) == 2.0)


def test_a_nondiff_argument_that_is_traced_is_refused():
    f = by_jvp(held_rule, **held)
    check_both_ways(ad.grad(lambda x: f([x], x)), 2.0)
    check_both_ways(ad.grad(lambda x: f(x, x)), X)


def test_a_function_that_closes_over_a_tangent_takes_the_general_road():
    def rule(f, primals, tangents):
        inner = ad.custom_jvp(lambda c: c * tangents[0])
        inner.defjvp(lambda p, t: (p[0] * tangents[0], t[0] * tangents[0]))
        return primals[0], inner(2.0)
    f = by_jvp(rule)
    check_both_ways(ad.grad(lambda x: f(x, 1.0)), 3.0)


@pytest.mark.parametrize('x', [
    1.5, X, np.outer(X, X).T, np.array(['a']), np.array([None]), 'a', [1.5]],
    ids=str)
def test_a_call_outside_returns_what_the_function_returns(x):
    """In its own memory, and a rule can be left out."""
    for f in ad.custom_jvp(lambda x: x), ad.custom_jvp(lambda x: x * 1):
        f.defjvp(lambda p, t: (p, t))
        check_both_ways(f, x)
    f = ad.custom_jvp(lambda x: x.fill(0.0))
    f.defjvp(lambda p, t: (p, t))
    check_both_ways(f, np.ones(3))


def test_a_second_rule_for_forward_mode_is_kept():
    f = by_vjp(product_bwd)
    f.defjvp(partial(product_rule, f))
    g = lambda x: f(x, 2.0)
    check_both_ways(ad.grad(g), 1.5)
    check_both_ways(ad.grad(ad.grad(g)), 1.5)


def test_random_gradients_have_the_outcome_of_the_interpreters():
    for seed in range(300 * amount.TIMES):
        f, args = random_gradient(seed)
        with np.errstate(all='ignore'):
            check_both_ways(f, *args, places=False)
