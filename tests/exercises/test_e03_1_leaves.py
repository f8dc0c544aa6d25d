import autodiff_mini as ad


def check(exercise, name):
    assert exercise.prediction()[name] == ad.tree_leaves(exercise.TREES[name])


def test_dict_with_none(exercise):
    check(exercise, 'a')


def test_ordered_dict(exercise):
    check(exercise, 'b')


def test_list_with_a_string(exercise):
    check(exercise, 'c')


def test_namedtuple_and_a_class(exercise):
    check(exercise, 'd')
