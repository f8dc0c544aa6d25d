import numpy as np

from autodiff_mini.draft.partial_eval import linearize_at


def check(exercise, name):
    x = np.array([-1.0, 2.0, 0.5])
    _, linear, _ = linearize_at(exercise.FUNCTIONS[name], (x,))
    left = [eqn.primitive.name for eqn in linear.eqns]
    arrays = sum(isinstance(v, np.ndarray) and v.ndim > 0
                 for eqn in linear.eqns for v in eqn.invars)
    names, count = exercise.prediction()[name]
    assert (sorted(names), count) == (sorted(left), arrays)


def test_a__a_line(exercise):
    check(exercise, 'a')


def test_b__an_exponential_of_an_exponential(exercise):
    check(exercise, 'b')


def test_c__a_product(exercise):
    check(exercise, 'c')


def test_d__a_choice(exercise):
    check(exercise, 'd')


def test_e__a_rule(exercise):
    check(exercise, 'e')


def test_f__a_sum(exercise):
    check(exercise, 'f')
