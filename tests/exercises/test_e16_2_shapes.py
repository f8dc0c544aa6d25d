import numpy as np

import autodiff_mini as ad

RNG = np.random.default_rng(0)
H, W = RNG.standard_normal((2, 3))
M, XS = RNG.standard_normal((3, 3)), RNG.standard_normal((5, 3))


def check(exercise, name, *args):
    _, pullback = ad.vjp(getattr(exercise, name), *args)
    shapes = [np.shape(x) for x in ad.tree_leaves(pullback) if np.ndim(x)]
    assert sorted(exercise.prediction()[name]) == sorted(shapes)


def test_a__a_sum(exercise):
    check(exercise, 'a', H, XS)


def test_b__a_sine(exercise):
    check(exercise, 'b', H)


def test_c__a_product(exercise):
    check(exercise, 'c', W, H, XS)


def test_d__a_factor_that_stays_the_same(exercise):
    check(exercise, 'd', W, H)


def test_e__a_recurrent_network(exercise):
    check(exercise, 'e', M, H, XS)
