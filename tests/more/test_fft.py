"""Fourier transforms: the explicit matrices, NumPy's bits, and errors."""

import re

import numpy as np
import pytest

import autodiff_mini as ad
from tests.numerical import assert_close, assert_same_type

NORMS = None, 'backward', 'ortho', 'forward'
LENGTHS = 1, 3, 4, 6
rng = np.random.default_rng(0)


def reals(*shape):
    return rng.standard_normal(shape)


def complexes(*shape):
    return reals(*shape) + 1j * reals(*shape)


def dft_matrix(rows, columns, n, sign=-1):
    """Return the matrix of exp(sign 2 pi i j k / n)."""
    j, k = np.arange(rows)[:, None], np.arange(columns)
    return np.exp(sign * 2j * np.pi * j * k / n)


def factor(n, norm, inverse):
    """Return the factor that the transform of this norm has."""
    if norm == 'ortho':
        return n ** -0.5
    return 1 / n if (norm == 'forward') != inverse else 1.0


# The explicit matrices: of values, of tangents and of cotangents

@pytest.mark.parametrize('norm', NORMS)
@pytest.mark.parametrize('n', LENGTHS)
@pytest.mark.parametrize('name', ['fft', 'ifft'])
def test_the_full_transforms_are_their_matrices(name, n, norm):
    """Of 4 numbers, cut off or lengthened; the transpose has no conjugate."""
    inverse = name == 'ifft'
    matrix = factor(n, norm, inverse) * dft_matrix(
        n, min(4, n), n, 1 if inverse else -1)
    matrix = np.pad(matrix, [(0, 0), (0, 4 - min(4, n))])

    def f(x):
        return getattr(np.fft, name)(x, n, norm=norm)

    x, x_dot, ct = complexes(4), complexes(4), complexes(n)
    assert_close(ad.jvp(f, (x,), (x_dot,))[1], matrix @ x_dot)
    assert_close(ad.vjp(f, x)[1](ct)[0], matrix.T @ ct)
    assert_close(ad.vjp(f, x.real)[1](ct)[0], (matrix.T @ ct).real)


@pytest.mark.parametrize('norm', NORMS)
@pytest.mark.parametrize('n', LENGTHS)
def test_rfft_and_ihfft_are_half_of_the_matrix(n, norm):
    half = n // 2 + 1
    x, x_dot, ct = reals(n), reals(n), complexes(half)
    for function, sign in (np.fft.rfft, -1), (np.fft.ihfft, 1):
        matrix = factor(n, norm, sign == 1) * dft_matrix(half, n, n, sign)

        def f(x, function=function):
            return function(x, norm=norm)

        assert_close(ad.jvp(f, (x,), (x_dot,))[1], matrix @ x_dot)
        assert_close(ad.vjp(f, x)[1](ct)[0], (matrix.T @ ct).real)


@pytest.mark.parametrize('norm', NORMS)
@pytest.mark.parametrize('n', LENGTHS)
def test_irfft_and_hfft_read_half_of_the_frequencies(n, norm):
    """And not the imaginary parts of those that are real for real signals."""
    half = n // 2 + 1
    weights = [1 if 2 * k in (0, n) else 2 for k in range(half)]
    z, z_dot, ct = complexes(half), complexes(half), reals(n)
    for function, sign in (np.fft.irfft, 1), (np.fft.hfft, -1):
        matrix = factor(n, norm, sign == 1) * dft_matrix(
            n, half, n, sign) * weights

        def f(z, function=function):
            return function(z, n, norm=norm)

        assert_close(ad.jvp(f, (z,), (z_dot,))[1], (matrix @ z_dot).real)
        (z_bar,) = ad.vjp(f, z)[1](ct)
        assert_close(z_bar, matrix.T @ ct)
        assert abs(z_bar[0].imag) < 1e-12
        if n % 2 == 0:
            assert abs(z_bar[-1].imag) < 1e-12


@pytest.mark.parametrize('name', ['rfft', 'irfft', 'hfft', 'ihfft'])
def test_real_transforms_cut_off_and_lengthen(name):
    function = getattr(np.fft, name)
    x = reals(4) if name in ('rfft', 'ihfft') else complexes(4)
    for n in range(1, 10):
        y, f_vjp = ad.vjp(lambda x: function(x, n), x)
        ct = complexes(*y.shape) if y.dtype.kind == 'c' else reals(*y.shape)
        assert_close(np.sum(y * ct).real, np.sum(f_vjp(ct)[0] * x).real)


def test_cotangents_stay_single():
    def f(x):
        return np.fft.irfft(np.fft.rfft(x) ** 2)

    x = np.float32(reals(4))
    text = str(ad.make_jaxpr(lambda x: ad.vjp(f, x)[1](x))(x))
    assert 'complex64' in text
    assert 'complex128' not in text and 'float64' not in text


# Gradients of real functions


def test_a_convolution_by_rfft_has_the_derivatives_of_the_sums():
    x, y, w = reals(4), reals(3), reals(6)

    def by_rfft(x, y):
        return np.fft.irfft(np.fft.rfft(x, 6) * np.fft.rfft(y, 6), 6) @ w

    expected = np.array([w[i:i + 3] for i in range(4)])
    assert_close(by_rfft(x, y), x @ expected @ y)
    x_bar, y_bar = ad.grad(by_rfft, (0, 1))(x, y)
    assert_close(x_bar, expected @ y)
    assert_close(y_bar, x @ expected)
    assert_close(ad.jacrev(ad.grad(by_rfft), 1)(x, y), expected)
    assert_close(ad.jacfwd(ad.jit(ad.grad(by_rfft)), 1)(x, y), expected)


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


# out=


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


