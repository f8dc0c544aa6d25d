import numpy as np
import pytest

import autodiff_mini as ad

W = np.array([0.1, 0.3, -0.4, 2.0])
STEP = 0.25
INPUTS = np.array([[1.0, 2.0], [3.0, -1.0], [0.0, 1.0]])


def computed(exercise, f):
    """Return what `f` makes of the function, or fail if it is refused."""
    on_grid = exercise.make_on_grid()
    try:
        return f(on_grid)
    except Exception as error:
        assert not error, error


def test_values(exercise):
    on_grid = exercise.make_on_grid()
    assert on_grid(W, STEP) == pytest.approx([0.0, 0.25, -0.5, 2.0])
    assert on_grid(W, 0.4) == pytest.approx([0.0, 0.4, -0.4, 2.0])


def test_weights_learn_straight_through(exercise):
    found = computed(exercise, lambda on_grid: ad.grad(
        lambda w: np.sum(on_grid(w, STEP) ** 2))(W))
    assert found == pytest.approx(2 * np.array([0.0, 0.25, -0.5, 2.0]))


def test_forward_mode(exercise):
    _, found = computed(exercise, lambda on_grid: ad.jvp(
        lambda w: on_grid(w, STEP), (W,), (W,)))
    assert found == pytest.approx(W)


def test_the_step_learns(exercise):
    found = computed(exercise, lambda on_grid: ad.jacrev(on_grid, 1)(
        W, STEP))
    assert found == pytest.approx(np.round(W / STEP) - W / STEP)


def test_a_model_finds_its_weights(exercise):
    def learn(on_grid, step, true):
        misfit = lambda w: np.sum((INPUTS @ (on_grid(w, step) - true)) ** 2)
        w = np.zeros(2)
        for _ in range(60):
            w = w - 0.02 * ad.grad(misfit)(w)
        return on_grid(w, step)
    for step, true in (1.0, [2.0, -1.0]), (0.5, [1.5, -0.5]):
        found = computed(exercise, lambda f: learn(f, step, np.array(true)))
        assert found == pytest.approx(true)


def test_batched_and_compiled(exercise):
    slopes = computed(exercise, lambda on_grid: ad.jit(ad.vmap(
        ad.grad(on_grid, (0, 1)), (0, None)))(W, STEP))
    assert slopes[0] == pytest.approx(np.ones(4))
    assert slopes[1] == pytest.approx(np.round(W / STEP) - W / STEP)
