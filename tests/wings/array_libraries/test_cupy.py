"""Arrays on a graphics card stay on the card (B3).

CuPy's part runs only on a machine that has CuPy and a card, and the book
makes no claim about it. Every machine runs the same programs over a stand-in,
whose arrays cannot be mixed with NumPy's, like CuPy's.
"""

import dask
import dask.array as da
import numpy as np
import pytest
from numpy.lib.mixins import NDArrayOperatorsMixin

import autodiff_mini as ad
from tests.tables.array_programs import ARGS, PROGRAMS, TRANSFORMS, some_of

table = pytest.mark.parametrize('transform', TRANSFORMS)


def check(transform, put, kind, take):
    """Assert that programs stay in a library and are right."""
    for program in some_of(PROGRAMS, transform, 6):
        f = TRANSFORMS[transform](program)
        found = ad.tree_leaves(f(*map(put, ARGS)))
        assert {type(y) for y in found} == {kind}, program
        for y, wanted in zip(found, ad.tree_leaves(f(*ARGS)), strict=True):
            assert y.dtype == wanted.dtype and y.shape == wanted.shape
            np.testing.assert_allclose(take(y), wanted, 1e-10, 1e-12)


# The stand-in

ASARRAY = np.asarray     # in a trace, np answers with another one


class Elsewhere(NDArrayOperatorsMixin):
    """An array that can be mixed with its own kind, and with numbers."""

    shape = property(lambda self: self.there.shape)
    dtype = property(lambda self: self.there.dtype)
    ndim = property(lambda self: self.there.ndim)
    device = 'elsewhere'
    T = property(lambda self: Elsewhere(self.there.T))

    def __init__(self, there):
        self.there = np.asarray(there)

    def __array__(self, *args, **kwargs):
        raise TypeError('no copies without being asked')

    def __array_ufunc__(self, ufunc, method, *args, **kwargs):
        if any(isinstance(x, ad.Tracer) for x in args):
            return NotImplemented
        return send(getattr(ufunc, method), args, kwargs)

    def __array_function__(self, function, types, args, kwargs):
        if any(issubclass(kind, ad.Tracer) for kind in types):
            return NotImplemented
        if function is ASARRAY:     # an explicit copy
            return Elsewhere(*args)
        return send(function, args, kwargs)

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        method = getattr(np.ndarray, name)
        return lambda *args, **kwargs: send(method, (self, *args), kwargs)

    def __getitem__(self, i):
        return send(np.ndarray.__getitem__, (self, i), {})

    def __setitem__(self, i, x):
        send(np.ndarray.__setitem__, (self, i, x), {})

    def __bool__(self):
        return bool(self.there)

    def __int__(self):
        return int(self.there)

    def __len__(self):
        return len(self.there)


def send(function, args, kwargs):
    """Return the equivalent of a NumPy function in the other library."""
    return brought(function(*sent(args), **{
        name: sent(x) for name, x in kwargs.items()}))


def sent(x):
    if isinstance(x, np.ndarray):
        raise TypeError(f'Unsupported type {type(x)}')  # as in CuPy
    if isinstance(x, tuple | list):
        return type(x)(map(sent, x))
    return x.there if isinstance(x, Elsewhere) else x


def brought(y):
    if isinstance(y, tuple | list):
        return type(y)(map(brought, y))
    return Elsewhere(y) if isinstance(y, np.ndarray | np.generic) else y


@pytest.mark.asks('B3')
@table
def test_arrays_that_refuse_numpys_stay_elsewhere(transform):
    check(transform, Elsewhere, Elsewhere, lambda y: y.there)


@pytest.mark.asks('B3')
def test_a_compiled_program_works_for_two_libraries():
    f = ad.jit(lambda x: x * np.array([1.0, 2.0, 3.0, 4.0]))
    x = Elsewhere(np.arange(4.0))
    chunked = [da.from_array(x, chunks=2, asarray=False, name='elsewhere'),
               da.arange(4.0, chunks=2)]
    with dask.config.set(scheduler='synchronous'):
        assert type(f(chunked[0])) is da.Array
        np.testing.assert_array_equal(f(chunked[1]).compute(), [0, 2, 6, 12])
    np.testing.assert_array_equal(f(x).there, [0, 2, 6, 12])


def test_the_stand_in_for_cupy_refuses_numpy_arrays():
    x = Elsewhere(np.ones(3))
    for f in lambda: x + np.ones(3), lambda: np.array(x):
        with pytest.raises(TypeError, match='Unsupported|no copies'):
            f()


# CuPy

@pytest.mark.asks('B3')
@table
def test_programs_stay_on_the_card_and_equal_numpy(transform):
    cupy = pytest.importorskip(
        'cupy', reason='CuPy is not installed: no program runs on a card')
    if not cupy.is_available():
        pytest.skip('CuPy finds no graphics card')
    check(transform, cupy.asarray, cupy.ndarray, cupy.asnumpy)
