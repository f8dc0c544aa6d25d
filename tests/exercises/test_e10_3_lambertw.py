import numpy as np

from autodiff_mini.interpreters.abstract import abstract_rules
from autodiff_mini.interpreters.jvp import jvp_rules
from autodiff_mini.interpreters.transpose import transpose_rules
from autodiff_mini.interpreters.vmap import vmap_rules

TABLES = {'jvp': jvp_rules, 'vmap': vmap_rules, 'abstract': abstract_rules,
          'transpose': transpose_rules}
W = np.linspace(0.1, 2.0, 6)
X = W * np.exp(W)
SLOPES = 1 / (np.exp(W) * (1 + W))


def check(exercise, name):
    """Checks which rules are asked for; returns what the program does."""
    asked = set()

    def watch(what, rule):
        return lambda *args, **params: (
            asked.add(what) or rule(*args, **params))

    for what, table in TABLES.items():
        rule = table.get(exercise.lambertw_p)
        table[exercise.lambertw_p] = watch(what, rule)
    out = exercise.PROGRAMS[name](X)
    assert exercise.prediction()[name] == asked
    return out


def test_a__gradient(exercise):
    assert np.allclose(check(exercise, 'a'), SLOPES)


def test_b__jacobian(exercise):
    assert np.allclose(check(exercise, 'b'), np.diag(SLOPES))


def test_c__gradient_of_a_batch(exercise):
    assert np.allclose(check(exercise, 'c'), SLOPES)


def test_d__gradient_that_is_written_down(exercise):
    check(exercise, 'd')


def test_e__second_order(exercise):
    check(exercise, 'e')
