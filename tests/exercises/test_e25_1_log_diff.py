import numpy as np
import pytest

import autodiff_mini as ad

X = np.array([0.5, 3.0, 1000.0, -700.0])
Y = np.array([0.25, 2.9999, 998.0, -703.0])
SLOPES = -1 / np.expm1(Y - X), -1 / np.expm1(X - Y)
VALUES = X + np.log(-np.expm1(Y - X))


def test_values(exercise):
    assert exercise.log_diff(X, Y) == pytest.approx(VALUES, rel=1e-14)
    assert exercise.log_diff(np.log(5.0), np.log(3.0)) == pytest.approx(
        np.log(2.0))


def test_close_numbers(exercise):
    for step in 1e-3, 1e-6, 1e-12:
        # to first order, exp(2 s) - exp(s) is s
        found = exercise.log_diff(np.float64(2 * step), step)
        assert np.isclose(found, np.log(step), rtol=0, atol=2 * step)


def test_types(exercise):
    single = X[:2].astype(np.float32)
    for args in (X, Y), (single, single - 1), (single, 0.25), (2.0, 1.0), (
            X[:, None], -800.0 + Y[:3] * 0), (np.arange(3), -1):
        found = exercise.log_diff(*args)
        assert ad.eval_shape(exercise.log_diff, *args) == ad.typeof(found)


def test_one_operand_has_a_tangent(exercise):
    for i, slope in enumerate(SLOPES):
        f = lambda z: exercise.log_diff(*[z if i == k else (X, Y)[k]
                                          for k in range(2)])
        _, dot = ad.jvp(f, ((X, Y)[i],), (np.full(4, 2.0),))
        assert dot == pytest.approx(2 * slope, rel=1e-12)


def test_the_checker_is_content(exercise):
    ad.check_grads(exercise.log_diff, (X[:2] + 1, Y[:2]), order=3)


def test_a_batch_of_batches(exercise):
    f = ad.vmap(ad.vmap(exercise.log_diff, (0, None)), (None, 0))
    found = f(X, np.arange(3.0) - 800)
    assert found == pytest.approx(
        exercise.log_diff(X, np.arange(3.0)[:, None] - 800))


def test_compiled(exercise):
    f = ad.jit(exercise.log_diff)
    assert f(X, Y) == pytest.approx(VALUES, rel=1e-14)
    assert 'np.log' in f.source and 'impl' not in f.source
