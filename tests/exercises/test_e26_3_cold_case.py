import numpy as np
import pytest

import autodiff_mini as ad

RNG = np.random.default_rng(0)
ROWS = RNG.standard_normal((4, 3))
WEIGHTS = RNG.standard_normal(3)
EMPTY = np.concatenate([ROWS, np.zeros((1, 3))])


def expected_loss(weights, rows):
    rows = [row * np.exp(weights) for row in rows if row.any()]
    p = [(u @ v / np.sqrt(u @ u) / np.sqrt(v @ v)) ** 2
         for u in rows for v in rows]
    return -np.sum(p * np.log(p))


def slopes(exercise, rows=EMPTY):
    return ad.grad(exercise.loss, (0, 1))(WEIGHTS, rows)


@np.errstate(all='ignore')
def test_the_loss_is_unchanged(exercise):
    for rows in ROWS, EMPTY:
        loss, (w_bar, _) = ad.value_and_grad(exercise.loss, (0, 1))(
            WEIGHTS, rows)
        assert loss == pytest.approx(expected_loss(WEIGHTS, rows))
        assert np.all(np.isfinite(w_bar))


@np.errstate(all='ignore')
def test_the_empty_row_changes_nothing_for_the_others(exercise):
    w_bar, rows_bar = slopes(exercise)
    w_alone, rows_alone = slopes(exercise, ROWS)
    assert w_bar == pytest.approx(w_alone)
    assert rows_bar[:4] == pytest.approx(rows_alone)


@np.errstate(all='ignore')
def test_directions(exercise):
    units, pullback = ad.vjp(exercise.directions, EMPTY)
    assert np.sum(units ** 2, axis=1) == pytest.approx([1, 1, 1, 1, 0])
    (rows_bar,) = pullback(np.ones((5, 3)))
    along = np.sum(rows_bar * EMPTY, axis=1)    # lengths do not matter
    assert along == pytest.approx(np.zeros(5), abs=1e-12)
    assert np.array_equal(rows_bar[4], np.zeros(3))
