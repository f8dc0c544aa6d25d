import numpy as np
import pytest

import autodiff_mini as ad

X = np.array([0.5, 3.0, 1000.0, -700.0])
Y = np.array([0.25, 2.9999, 998.0, -703.0])
SLOPES = -1 / np.expm1(Y - X), -1 / np.expm1(X - Y)
VALUES = X + np.log(-np.expm1(Y - X))


def total(exercise):
    return lambda x, y: np.sum(exercise.log_diff(x, y))


def test_values(exercise):
    assert exercise.log_diff(X, Y) == pytest.approx(VALUES, rel=1e-14)
    assert exercise.log_diff(np.log(5.0), np.log(3.0)) == pytest.approx(
        np.log(2.0))


def test_close_numbers(exercise):
    for step in 1e-3, 1e-6, 1e-12:
        # to first order, exp(2 s) - exp(s) is s
        found = exercise.log_diff(np.float64(2 * step), step)
        assert np.isclose(found, np.log(step), rtol=0, atol=2 * step)


def test_broadcast(exercise):
    found = exercise.log_diff(X[:, None], Y[None, :1] - 2000.0)
    assert found.shape == (4, 1)
    assert exercise.log_diff(X, -2000.0) == pytest.approx(X)


def test_types(exercise):
    single = X[:2].astype(np.float32)
    for args in (X, Y), (single, single - 1), (single, 0.25), (2.0, 1.0), (
            X[:, None], -800.0 + Y[:3] * 0), (np.arange(3), -1):
        found = exercise.log_diff(*args)
        assert ad.eval_shape(exercise.log_diff, *args) == ad.typeof(found)


def test_gradients(exercise):
    found = ad.grad(total(exercise), (0, 1))(X, Y)
    for bar, slope in zip(found, SLOPES):
        assert bar == pytest.approx(slope, rel=1e-12)


def test_one_operand_moves(exercise):
    for i, slope in enumerate(SLOPES):
        f = lambda z: exercise.log_diff(*[z if i == k else (X, Y)[k]
                                          for k in range(2)])
        _, dot = ad.jvp(f, ((X, Y)[i],), (np.full(4, 2.0),))
        assert dot == pytest.approx(2 * slope, rel=1e-12)


def test_an_operand_that_was_broadcast(exercise):
    found = ad.grad(total(exercise), 1)(X + 2000.0, 1299.0)
    expected = -1 / np.expm1(1.0)       # and of the others less than 1e-300
    assert found == pytest.approx(expected, rel=1e-12)


def test_the_checker_is_content(exercise):
    ad.check_grads(exercise.log_diff, (X[:2] + 1, Y[:2]), order=3)


def test_in_a_batch(exercise):
    table, y = np.stack([X, X + 1, X + 2]), Y
    cases = [((0, None), (table, y)), ((0, 0), (table, table - 1)),
             ((None, 0), (X + 5, np.stack([Y, Y + 1]))),
             ((0, 0), (table, np.arange(3.0) - 800)),   # a number each
             ((0, 0), (np.arange(3.0) + 2000, table)),
             ((0, 0), (X[:3], Y[:3]))]
    for in_axes, args in cases:
        n = 3 if in_axes[0] == 0 else 2
        rows = [[a if axis is None else a[i]
                 for a, axis in zip(args, in_axes)] for i in range(n)]
        found = ad.vmap(exercise.log_diff, in_axes)(*args)
        assert found == pytest.approx(
            np.stack([exercise.log_diff(*row) for row in rows]))


def test_a_batch_of_batches(exercise):
    f = ad.vmap(ad.vmap(exercise.log_diff, (0, None)), (None, 0))
    found = f(X, np.arange(3.0) - 800)
    assert found == pytest.approx(
        exercise.log_diff(X, np.arange(3.0)[:, None] - 800))
    slopes = ad.vmap(ad.grad(exercise.log_diff))(X, Y)
    assert slopes == pytest.approx(SLOPES[0])


def test_compiled(exercise):
    f = ad.jit(ad.vmap(ad.grad(exercise.log_diff, 1)))
    assert f(X, Y) == pytest.approx(SLOPES[1])
    f = ad.jit(exercise.log_diff)
    assert f(X, Y) == pytest.approx(VALUES, rel=1e-14)
    assert 'np.log' in f.source and 'impl' not in f.source


def test_in_a_loop(exercise):
    take_away = lambda total, y: (exercise.log_diff(total, y), total)
    last = lambda start: ad.scan(take_away, start, np.log(
        np.array([1.0, 2.0, 3.0])))[0]
    assert last(np.log(10.0)) == pytest.approx(np.log(4.0))
    assert ad.grad(last)(np.log(10.0)) == pytest.approx(10.0 / 4.0)
