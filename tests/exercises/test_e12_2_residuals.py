from inspect import signature

from autodiff_mini import draft as ad
from autodiff_mini.draft.programs import linearize_jaxpr


def check(exercise, name):
    f = getattr(exercise, name)
    jaxpr = ad.make_jaxpr(f)(*[0.5] * len(signature(f).parameters))
    known, _ = linearize_jaxpr(jaxpr)
    assert exercise.prediction()[name] == len(known.outvars) - 1


def test_a__a_sum(exercise):
    check(exercise, 'a')


def test_b__a_sine(exercise):
    check(exercise, 'b')


def test_c__a_product(exercise):
    check(exercise, 'c')


def test_d__a_square(exercise):
    check(exercise, 'd')


def test_e__a_chain(exercise):
    check(exercise, 'e')


def test_f__a_custom_rule(exercise):
    check(exercise, 'f')


def test_g__a_quotient(exercise):
    check(exercise, 'g')


def test_h__the_same_sine_twice(exercise):
    check(exercise, 'h')
