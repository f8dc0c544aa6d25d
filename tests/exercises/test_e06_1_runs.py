def predicts(name):
    def test(exercise):
        exercise.runs.clear()
        exercise.PROGRAMS[name]()
        counted = exercise.runs.count('f'), exercise.runs.count('rule')
        assert counted == exercise.prediction()[name]
    return test


test_a__value = predicts('a')
test_b__derivative = predicts('b')
test_c__third_derivative = predicts('c')
test_d__vmap_of_derivative = predicts('d')
test_e__one_of_two_calls = predicts('e')
