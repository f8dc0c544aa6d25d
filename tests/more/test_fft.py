"""Guard Fourier transforms: linear maps, NumPy's bits, and errors."""

import itertools
import re

import numpy as np
import pytest

import autodiff_mini as ad
from tests.numerical import assert_close, assert_same_type

NORMS = None, 'backward', 'ortho', 'forward'
rng = np.random.default_rng(0)


def reals(*shape):
    return rng.standard_normal(shape)


def complexes(*shape):
    return reals(*shape) + 1j * reals(*shape)


# The explicit matrices: of values, of tangents and of cotangents

@pytest.mark.parametrize('norm', NORMS)
@pytest.mark.parametrize('name', 'fft ifft rfft irfft hfft ihfft'.split())
def test_tangents_are_transformed_and_cotangents_transposed(name, norm):
    """Of 4 numbers, cut off or lengthened; the transpose has no conjugate."""
    kinds = [reals] if name in ('rfft', 'ihfft') else [reals, complexes]
    for n, random in itertools.product(range(1, 10), kinds):
        def f(x, n=n):
            return getattr(np.fft, name)(x, n, norm=norm)

        x, x_dot = random(4), random(4)
        y, y_dot = ad.jvp(f, (x,), (x_dot,))
        assert_close(y_dot, f(x_dot))
        ct = (complexes if y.dtype.kind == 'c' else reals)(*y.shape)
        (x_bar,) = ad.vjp(f, x)[1](ct)
        assert_close(np.sum(x_bar * x_dot).real, np.sum(ct * y_dot).real)


def test_cotangents_stay_single():
    def f(x):
        return np.fft.irfft(np.fft.rfft(x) ** 2)

    x = np.float32(reals(4))
    text = str(ad.make_jaxpr(lambda x: ad.vjp(f, x)[1](x))(x))
    assert 'complex64' in text
    assert 'complex128' not in text and 'float64' not in text


# NumPy's bits

ONE_AXIS = {
    'default': {}, 'shorter': {'n': 3}, 'longer': {'n': 6, 'axis': 0},
    'first': {'axis': -2}, 'numpy_int': {'n': np.int32(5)},
    **{f'norm_{norm}': {'norm': norm, 'n': 3} for norm in NORMS}}
AXES = {
    'default': {}, 'axes': {'axes': (0, -1)}, 'twice': {'axes': (1, 1)},
    's': {'s': (3, 5), 'axes': (1, 0)}, 's_alone': {'s': (3, 2)},
    's_whole': {'s': (2, -1), 'axes': (1, 0)}, 's_none': {'s': (None, 3)},
    's_last_none': {'s': (3, None)}, 'forward': {'norm': 'forward'}}
SHIFTS = {
    'default': {}, 'int': {'axes': -1}, 'twice': {'axes': (1, 1)}}
CASES = [
    (name, options) for names, several in (
        ('fft ifft rfft irfft hfft ihfft', ONE_AXIS),
        ('fftn ifftn rfftn irfftn fft2 ifft2 rfft2 irfft2', AXES),
        ('fftshift ifftshift', SHIFTS))
    for name in names.split() for options in several.values()]


@pytest.mark.parametrize('name, options', CASES, ids=str)
@pytest.mark.filterwarnings('ignore::DeprecationWarning')
def test_values_are_those_of_numpy_bit_for_bit(name, options):
    """Of real numbers too: half and single ones have ways of their own."""
    def f(x):
        return getattr(np.fft, name)(x, **options)

    real_only = name[:2] in ('rf', 'ih')
    for dtype in '?befdg' if real_only else '?befdgFDG':
        x = 8 * complexes(3, 4, 5)
        x = (x if dtype in 'FDG' else x.real).astype(dtype)
        y = f(x)
        for again in ad.jit(f)(x), ad.vmap(f)(x[None])[0]:
            assert_same_type(again, y)
            np.testing.assert_array_equal(again, y)
        if dtype in 'efdgFDG':
            again = ad.jvp(f, (x,), (x,))[0]
            assert_same_type(again, y)
            np.testing.assert_array_equal(again, y)


def test_an_empty_spectrum_is_one_of_zeros():
    """NumPy does not initialize the memory of irfft then."""
    y, f_vjp = ad.vjp(lambda z: np.fft.irfft(z, 3), np.zeros((2, 0), complex))
    assert_close(y, np.zeros((2, 3)))
    assert_same_type(f_vjp(y)[0], np.zeros((2, 0), complex))
    assert_same_type(ad.grad(lambda x: np.fft.fft(x, 2).real.sum())(
        np.zeros((0, 3))), np.zeros((0, 3)))


# Errors

MISTAKES = {
    'no_points': (lambda x: np.fft.fft(x, 0), ValueError,
                  'Invalid number of FFT data points (0) specified.'),
    'one_frequency': (lambda x: np.fft.hfft(x[:, :1]), ValueError,
                      'Invalid number of FFT data points (0) specified.'),
    'norm': (lambda x: np.fft.ihfft(x, norm='unitary'), ValueError,
             'Invalid norm value unitary; should be'),
    'axis': (lambda x: np.fft.fft(x, axis=2), IndexError,
             'axis 2 is out of bounds for array of dimension 2'),
    'number': (lambda x: np.fft.fft(x[0, 0]), IndexError,
               'axis -1 is out of bounds for array of dimension 0'),
    'lengths': (lambda x: np.fft.fftn(x, (2,), (0, 1)), ValueError,
                'Shape and axes have different lengths.'),
    'complex': (lambda x: np.fft.rfft(x * 1j), TypeError,
                'not supported for the input types'),
}


@pytest.mark.parametrize('transform', [
    lambda f, x: ad.jvp(f, (x,), (x,)), lambda f, x: ad.make_jaxpr(f)(x),
    lambda f, x: ad.vmap(f)(x[None])], ids=['jvp', 'make_jaxpr', 'vmap'])
@pytest.mark.parametrize('name', MISTAKES)
def test_mistakes_are_said_in_numpys_words(name, transform):
    f, error, words = MISTAKES[name]
    with pytest.raises(error):
        f(reals(3, 4))
    with pytest.raises(error, match=re.escape(words)):
        transform(f, reals(3, 4))
