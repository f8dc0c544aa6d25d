import numpy as np

import autodiff_mini as ad
from tests.support.jaxpr_checks import check_jaxpr

SPECIAL = np.array([0.0, -0.0, 1.5, np.inf, -np.inf, np.nan, 5e-324, 1e307])
BOX = np.arange(24.0).reshape(2, 3, 4)


def left(exercise, f, *args):
    """Checks what is computed; returns the names of what is left."""
    jaxpr = ad.make_jaxpr(f)(*args)
    before = str(jaxpr)
    program = exercise.tidy(jaxpr)
    assert str(jaxpr) == before
    check_jaxpr(program)
    found = ad.eval_jaxpr(program, program.consts, *args)
    expected = ad.eval_jaxpr(jaxpr, jaxpr.consts, *args)
    for y, z in zip(found, expected, strict=True):
        assert ad.typeof(y) == ad.typeof(z)
        assert np.asarray(y).tobytes() == np.asarray(z).tobytes()
    return [eqn.primitive.name for eqn in program.eqns]


def test_a_negation_of_a_negation(exercise):
    assert left(exercise, lambda x: -(-x) * 2, SPECIAL) == ['mul']
    assert left(exercise, lambda x: -(-x), SPECIAL) == []


def test_only_the_inverse_transposition_is_undone(exercise):
    turn = lambda x: np.transpose(x, (1, 2, 0))
    back = lambda x: np.transpose(x, (2, 0, 1))
    cube = np.arange(27.0).reshape(3, 3, 3)
    assert left(exercise, lambda x: turn(turn(x)), cube) == ['transpose'] * 2
    assert left(exercise, lambda x: back(turn(x)), cube) == []
    assert left(exercise, lambda x: turn(x.T), cube) == ['transpose'] * 2


def test_every_bit_turned_twice(exercise):
    assert left(exercise, lambda n: ~~n, np.arange(-2, 3)) == []
    assert left(exercise, lambda n: ~~(n > 0), SPECIAL) == ['gt']
    assert left(exercise, lambda n: -~n, np.arange(3)) == ['invert', 'neg']


def test_other_repeated_operations_stay(exercise):
    assert left(exercise, lambda x: 0.0 - (0.0 - x), SPECIAL) == ['sub'] * 2
    with np.errstate(all='ignore'):
        assert left(exercise, lambda x: 1 / (1 / x), SPECIAL) == ['div'] * 2
        assert left(exercise, lambda x: np.sin(np.sin(x)), BOX) == ['sin'] * 2
        assert left(exercise, lambda x: abs(abs(x)), SPECIAL) == ['abs'] * 2


def test_a_value_in_between_is_kept_if_needed(exercise):
    f = lambda x: (lambda y: (y, -y, y * 2))(-x)
    assert left(exercise, f, SPECIAL) == ['neg', 'mul']
    f = lambda x: (lambda y, z: np.maximum(-y, z))(-x, abs(x))
    assert left(exercise, f, SPECIAL) == ['abs', 'max']


def test_the_type_is_unchanged(exercise):
    assert left(exercise, lambda x: -(-x), True) == ['neg', 'neg']
    assert left(exercise, lambda x: -(-x), 2) == []
