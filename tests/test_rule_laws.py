"""A law for every custom rule, and the page that states the laws."""

from pathlib import Path

import numpy as np
import pytest

import autodiff_mini as ad
from tests import random_rules
from tests.amount import rest
from tests.rule_laws import (
    DYES,
    INTERPRETERS,
    LAWS,
    WRAPPERS,
    batch,
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
    """Return what the page says of a cell."""
    if (row, interpreter) in REFUSED:
        return 'refused'
    return WORDS.get(interpreter, 'kept')


@pytest.mark.parametrize('interpreter', INTERPRETERS)
@pytest.mark.parametrize('row', LAWS)
def test_each_law_holds(row, interpreter):
    assert said_by(row, interpreter) == word(row, interpreter)


def test_the_page_states_each_law():
    lines = PAGE.read_text().splitlines()
    for row, laws in LAWS.items():
        words = [word(row, interpreter) for interpreter in INTERPRETERS]
        assert f'| {row} | {" | ".join(words)} |' in lines
        for text, _ in laws:
            assert f'    {text}' in lines


def check_nestings(dye, wrappers, derivatives):
    """Raise unless each nesting is right, or refused where it may be."""
    wrong = {}
    for names in nestings(wrappers, derivatives):
        said = outcome(dye, names)
        if said not in ('right', 'refused'):
            wrong[names] = said
    assert not wrong


@pytest.mark.parametrize('dye, wrappers, derivatives', [
    *[(dye, n, d) for dye in DYES for n, d in [(0, 2), (1, 1)]],
    *[rest(dye, n, d) for dye in DYES
      for n, d in [(0, 3), (1, 2), (1, 3), (2, 1), (2, 2)]]])
def test_a_rule_survives_every_nesting(dye, wrappers, derivatives):
    check_nestings(dye, wrappers, derivatives)


# With wrappers, a few of the 324 orders of one wrapper and two derivatives
@pytest.mark.parametrize('dye', DYES)
@pytest.mark.parametrize('wrapper', WRAPPERS)
def test_a_rule_on_a_tangent_survives_second_derivatives(dye, wrapper):
    for names in [(wrapper, 'grad', 'grad'), ('jvp', wrapper, 'grad'),
                  ('grad', 'linearize', wrapper)]:
        assert outcome(dye, names) in ('right', 'refused'), names


@pytest.mark.parametrize('start', [0, *map(rest, range(25, 2000, 25))])
def test_random_lies_survive_in_every_carrier(start):
    found = {seed: random_rules.check(seed)
             for seed in range(start, start + 25)}
    assert not {seed: said for seed, said in found.items()
                if said not in ('right', 'refused')}


@pytest.mark.parametrize('wrapper', WRAPPERS)
def test_a_batch_rule_survives_every_wrapper(wrapper):
    """It says 3x, and the function 2x."""
    f = WRAPPERS[wrapper](batch)
    expected = 6.0 if wrapper == 'vmap' else 4.0
    assert f(2.0) == expected
    np.testing.assert_array_equal(ad.vmap(f)(np.full(2, 2.0)), 6.0)
    if wrapper not in ('while', 'custom_vjp'):
        slope = tangent(f)(2.0, 1.0)
        assert slope == expected / 2
        np.testing.assert_array_equal(
            ad.vmap(lambda x: tangent(f)(x, 1.0))(np.ones(2)), 3.0)


def test_a_bwd_does_not_see_a_lie_about_its_cotangent():
    """Its slope by the cotangent is what the transposed function does."""
    pulled = lambda ct: ad.vjp(inner, 0.0)[1](ct)[0]
    assert ad.grad(pulled)(1.0) == tangent(pulled)(1.0, 1.0) == 2.0
    pushed = lambda t: ad.jvp(inner, (0.0,), (t,))[1]
    assert ad.grad(pushed)(1.0) == tangent(pushed)(1.0, 1.0) == 3.0


