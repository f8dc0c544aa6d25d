import numpy as np

from autodiff_mini import draft as ad
from autodiff_mini.draft.programs import linearize_jaxpr


def check(exercise, name, *args):
    args = [np.ones(3), np.ones((5, 3)), *args]
    jaxpr = ad.make_jaxpr(getattr(exercise, name))(*args)
    [fun] = [eqn.params['fun'] for eqn in jaxpr.eqns]
    known, _ = linearize_jaxpr(fun)
    kept = known.outvars[:len(known.outvars) - len(fun.outvars)]
    shapes = [v.aval.shape for v in kept]
    assert sorted(exercise.prediction()[name]) == sorted(shapes)


def test_a__a_sum(exercise):
    check(exercise, 'a')


def test_b__a_sine(exercise):
    check(exercise, 'b')


def test_c__a_product(exercise):
    check(exercise, 'c', np.ones(3))


def test_d__a_factor_that_never_changes(exercise):
    check(exercise, 'd', np.ones(3))


def test_e__a_recurrent_network(exercise):
    check(exercise, 'e', np.ones((3, 3)))
