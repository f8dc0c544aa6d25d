import numpy as np

import autodiff_mini as ad

LISTEN = np.array([[0.0, 0.0, 0.0],         # the teacher
                   [0.5, 0.0, 0.1],
                   [0.4, 0.2, 0.0]])
OWN = np.array([1.0, -0.5, 0.25])
PARAMS = {'listen': LISTEN, 'own': OWN}
START = np.zeros(3)


def opinions(params, x):
    return params['listen'] @ x + params['own']


def bounded(params, x):
    return params['listen'] @ np.sin(x) + params['own']


def weights(ct):
    """Return the cotangent of OWN, by a linear solver."""
    return np.linalg.solve((np.eye(3) - LISTEN).T, ct)


def test_the_opinion_of_the_teacher(exercise):
    last = lambda own: exercise.settle(
        opinions, {'listen': LISTEN, 'own': own}, START)[2]
    assert np.allclose(ad.grad(last)(OWN), weights([0.0, 0.0, 1.0]))


def test_second_derivatives(exercise):
    def pupil(own):
        params = {'listen': LISTEN, 'own': own}
        return exercise.settle(bounded, params, START)[1]

    ad.check_grads(pupil, (OWN,), order=2, modes=('rev',))


def test_the_start_has_no_gradient(exercise):
    end = lambda start: exercise.settle(opinions, PARAMS, start)[1]
    assert np.array_equal(ad.grad(end)(START), np.zeros(3))
    slope = ad.grad(lambda own, start: exercise.settle(
        opinions, {'listen': LISTEN, 'own': own}, start)[1])(OWN, START)
    assert np.allclose(slope, weights([0.0, 1.0, 0.0]))
