import numpy as np

from autodiff_mini import draft as ad
from autodiff_mini.draft.calls import call_p
from autodiff_mini.draft.core import ShapedArray

doubled = ad.custom_jvp(lambda x: np.sin(x) * 2)
doubled.defjvp(lambda primals, tangents: (doubled(*primals), tangents[0]))


def array(*shape):
    return ShapedArray(shape, np.dtype(np.float64))


def count(exercise, f, *types):
    return exercise.flops(ad.make_jaxpr(f)(*types))


def test_horner_needs_half_the_multiplications(exercise):
    naive = lambda x: 1. + 2. * x + 3. * x * x + 4. * x * x * x
    horner = lambda x: 1. + x * (2. + x * (3. + x * 4.))
    assert count(exercise, naive, array()) == 9
    assert count(exercise, horner, array(100)) == 600


def test_sums(exercise):
    assert count(exercise, lambda x: np.sum(x, 0), array(30, 2)) == 60
    assert count(exercise, lambda x: np.sum(x), array(7, 3)) == 21


def test_products_of_matrices(exercise):
    assert count(exercise, lambda x, y: x @ y, array(2, 3), array(3)) == 12
    assert count(exercise, lambda x, y: x @ y, array(2, 3),
                 array(3, 5)) == 60


def test_moving_elements_is_free(exercise):
    f = lambda x: np.transpose(np.reshape(x, (3, 2)), (1, 0))[0] + 1
    assert count(exercise, f, array(6)) == 3


def test_calls(exercise):
    assert count(exercise, lambda x: 1 + doubled(x), array(4)) == 12
    twice = lambda x: call_p.bind(x, fun=lambda x: doubled(doubled(x)))
    assert count(exercise, twice, array(4)) == 16
