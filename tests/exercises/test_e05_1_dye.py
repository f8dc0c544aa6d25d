import numpy as np


def check(exercise, name):
    assert np.all(exercise.PROGRAMS[name]() == exercise.prediction()[name])


def test_jvp(exercise):
    check(exercise, 'a')


def test_vmap_of_jvp(exercise):
    check(exercise, 'b')


def test_jvp_of_vmap(exercise):
    check(exercise, 'c')


def test_jvp_of_vmap_over_something_else(exercise):
    check(exercise, 'd')


def test_vmap_of_jvp_of_vmap(exercise):
    check(exercise, 'e')
