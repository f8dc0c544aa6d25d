import numpy as np
import pytest

import autodiff_mini as ad

X = np.array([0.5, -1.0, 2.0])
Y = np.exp(-(X / 2) ** 2)
SLOPES = -X / 2 * Y, X ** 2 / 4 * Y     # in x, and in the width, at 2


def total(exercise):
    return lambda x, width: np.sum(exercise.gauss(x, width))


def test_each_alone_and_both_together(exercise):
    slopes = [ad.jvp(lambda s, t: exercise.gauss(X + s, 2.0 + t),
                     (0.0, 0.0), moves)[1] for moves in
              ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0))]
    assert slopes[0] == pytest.approx(SLOPES[0])
    assert slopes[1] == pytest.approx(SLOPES[1])
    assert slopes[2] == pytest.approx(SLOPES[0] + SLOPES[1])
    assert ad.grad(total(exercise))(X, 2.0) == pytest.approx(SLOPES[0])
    assert ad.grad(total(exercise), 1)(X, 2.0) == pytest.approx(
        np.sum(SLOPES[1]))


def test_the_checker_is_content(exercise):
    ad.check_grads(exercise.gauss, (X, 2.0), order=2)


def test_mapped_and_compiled(exercise):
    slopes = ad.jit(ad.vmap(ad.grad(exercise.gauss, (0, 1)), (0, None)))
    x_bar, width_bar = slopes(X, 2.0)
    assert x_bar == pytest.approx(SLOPES[0])
    assert width_bar == pytest.approx(SLOPES[1])
    _, width_bar = ad.vmap(ad.grad(total(exercise), (0, 1)))(
        np.stack([X, X]), np.array([2.0, 2.0]))
    assert width_bar == pytest.approx([np.sum(SLOPES[1])] * 2)


def test_the_mixed_derivative(exercise):
    h = ad.hessian(lambda p: exercise.gauss(p[0], p[1]))(
        np.array([0.5, 2.0]))
    u = 0.25
    expected = (4 * u - 4 * u ** 3) / 4 * np.exp(-u * u)
    assert h[0, 1] == pytest.approx(expected)
    assert h[1, 0] == pytest.approx(expected)
