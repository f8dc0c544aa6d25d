import numpy as np

from autodiff_mini import draft as ad
from autodiff_mini.draft.core import Tracer


def predicts(*names):
    """Return a test of the prediction for some of the expressions."""
    def test(exercise):
        predicted, traced = exercise.prediction(), set()

        def watch(x):
            traced.update(name for name in names if isinstance(
                exercise.EXPRESSIONS[name](x), Tracer))
            return x

        x = np.array([1.0, 2.0])
        ad.jvp(watch, (x,), (x,))
        assert {name for name in predicted if name in names} == traced
    return test


test_comparison_and_mask__values_without_a_slope = predicts(
    'comparison', 'mask')
test_constant_and_shape__values_that_do_not_depend_on_x = predicts(
    'constant', 'shape')
test_product_and_differences__values_that_do_not_change = predicts(
    'product with zero', 'length', 'difference')
test_choice__one_branch_depends_on_x = predicts('choice')
