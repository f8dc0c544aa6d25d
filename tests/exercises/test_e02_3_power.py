import warnings

import numpy as np

import autodiff_mini as ad


def slope_in_y(exercise, x, y):
    with np.errstate(all='ignore'):
        return ad.jvp(lambda y: exercise.power(x, y), (y,),
                      (np.ones_like(y),))[1]


def test_zero_to_any_power_stays_where_it_is(exercise):
    assert slope_in_y(exercise, 0.0, 2.0) == 0.0
    assert slope_in_y(exercise, 0.0, 0.5) == 0.0


def test_zeros_among_other_numbers(exercise):
    x, y = np.array([0.0, 1e-3, 1.0, 2.0]), np.full(4, 3.0)
    expected = [0.0, 1e-9 * np.log(1e-3), 0.0, 8 * np.log(2.0)]
    assert np.allclose(slope_in_y(exercise, x, y), expected, atol=1e-20)


def test_both_move(exercise):
    with np.errstate(all='ignore'):
        _, z_dot = ad.jvp(exercise.power, (0.0, 1.0), (5.0, 7.0))
    assert z_dot == 5.0


def test_no_warning(exercise):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter('always')
        ad.jvp(lambda y: exercise.power(0.0, y), (2.0,), (1.0,))
    assert [str(warning.message) for warning in seen] == []
