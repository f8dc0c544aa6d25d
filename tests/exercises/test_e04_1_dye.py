import numpy as np


def check(exercise, name):
    assert np.all(exercise.PROGRAMS[name]() == exercise.prediction()[name])


def test_a__jvp(exercise):
    check(exercise, 'a')


def test_b__vmap_of_jvp(exercise):
    check(exercise, 'b')


def test_c__jvp_of_vmap(exercise):
    check(exercise, 'c')


def test_d__jvp_of_vmap_over_another_argument(exercise):
    check(exercise, 'd')


def test_e__vmap_of_jvp_of_vmap(exercise):
    check(exercise, 'e')
