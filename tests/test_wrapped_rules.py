"""wrapped_rules.py: a rule, or its function, is wrapped in a jit, loop or branch.

Every derivative is still what the rule says.  `make test` runs each rule with
each wrapper, and the rest runs all pairs of wrappers.
"""

import random

import numpy as np
import pytest

from tests import amount
from tests.amount import rest
from tests.numerical import assert_close
from tests.wrapped_rules import (
    FORWARD, INSIDE, OUTSIDE, RULES, USES, X, expected, function, is_defined)

REFUSED = 'Reverse-mode differentiation does not work'


def may_refuse(rule, inside, outside, use):
    """Return whether reverse mode may have to pass a while_loop.

    The first derivative runs fwd and bwd, and passes neither.
    """
    order = abs(USES[use][1])
    if use in FORWARD or order == 0:
        return False
    is_run = rule in ('fwd', 'bwd', 'both', 'remat') and order == 1
    return 'while_loop' in outside or 'while_loop' in inside and not is_run


def check(rule, inside, outside, use):
    """Assert that a derivative is what the rule says."""
    f = USES[use][0](function(rule, inside, outside))
    try:
        y = f(X)
    except TypeError as error:
        if may_refuse(rule, inside, outside, use) and REFUSED in str(error):
            return
        error.add_note(f'in {rule}, {inside}, {outside}, {use}')
        raise
    assert np.shape(y) == (), (rule, inside, outside, use)
    assert_close(y, expected(rule, outside, use))


def cases(every=101):
    """Return cases, and marks those that are met by the rest alone."""
    found = [(rule, inside, outside, use)
             for rule in RULES for inside in INSIDE for outside in OUTSIDE
             for use in USES if is_defined(rule, use)]
    return [case if i % every == 0 else rest(*case)
            for i, case in enumerate(found) if i % 7 == 0 or i % every == 0]


@pytest.mark.parametrize('rule, inside, outside, use', cases())
def test_a_wrapped_rule_is_the_rule(rule, inside, outside, use):
    check(rule, [inside], [outside], use)


def compositions(count):
    """Return random rules, wrappers inside and outside, and uses."""
    rng = random.Random(0)
    for _ in range(count):
        rule = rng.choice(list(RULES))
        yield (rule, rng.choices(list(INSIDE), k=rng.randrange(4)),
               rng.choices(list(OUTSIDE), k=rng.randrange(4)),
               rng.choice([use for use in USES if is_defined(rule, use)]))


@pytest.mark.parametrize('count', [30, rest(600)])
def test_a_rule_wrapped_in_everything_is_the_rule(count):
    for case in compositions(count * amount.TIMES):
        check(*case)


@pytest.mark.parametrize('use', ['grad', 'jit_grad', 'grad_grad'])
def test_a_branch_in_a_mapped_rule_is_transposed(use):
    """A tangent was lent to the other elements, by stop_gradient."""
    check('jvp', ['cond'], ['vmap'], use)
