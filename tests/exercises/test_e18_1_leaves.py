import autodiff_mini as ad


def check(exercise, name):
    assert exercise.prediction()[name] == ad.tree_leaves(exercise.TREES[name])


def test_a__dict_with_none(exercise):
    check(exercise, 'a')


def test_b__ordered_dict(exercise):
    check(exercise, 'b')


def test_c__list_with_a_string(exercise):
    check(exercise, 'c')


def test_d__namedtuple_and_a_class(exercise):
    check(exercise, 'd')
