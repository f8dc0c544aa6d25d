import numpy as np
import pytest

import autodiff_mini as ad

OMEGA = 0.5671432904097838      # W(1)


def test_what_is_known(exercise):
    assert exercise.lambertw(np.e) == pytest.approx(1.0)
    assert exercise.lambertw(2 * np.exp(2)) == pytest.approx(2.0, rel=1e-6)


def test_the_rule_comes_out(exercise):
    first, second = exercise.slopes(1.0)
    assert first == pytest.approx(OMEGA / (1 + OMEGA), rel=1e-6)
    assert second == pytest.approx(
        -OMEGA**2 * (2 + OMEGA) / (1 + OMEGA)**3, rel=1e-6)


def test_mapped_and_compiled(exercise):
    xs = np.array([0.5, 3.0, 20.0])
    ws = ad.jit(ad.vmap(exercise.lambertw))(xs)
    assert ws * np.exp(ws) == pytest.approx(xs, rel=1e-6)
