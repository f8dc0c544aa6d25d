import numpy as np

from autodiff_mini import draft as ad


def predicts(name, *args):
    def test(exercise):
        jaxpr = ad.make_jaxpr(getattr(exercise, name))(*args)
        equations = [line.strip() for line in str(jaxpr).splitlines()
                     if line.startswith('    ') and 'return' not in line]
        assert exercise.prediction()[name] == equations
    return test


test_a__precedence_and_order = predicts('a', 2.0, 3.0)
test_b__a_loop_with_a_branch = predicts('b', 2.0)
test_c__an_unused_result = predicts('c', 2.0)
test_d__under_vmap = predicts('d', np.ones((2, 3)))
