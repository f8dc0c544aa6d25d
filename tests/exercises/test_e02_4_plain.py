import numpy as np

from autodiff_mini import draft as ad
from autodiff_mini.draft.core import Tracer


def check(exercise, *names):
    """Check the prediction for some of the expressions."""
    predicted, traced = exercise.prediction(), set()

    def watch(x):
        traced.update(name for name in names if isinstance(
            exercise.EXPRESSIONS[name](x), Tracer))
        return x

    x = np.array([1.0, 2.0])
    ad.jvp(watch, (x,), (x,))
    assert {name for name in predicted if name in names} == traced


def test_comparison_and_mask__values_without_a_slope(exercise):
    check(exercise, 'comparison', 'mask')


def test_constant_and_shape__values_that_do_not_depend_on_x(exercise):
    check(exercise, 'constant', 'shape')


def test_product_and_differences__values_that_do_not_change(exercise):
    check(exercise, 'product with zero', 'length', 'difference')


def test_choice__one_branch_depends_on_x(exercise):
    check(exercise, 'choice')
