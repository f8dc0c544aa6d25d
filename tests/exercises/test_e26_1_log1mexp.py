import numpy as np
import pytest

import autodiff_mini as ad

SMALL = np.array([1e-300, 1e-100, 1e-17, 1e-9])
MIDDLE = np.array([0.5, 0.69, 0.7, 1.0, 2.0])
LARGE = np.array([40.0, 100.0, 700.0, 800.0, np.inf])


def close(found, expected):
    return found == pytest.approx(expected, rel=1e-14, abs=0)


@np.errstate(all='ignore')
def test_values(exercise):
    f = exercise.make_log1mexp()
    assert close(f(SMALL), np.log(SMALL) - SMALL / 2)
    assert close(f(MIDDLE), np.log1p(-np.exp(-MIDDLE)))
    assert close(f(LARGE), -np.exp(-LARGE))


@np.errstate(all='ignore')
def test_second_derivatives(exercise):
    f = exercise.make_log1mexp()
    second = ad.jit(ad.vmap(ad.grad(ad.grad(f))))
    assert close(second(SMALL[1:]), -1 / SMALL[1:] ** 2)
    assert close(second(MIDDLE), -np.exp(MIDDLE) / np.expm1(MIDDLE) ** 2)
    assert close(second(LARGE), -np.exp(-LARGE))


@np.errstate(all='ignore')
def test_at_zero(exercise):
    f = exercise.make_log1mexp()
    assert f(0.0) == -np.inf
    assert ad.grad(f)(0.0) == np.inf
