"""A law for every custom rule, and the page that states the laws."""

from pathlib import Path

import numpy as np
import pytest

import autodiff_mini as ad
from tests import amount, random_rules
from tests.numerical import assert_close
from tests.rule_laws import (
    DYES,
    INTERPRETERS,
    LAWS,
    inner,
    nestings,
    outcome,
    said_by,
    tangent,
)

PAGE = Path(__file__).parent.parent / 'book/appendix/the_laws.md'
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


def test_a_bwd_does_not_see_a_lie_about_its_cotangent():
    """Its slope in the cotangent is the transposed function."""
    pulled = lambda ct: ad.vjp(inner, 0.0)[1](ct)[0]
    assert ad.grad(pulled)(1.0) == tangent(pulled)(1.0, 1.0) == 2.0
    pushed = lambda t: ad.jvp(inner, (0.0,), (t,))[1]
    assert ad.grad(pushed)(1.0) == tangent(pushed)(1.0, 1.0) == 3.0
