import numpy as np

from autodiff_mini import draft as ad


def deriv(f):
    return lambda x: ad.jvp(f, (x,), (1.0,))[1]


def slope(w):
    return 1 / (np.exp(w) * (1 + w))


def test_slope(exercise):
    for w in 0.1, 0.5, 1.0, 3.0:
        found = deriv(exercise.lambertw)(w * np.exp(w))
        assert np.isclose(found, slope(w), rtol=1e-12)


def test_slope_at_zero(exercise):
    with np.errstate(all='ignore'):
        assert deriv(exercise.lambertw)(0.0) == 1.0


def test_output_tangent_is_proportional_to_the_input_tangent(exercise):
    w = np.array([0.5, 1.0])
    _, w_dot = ad.jvp(exercise.lambertw, (w * np.exp(w),),
                      (np.array([3.0, -2.0]),))
    assert np.allclose(w_dot, [3 * slope(0.5), -2 * slope(1.0)])
