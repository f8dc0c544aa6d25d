import numpy as np
import pytest

import autodiff_mini as ad

RNG = np.random.default_rng(0)
P = {'w': RNG.normal(size=(4, 4)) / 2, 'u': RNG.normal(size=(3, 4)),
     'b': RNG.normal(size=4), 'v': RNG.normal(size=(4, 2))}
H, XS = RNG.normal(size=4), RNG.normal(size=(6, 3))


def agree(found, expected):
    for x, y in zip(ad.tree_leaves(found), ad.tree_leaves(expected),
                    strict=True):
        assert np.shape(x) == np.shape(y)
        assert x == pytest.approx(y, rel=1e-9, abs=1e-12)


def loop(exercise):
    """Return the one equation that is a loop, and all the others."""
    eqns = ad.make_jaxpr(exercise.by_hand)(P, H, XS).eqns
    [scan] = [eqn for eqn in eqns if eqn.primitive.name == 'scan']
    return scan, [eqn for eqn in eqns if eqn is not scan]


def loss(run):
    def total(p, h, xs):
        h, ys, cost = run(p, h, xs)
        return np.sum(h) + np.sum(np.sin(ys)) + cost
    return total


def test_values(exercise):
    agree(exercise.by_hand(P, H, XS), exercise.network(P, H, XS))


def test_no_steps(exercise):
    h, ys, cost = exercise.by_hand(P, H, XS[:0])
    assert np.array_equal(h, H) and ys.shape == (0, 2) and cost == 0.0


def test_three_operations_in_the_loop(exercise):
    scan, _ = loop(exercise)
    names = [eqn.primitive.name for eqn in scan.params['jaxpr'].eqns]
    assert names == ['matmul', 'add', 'tanh']


def test_two_products_outside(exercise):
    _, others = loop(exercise)
    names = [eqn.primitive.name for eqn in others]
    assert names.count('matmul') == 2


def test_gradients(exercise):
    agree(ad.grad(loss(exercise.by_hand), (0, 1, 2))(P, H, XS),
          ad.grad(loss(exercise.network), (0, 1, 2))(P, H, XS))
