def predicts(name):
    """Return a test of the number that a program returns."""
    def test(exercise):
        assert exercise.prediction()[name] == exercise.PROGRAMS[name]()
    return test


test_a__a_loop_in_python = predicts('a')
test_b__a_scan = predicts('b')
test_c__a_batch_of_slopes = predicts('c')
test_d__an_operand_outside_the_batch = predicts('d')
test_e__the_square_of_a_square = predicts('e')
test_f__a_batch_of_batches = predicts('f')
test_g__a_second_derivative = predicts('g')
test_h__a_hessian = predicts('h')
