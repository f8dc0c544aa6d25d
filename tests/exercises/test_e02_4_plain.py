import numpy as np

import autodiff_mini as ad
from autodiff_mini.core import Tracer


def check(exercise, *names):
    """Checks the prediction for some of the expressions."""
    predicted, traced = exercise.prediction(), set()

    def watch(x):
        traced.update(name for name in names if isinstance(
            exercise.EXPRESSIONS[name](x), Tracer))
        return x

    x = np.array([1.0, 2.0])
    ad.jvp(watch, (x,), (x,))
    assert {name for name in predicted if name in names} == traced


def test_comparison_integers_and_shape__values_that_cannot_move(exercise):
    check(exercise, 'comparison', 'integers', 'shape')


def test_constant_and_stopped__values_that_do_not_depend_on_x(exercise):
    check(exercise, 'constant', 'stopped')


def test_product_and_difference__values_that_do_not_change(exercise):
    check(exercise, 'product with zero', 'difference')


def test_choice__one_branch_depends_on_x(exercise):
    check(exercise, 'choice')
