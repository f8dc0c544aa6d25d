import re

import numpy as np

import autodiff_mini as ad


def check(exercise, name, *args):
    jaxpr = ad.make_jaxpr(getattr(exercise, name))(*args)
    without_types = re.sub(r':\w+(\[[\d,]*\])?', '', str(jaxpr))
    plain = re.sub(r'\[.*?\]', '', without_types)
    equations = [' '.join(line.split()) for line in plain.splitlines()
                 if ' = ' in line]
    assert exercise.prediction()[name] == equations


def test_a__precedence_and_order(exercise):
    check(exercise, 'a', 2.0, 3.0)


def test_b__a_loop_with_a_branch(exercise):
    check(exercise, 'b', 2.0)


def test_c__what_nobody_uses(exercise):
    check(exercise, 'c', 2.0)


def test_d__under_vmap(exercise):
    check(exercise, 'd', np.ones((2, 3)))
