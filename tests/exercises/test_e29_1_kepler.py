import numpy as np
import pytest

import autodiff_mini as ad

E_TRUE = np.array([0.3, 1.5, 3.0, 5.5])
e = 0.6
M = E_TRUE - e * np.sin(E_TRUE)
FAR = np.full(4, np.pi)


def near(expected):
    return pytest.approx(np.asarray(expected), rel=1e-7, abs=1e-7)


def by_e(E):
    return np.sin(E) / (1 - e * np.cos(E))


def by_M(E):
    return 1 / (1 - e * np.cos(E))


def test_the_slopes_at_a_bad_guess_and_at_the_solution(exercise):
    slopes = ad.vmap(ad.grad(exercise.kepler, (0, 1)), (None, 0, 0))
    for guess in FAR, E_TRUE:
        found = slopes(e, M, guess)
        assert found[0] == near(by_e(E_TRUE))
        assert found[1] == near(by_M(E_TRUE))


def test_the_slope_of_a_batch(exercise):
    batch = ad.vmap(exercise.kepler, (None, 0, 0))
    E, E_dot = ad.jvp(lambda e: batch(e, M, E_TRUE), (e,), (1.0,))
    assert E == near(E_TRUE)
    assert E_dot == near(by_e(E_TRUE))


def test_second_derivatives_at_the_solution(exercise):
    bent = ad.vmap(ad.hessian(exercise.kepler, (0, 1)), (None, 0, 0))
    (ee, eM), (Me, MM) = bent(e, M, E_TRUE)
    s, by = np.sin(E_TRUE), by_M(E_TRUE)
    # The slopes of `by_e` and `by_M` with E, times the slope of E, and what
    # `e` adds itself.
    assert MM == near(-e * s * by ** 3)
    assert Me == near((np.cos(E_TRUE) - e) * by ** 3)
    assert eM == near(Me)
    assert ee == near((np.cos(E_TRUE) - e) * by ** 3 * s
                      + s * np.cos(E_TRUE) * by ** 2)


def test_the_guess_has_no_influence(exercise):
    slope = ad.vmap(ad.jacfwd(exercise.kepler, 2), (None, 0, 0))
    assert slope(e, M, E_TRUE + 0.01) == near(np.zeros(4))
