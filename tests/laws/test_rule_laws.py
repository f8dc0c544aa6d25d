"""A law for every custom rule, and the page that states the laws."""

from pathlib import Path

import numpy as np
import pytest

import autodiff_mini as ad
from tests.support import amount
from tests.support.numerical import assert_close
from tests.tables import random_calls, random_rules
from tests.tables.rule_laws import (
    DYES,
    INTERPRETERS,
    LAWS,
    inner,
    nestings,
    outcome,
    said_by,
    tangent,
)

PAGE = Path(__file__).parents[2] / 'book/appendix/the_laws.md'
WORDS = {'evaluate': 'ends', 'lower': 'lost'}   # in other columns, kept
REFUSED = {('custom_vjp', 'jvp'), ('custom_vjp', 'partial eval'),
           ('while', 'transpose')}


def word(row, interpreter):
    """Return what the page says about a cell."""
    if (row, interpreter) in REFUSED:
        return 'refused'
    return WORDS.get(interpreter, 'kept')


@pytest.mark.parametrize('row', LAWS)
def test_each_law_holds(row):
    for interpreter in INTERPRETERS:
        assert said_by(row, interpreter) == word(row, interpreter), interpreter


def test_the_page_states_each_law():
    lines = PAGE.read_text().splitlines()
    for row, laws in LAWS.items():
        words = [word(row, interpreter) for interpreter in INTERPRETERS]
        assert f'| {row} | {" | ".join(words)} |' in lines
        for text, _ in laws:
            assert f'    {text}' in lines


NESTINGS = [    # wrappers and derivatives, and one in how many by `make test`
    (0, 2, 1), (1, 1, 1), (0, 3, 3), (1, 2, 12), (2, 1, 24), (1, 3, 0),
    (2, 2, 0)]


@pytest.mark.parametrize('dye', DYES)
def test_a_rule_survives_every_nesting(dye):
    for wrappers, derivatives, share in NESTINGS:
        step = 1 if amount.WHOLE else share
        for names in nestings(wrappers, derivatives)[::step] if step else ():
            assert outcome(dye, names) in ('right', 'refused'), names


@pytest.mark.parametrize('start', range(0, 2000 if amount.WHOLE else 40, 20))
def test_random_rules_survive_in_every_wrapper(start):
    for seed in range(start, start + 20):
        said = random_rules.check(seed)
        assert said in ('right', 'refused'), (seed, said)


@pytest.mark.parametrize('start', range(0, 2000 if amount.WHOLE else 40, 20))
def test_random_calls_in_calls_have_second_derivatives(start):
    for seed in range(start, start + 20):
        said = random_calls.check(seed)
        assert said in ('right', 'refused'), (seed, said)


@pytest.mark.parametrize('start', range(0, 1000 if amount.WHOLE else 20, 20))
def test_random_calls_keep_the_rules_of_optimize_remat(start):
    for seed in range(start, start + 20):
        said = random_calls.check(seed, random_calls.REMAT)
        assert said in ('right', 'refused'), (seed, said)


def test_a_branch_in_a_mapped_rule_is_transposed():
    """The other elements used to get a tangent, through stop_gradient."""
    f = random_rules.build(('wrap', 'vmap', ('lying', 3, 'cond')))
    for slope in ad.grad(f), ad.jit(ad.grad(f)):
        assert_close(slope(0.3), 3 * np.cos(0.3))
    assert_close(ad.grad(ad.grad(f))(0.3), -3 * np.sin(0.3))


def test_optimize_remat_keeps_the_rule_in_every_wrapper():
    for name, inside in random_rules.INSIDE.items():
        f = random_rules.one_way(3, inside, optimize_remat=True)
        for slope in ad.grad(f), ad.jit(ad.grad(f)), ad.grad(ad.jit(f)):
            assert_close(slope(0.3), -3 * np.sin(0.3))
        if name != 'while':
            assert_close(ad.grad(ad.grad(f))(0.3), -3 * np.cos(0.3))


def test_a_pulled_promise_keeps_its_bwd_beside_another_rule():
    """A true rule on a tangent used to replace it by the forward rule."""
    f = with_both(lambda x: np.sin(x), lambda x: 3 * np.cos(x),
                  lambda x: 5 * np.cos(x))
    same = ad.custom_jvp(lambda t: 1.0 * t)
    same.defjvp(lambda p, t: (same(*p), t[0]))
    back = ad.custom_vjp(lambda t: 1.0 * t)
    back.defvjp(lambda t: (back(t), None), lambda _, ct: (ct,))
    outers = [np.exp, ad.custom_jvp(np.exp), ad.custom_jvp(np.exp)]
    for outer, on_tangent in zip(outers[1:], [same, back]):
        outer.defjvp(lambda p, t, g=on_tangent: (
            np.exp(*p), g(np.exp(*p) * t[0])))
    sin, cos = np.sin(0.49), np.cos(0.49)

    def curve(first, again):
        return np.exp(sin) * first * (
            1.96 * (again * cos ** 2 - sin) + 2 * cos)
    for outer in outers:
        for inner in (lambda x: f(x * x)), ad.jit(lambda x: f(x * x)):
            g = lambda x: outer(inner(x))
            assert_close(ad.grad(ad.grad(g))(0.7), curve(5, 5))
            assert_close(ad.jit(ad.grad(ad.grad(g)))(0.7), curve(5, 5))
            if outer is outers[-1]:
                continue    # its rule on a tangent is only for reverse mode
            assert_close(tangent(ad.grad(g))(0.7, 1.0), curve(5, 3))
            assert_close(ad.hessian(g)(0.7), curve(5, 3))
            assert_close(ad.grad(lambda x: tangent(g)(x, 1.0))(0.7),
                         curve(3, 5))


def with_both(f, forward, back):
    """Return `f` with a slope for each mode."""
    f = ad.custom_vjp(f)
    f.defvjp(lambda x: (f(x), x), lambda x, ct: (back(x) * ct,))
    f.defjvp(lambda p, t: (f(*p), forward(*p) * t[0]))
    return f


def test_a_bwd_does_not_see_a_lie_about_its_cotangent():
    """Its slope in the cotangent is the transposed function."""
    pulled = lambda ct: ad.vjp(inner, 0.0)[1](ct)[0]
    assert ad.grad(pulled)(1.0) == tangent(pulled)(1.0, 1.0) == 2.0
    pushed = lambda t: ad.jvp(inner, (0.0,), (t,))[1]
    assert ad.grad(pushed)(1.0) == tangent(pushed)(1.0, 1.0) == 3.0
