import numpy as np
import pytest

import autodiff_mini as ad

XS = np.array([0.0, 0.5, 1.0, 3.0])


def near(expected):
    return pytest.approx(np.asarray(expected), rel=1e-9, abs=1e-9)


def test_values(exercise):
    for x in XS:
        w = exercise.lambertw(x)
        assert w * np.exp(w) == near(x)
        assert exercise.inverse(np.sinh, 0.0)(x) == near(np.arcsinh(x))


def test_g_captures_a_value(exercise):
    def root(n, x):
        return exercise.inverse(lambda w: w ** n, 1.0)(x)
    slope = -2 ** (1 / 3) * np.log(2.0) / 9
    assert ad.grad(root)(3.0, 2.0) == near(slope)
    assert ad.grad(root, 1)(3.0, 2.0) == near(2 ** (-2 / 3) / 3)


def test_mapped_and_compiled(exercise):
    ws = ad.vmap(exercise.lambertw)(XS)
    assert ws * np.exp(ws) == near(XS)
    slopes = np.exp(-ws) / (1 + ws)
    f = ad.jit(ad.vmap(ad.grad(exercise.lambertw)))
    assert f(XS) == near(slopes)
