"""The lie test in real JAX: it and the library agree about each order.

`make test-jax` runs it; without JAX it is skipped.
"""

import pytest

from tests.lie_test import harness
from tests.lie_test.__main__ import load
from tests.support import last_page
from tests.support.real_jax import by_version

pytestmark = pytest.mark.rest

jax, ours = load('jax'), load('autodiff_mini')

# 0.10.2 loses the rule in the second derivative of a scan.
SECOND = [(('scan', first, second), 6) for first in ('grad', 'linearize')
          for second in ('grad', 'jvp', 'linearize')]
LOST = by_version({'0.10.2': dict(SECOND), '0.12': {}})


@pytest.mark.parametrize('rule, counts', [
    ('custom_jvp', [47, 0, 0, 0, 1]), ('custom_vjp', [13, 0, 0, 34, 1])])
def test_jax_keeps_rules_in_orders_of_two(rule, counts):
    found = harness.counted(harness.lie_test(jax, rule, 2))
    assert found == dict(zip(harness.VERDICTS, counts, strict=True))


@pytest.mark.parametrize('order, answer', SECOND, ids=str)
def test_jax_gives_second_derivatives_of_a_scan(order, answer):
    found = harness.result(jax, 'custom_jvp', order)
    assert found.control.value == 4
    assert found.found.value == LOST.get(order, 9)
    assert found.verdict == ('lost' if order in LOST else 'kept')


@pytest.mark.parametrize('start', range(19))
@pytest.mark.parametrize('rule', jax.rules)
def test_jax_agrees_with_the_library_in_orders_of_three(rule, start):
    """A part of them, because JAX compiles in each."""
    cases = [x for x in harness.orders(jax, 3) if len(x) == 3][start::19]
    assert len(cases) == 27
    for order in cases:
        found = harness.result(jax, rule, order)
        if rule == 'custom_jvp' and order in LOST:
            assert found.verdict == 'lost'
        else:
            expected = harness.result(ours, rule, order)
            assert found.verdict == expected.verdict != 'lost', found


def test_last_page_says_what_jax_prints():
    """The counts of orders of three follow from the test above."""
    version = jax.version
    if f'| {version} |' not in last_page.PAGE.read_text():
        pytest.skip(f'the page says nothing about {version}')
    assert last_page.puzzle(version) == [
        harness.result(jax, 'custom_jvp', harness.read(order)).found.value
        for order in ('grad(f)', 'vmap(grad(f))', 'grad(vmap(f))',
                      'grad(jit(vmap(f)))')]
    orders, kept, *others = last_page.counts(version)
    assert others == [len(LOST), 0, 0, 26] and kept + sum(others) == orders
    assert orders == len([*harness.orders(jax, 3)])
