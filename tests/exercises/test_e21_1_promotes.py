from functools import partial

import numpy as np

import autodiff_mini as ad


def test_weights_and_velocities_stay_float32(exercise):
    for tree in exercise.update(1, *exercise.start()):
        assert {leaf.dtype for leaf in ad.tree_leaves(tree)} == {
            np.dtype(np.float32)}


def test_nothing_in_a_step_is_float64(exercise):
    step = ad.make_jaxpr(partial(exercise.update, 1))(*exercise.start())
    assert 'float32' in str(step)
    assert 'float64' not in str(step)


def test_the_rate_still_falls_like_a_cosine(exercise):
    weights, velocities = exercise.start()
    slopes = ad.grad(exercise.loss)(weights)
    for step in 0, 50, 150, exercise.STEPS:
        rate = np.float32(0.05 * (1 + np.cos(np.pi * step / exercise.STEPS)))
        _, after = exercise.update(step, weights, velocities)
        for name, slope in slopes.items():
            assert after[name].dtype == np.float32
            np.testing.assert_allclose(after[name], -rate * slope, rtol=1e-5)


def test_it_learns(exercise):
    state = exercise.start()
    for step in range(exercise.STEPS):
        state = exercise.update(step, *state)
    last = exercise.loss(state[0])
    assert last.dtype == np.float32
    assert last < 0.05
