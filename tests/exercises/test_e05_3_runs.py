def check(exercise, name):
    exercise.runs.clear()
    exercise.PROGRAMS[name]()
    counted = exercise.runs.count('f'), exercise.runs.count('rule')
    assert counted == exercise.prediction()[name]


def test_a__value(exercise):
    check(exercise, 'a')


def test_b__derivative(exercise):
    check(exercise, 'b')


def test_c__third_derivative(exercise):
    check(exercise, 'c')


def test_d__vmap_of_derivative(exercise):
    check(exercise, 'd')


def test_e__one_of_two_calls(exercise):
    check(exercise, 'e')
