from unittest.mock import patch

import numpy as np
import pytest

from autodiff_mini.draft import jvp, vmap, while_loop
from autodiff_mini.draft.branches import while_p
from autodiff_mini.draft.vmap import vmap_rules


def with_rule(exercise):
    """Return a context in which the draft has the rule."""
    return patch.dict(vmap_rules, {while_p: exercise.while_vmap})


def root(a):
    return while_loop(lambda x: (x * x - a) ** 2 > 1e-24,
                      lambda x: (x + a / x) / 2, a)


def countdown(n):
    """Double two numbers `n` times."""
    return while_loop(lambda s: s['n'] > 0.0,
                      lambda s: {'n': s['n'] - 1.0, 'v': 2.0 * s['v']},
                      {'n': n, 'v': np.array([1.0, 3.0])})['v']


A = np.array([2.0, 3.0, 1.0, 50.0])
N = np.array([3.0, 0.0, 2.0])
DOUBLED = [[8.0, 24.0], [1.0, 3.0], [4.0, 12.0]]


def test_stopped_element_keeps_its_values(exercise):
    with with_rule(exercise):
        assert np.array_equal(vmap(countdown)(N), DOUBLED)


def test_two_elements_with_two_values_each(exercise):
    """Aligning at the last axis mixes them up without an error."""
    with with_rule(exercise):
        assert np.array_equal(vmap(countdown)(N[:2]), DOUBLED[:2])


def test_forward_mode(exercise):
    def slope(a):
        return jvp(root, (a,), (1.0,))[1]
    with with_rule(exercise):
        assert vmap(slope)(A) == pytest.approx([slope(a) for a in A])
