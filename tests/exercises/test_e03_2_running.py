import numpy as np

from autodiff_mini import draft as ad

CUBE = np.arange(24.0).reshape(2, 3, 4)


def test_tables_in_a_cube(exercise):
    for axis in 0, 1, -1:
        sums = ad.vmap(lambda x: exercise.running_sum(x, axis))(CUBE)
        assert np.all(sums == [np.cumsum(x, axis) for x in CUBE])


def test_nested_vmap(exercise):
    sums = ad.vmap(ad.vmap(exercise.running_sum))(CUBE)
    assert np.all(sums == np.cumsum(CUBE, axis=2))
