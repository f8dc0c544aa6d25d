"""Arrays of another library go through jvp as what they are (B3)."""

import dask
import dask.array as da
import numpy as np
import pytest

import autodiff_mini as ad

rng = np.random.default_rng(0)
X, W, Y = rng.normal(size=(6, 4)), rng.normal(size=4), rng.normal(size=6)


def refuse_to_compute(graph, keys, **kwargs):
    raise AssertionError('something was computed')


def loss(w, x, y):
    return np.sum((np.tanh(x @ w) - y) ** 2)


def activations(w, x, y):
    z = np.exp(-(x @ w)) / 2 + np.maximum(x.sum(axis=1), y)
    return np.where(y > 0, np.sqrt(z * z), np.reshape(z, (6,)))


def mixed(w, x, y):
    """Plain NumPy arrays beside the chunked ones."""
    z = np.stack([x @ w, Y]) * 2.0 - np.ones(6)
    return np.transpose(z)[:, 0] + np.cos(z.T[:, 1])


@pytest.mark.parametrize('f', [loss, activations, mixed])
def test_chunked_arrays_go_through_unevaluated(f):
    args = (W, X, Y)
    tangents = tuple(rng.normal(size=a.shape) for a in args)
    chunked = [tuple(da.from_array(a, chunks=2) for a in xs)
               for xs in (args, tangents)]
    with dask.config.set(scheduler=refuse_to_compute):
        y, y_dot = ad.jvp(f, *chunked)
    assert type(y) is type(y_dot) is da.Array
    expected, expected_dot = ad.jvp(f, args, tangents)
    np.testing.assert_array_equal(expected, f(*args))
    with dask.config.set(scheduler='synchronous'):
        np.testing.assert_allclose(y.compute(), expected, rtol=1e-12)
        np.testing.assert_allclose(y_dot.compute(), expected_dot,
                                   rtol=1e-12)


def test_one_perturbed_argument_and_second_derivative():
    w, x, y = (da.from_array(a, chunks=2) for a in (W, X, Y))

    def first(w):
        return ad.jvp(lambda w: loss(w, x, y), (w,), (w,))[1]

    with dask.config.set(scheduler=refuse_to_compute):
        _, second = ad.jvp(first, (w,), (w,))
    expected = ad.jvp(lambda w: ad.jvp(
        lambda w: loss(w, X, Y), (w,), (W,))[1], (W,), (W,))[1]
    with dask.config.set(scheduler='synchronous'):
        # The inner direction moves with w in `first`, and not in expected.
        gradient_term = ad.jvp(lambda w: loss(w, X, Y), (W,), (W,))[1]
        np.testing.assert_allclose(second.compute(),
                                   expected + gradient_term, rtol=1e-12)


def test_unperturbed_output_has_zeros_of_the_same_library():
    x = da.from_array(X, chunks=2)
    _, (_, zeros) = ad.jvp(lambda w: (w, x), (1.0,), (1.0,))
    assert type(zeros) is da.Array and zeros.chunks == x.chunks


def test_types_are_known_without_values():
    x = da.from_array(X.astype(np.float32), chunks=2)
    with dask.config.set(scheduler=refuse_to_compute):
        assert ad.typeof(x) == ad.ShapedArray((6, 4), np.dtype(np.float32))
