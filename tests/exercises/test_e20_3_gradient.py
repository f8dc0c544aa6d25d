import numpy as np

import autodiff_mini as ad


def test_two_numbers(exercise):
    f = lambda params: params['x'] ** 2 * params['y']
    slopes = exercise.gradient(f)({'x': 3.0, 'y': 5.0})
    assert slopes == {'x': 30.0, 'y': 9.0}


def test_a_tree(exercise):
    w, b = np.array([[1.0, 2.0], [3.0, 4.0]]), (0.5, np.array([1.0, -1.0]))

    def loss(params):
        scale, offset = params['b']
        return np.sum(params['w'] @ offset) * scale

    slopes = exercise.gradient(loss)({'w': w, 'b': b})
    assert ad.tree_structure(slopes) == ad.tree_structure({'w': w, 'b': b})
    assert np.allclose(slopes['w'], [[0.5, -0.5], [0.5, -0.5]])
    assert np.allclose(slopes['b'][0], -2.0)
    assert np.allclose(slopes['b'][1], [2.0, 3.0])
