import numpy as np

import autodiff_mini as ad


def check(exercise, name, *args):
    f = ad.jit(getattr(exercise, name))
    f(*args)
    lines = [line.strip() for line in f.source.splitlines()]
    assert exercise.prediction()[name] == lines[1:-1]


def test_what_nobody_needs(exercise):
    check(exercise, 'a', 2.0)


def test_a_rule_that_nobody_asked(exercise):
    check(exercise, 'b', 2.0)


def test_a_rule_that_was_asked(exercise):
    check(exercise, 'c', 2.0, 1.0)


def test_a_program_in_a_batch(exercise):
    check(exercise, 'd', np.ones((2, 3)))
