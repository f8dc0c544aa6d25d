import numpy as np

from tests.traces import spied


def solves(w, x, tolerance=1e-13):
    return np.allclose(w * np.exp(w), x, rtol=tolerance, atol=tolerance)


def test_it_solves_the_equation(exercise):
    for x in 0.0, 0.5, 1.0, np.e, 10.0:
        assert solves(exercise.lambertw(x), x)


def test_it_takes_arrays(exercise):
    x = np.linspace(0.0, 5.0, 12).reshape(3, 4)
    w = exercise.lambertw(x)
    assert w.shape == x.shape and solves(w, x)


def test_negative_numbers(exercise):
    x = np.array([-0.3, -0.1, -1e-9])
    assert solves(exercise.lambertw(x), x)


def test_large_numbers(exercise):
    x = np.array([1e3, 1e30, 1e300])
    w = exercise.lambertw(x)
    assert np.allclose(w + np.log(w), np.log(x), rtol=1e-14)


def test_the_dtype_stays(exercise):
    w = exercise.lambertw(np.ones(3, np.float32))
    assert w.dtype == np.float32 and solves(w, 1.0, 1e-6)


def test_a_trace_is_asked_about_one_primitive(exercise):
    w, counts = spied(exercise.lambertw, np.array([0.5, 2.0]))
    assert counts == {exercise.lambertw_p: 1}
    assert solves(w, [0.5, 2.0])
