import dask
import dask.array as da
import numpy as np

import autodiff_mini as ad

SHORT, LONG = np.array([0.3, -0.4]), np.array([3.0, -4.0])


def of_the_long(x):
    """Return the Jacobian of x / |x|."""
    unit = x / np.sqrt(np.sum(x * x))
    return (np.eye(2) - np.outer(unit, unit)) / np.sqrt(np.sum(x * x))


def test_values(exercise):
    assert np.allclose(exercise.shortened(SHORT), SHORT)
    assert np.allclose(exercise.shortened(LONG), LONG / 5)
    assert np.allclose(exercise.shortened(np.zeros(3)), np.zeros(3))


def test_derivatives(exercise):
    slopes = ad.jacrev(exercise.shortened)
    assert np.allclose(slopes(SHORT), np.eye(2))
    assert np.allclose(slopes(LONG), of_the_long(LONG))


def test_at_the_origin(exercise):
    with np.errstate(all='ignore'):
        slopes = ad.jacrev(exercise.shortened)(np.zeros(2))
    assert np.allclose(slopes, np.eye(2))


def test_nothing_is_computed(exercise):
    def refuse(graph, keys, **options):
        raise AssertionError('something was computed')

    def total(x):
        return np.sum(exercise.shortened(x) ** 2 * np.arange(2.0))

    x = da.from_array(LONG, chunks=1)
    with dask.config.set(scheduler=refuse):
        plans = exercise.shortened(x), ad.grad(total)(x)
    assert all(type(plan) is da.Array for plan in plans)
    y, x_bar = dask.compute(plans, scheduler='synchronous')[0]
    assert np.allclose(y, LONG / 5)
    assert np.allclose(x_bar, ad.grad(total)(LONG))
