import numpy as np

import autodiff_mini as ad

XS = np.array([2.0, 3.0, 9.0])


def root(a):
    x = a
    while abs(x * x - a) > 1e-12:
        x = (x + a / x) / 2
    return x


def bend(params, x):
    """Return a tree, from a tree and a number."""
    slope = params['steep'] if x > 0 else params['flat']
    return {'y': slope * x, 'both': (x, slope)}


def pushed(f):
    return lambda x: ad.jvp(f, (x,), (np.ones_like(x),))


def test_a_function_that_branches_can_be_batched(exercise):
    f = exercise.one_by_one(root)
    assert f(9.0) == 3.0
    assert np.allclose(ad.vmap(f)(XS), np.sqrt(XS))


def test_slopes_are_right_in_both_orders(exercise):
    f = exercise.one_by_one(root)
    slopes = 0.5 / np.sqrt(XS)
    assert np.allclose(pushed(ad.vmap(f))(XS)[1], slopes)
    assert np.allclose(ad.vmap(pushed(f))(XS)[1], slopes)
    assert np.allclose(ad.grad(lambda x: np.sum(ad.vmap(f)(x)))(XS), slopes)


def test_arrays_in_a_tree_can_be_shared(exercise):
    f = exercise.one_by_one(bend)
    params = {'steep': np.array([3.0, 4.0]), 'flat': 0.5}
    out = ad.vmap(f, ({'steep': 0, 'flat': None}, 0))(
        params, np.array([-2.0, 2.0]))
    assert out['y'].tolist() == [-1.0, 8.0]
    assert [row.tolist() for row in out['both']] == [[-2.0, 2.0], [0.5, 4.0]]


def test_a_shared_array_as_long_as_the_batch_stays_whole(exercise):
    f = exercise.one_by_one(lambda weights, x: np.sum(weights) * x)
    found = ad.vmap(f, (None, 0))(np.array([1.0, 10.0, 100.0]), XS)
    assert found.tolist() == [222.0, 333.0, 999.0]


def test_a_batch_of_batches(exercise):
    f = exercise.one_by_one(root)
    rows = np.stack([XS, 4 * XS])
    assert np.allclose(ad.vmap(ad.vmap(f))(rows), np.sqrt(rows))
