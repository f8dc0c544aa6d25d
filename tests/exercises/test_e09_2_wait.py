import numpy as np

from autodiff_mini.draft.partial_eval import linearize_at


def predicts(name):
    def test(exercise):
        x = np.array([-1.0, 2.0, 0.5])
        _, linear, _ = linearize_at(exercise.FUNCTIONS[name], (x,))
        left = [eqn.primitive.name for eqn in linear.eqns]
        arrays = sum(isinstance(v, np.ndarray) and v.ndim > 0
                     for eqn in linear.eqns for v in eqn.invars)
        names, count = exercise.prediction()[name]
        assert (sorted(names), count) == (sorted(left), arrays)
    return test


test_a__a_line = predicts('a')
test_b__an_exponential_of_an_exponential = predicts('b')
test_c__a_product = predicts('c')
test_d__a_choice = predicts('d')
test_e__a_rule = predicts('e')
test_f__a_sum = predicts('f')
