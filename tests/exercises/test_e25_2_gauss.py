import numpy as np
import pytest

import autodiff_mini as ad

X = np.array([0.5, -1.0, 2.0])
Y = np.exp(-(X / 2) ** 2)
SLOPES = -X / 2 * Y, X ** 2 / 4 * Y     # in x, and in the width, at 2


def test_tangents_of_each_operand_and_of_both(exercise):
    slopes = [ad.jvp(lambda s, t: exercise.gauss(X + s, 2.0 + t),
                     (0.0, 0.0), moves)[1] for moves in
              ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0))]
    assert slopes[0] == pytest.approx(SLOPES[0])
    assert slopes[1] == pytest.approx(SLOPES[1])
    assert slopes[2] == pytest.approx(SLOPES[0] + SLOPES[1])


def test_the_checker_is_content(exercise):
    ad.check_grads(exercise.gauss, (X, 2.0), order=2)


def test_mapped_and_compiled(exercise):
    slopes = ad.jit(ad.vmap(ad.grad(exercise.gauss, (0, 1)), (0, None)))
    x_bar, width_bar = slopes(X, 2.0)
    assert x_bar == pytest.approx(SLOPES[0])
    assert width_bar == pytest.approx(SLOPES[1])
