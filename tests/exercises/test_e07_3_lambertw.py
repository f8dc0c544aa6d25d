import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.api.checking import check_jaxpr

W = np.linspace(0.1, 2.0, 6)
X = W * np.exp(W)
SLOPES = 1 / (np.exp(W) * (1 + W))


def same_type(exercise, x):
    """Checks that what was foretold of an array is what comes out."""
    foretold = ad.eval_shape(exercise.lambertw, x)
    assert foretold == ad.typeof(exercise.lambertw(x))


def test_shapes(exercise):
    same_type(exercise, X)
    same_type(exercise, X.reshape(2, 3))
    same_type(exercise, np.float64(0.5))


def test_dtypes(exercise):
    for dtype in np.float16, np.float32, np.int8, np.int64:
        same_type(exercise, np.ones(3, dtype))


def test_numbers_of_python(exercise):
    same_type(exercise, 2.0)
    same_type(exercise, 2)


def test_it_does_no_work(exercise):
    huge = ad.ShapedArray((10 ** 9, 10 ** 9), np.dtype(np.float32))
    assert ad.eval_shape(exercise.lambertw, huge) == huge


def test_there_and_back(exercise):
    jaxpr = ad.make_jaxpr(lambda x: 2 * exercise.lambertw(x))(X)
    check_jaxpr(jaxpr)
    assert jaxpr.out_avals == [ad.typeof(X)]
    assert [eqn.primitive.name for eqn in jaxpr.eqns] == ['lambertw', 'mul']
    (out,) = ad.eval_jaxpr(jaxpr, jaxpr.consts, X)
    assert out == pytest.approx(2 * W, rel=1e-12)


def test_the_derivative_can_be_written_down(exercise):
    slope = lambda x: ad.jvp(exercise.lambertw, (x,), (np.ones(6),))[1]
    jaxpr = ad.make_jaxpr(slope)(X)
    check_jaxpr(jaxpr)
    (out,) = ad.eval_jaxpr(jaxpr, jaxpr.consts, X)
    assert out == pytest.approx(SLOPES)
