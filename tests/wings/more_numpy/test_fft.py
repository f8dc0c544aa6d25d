"""Guard Fourier transforms: linear maps, and NumPy's bits."""

import itertools
from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from tests.support.numerical import assert_close, assert_same_type

NORMS = None, 'backward', 'ortho', 'forward'
rng = np.random.default_rng(0)


def reals(*shape):
    return rng.standard_normal(shape)


def complexes(*shape):
    return reals(*shape) + 1j * reals(*shape)


# The explicit matrices: of values, of tangents and of cotangents

@pytest.mark.parametrize('name', 'fft ifft rfft irfft hfft ihfft'.split())
def test_tangents_are_transformed_and_cotangents_transposed(name):
    """Of 4 numbers, cut off or padded; the transpose does not conjugate."""
    kinds = [reals] if name in ('rfft', 'ihfft') else [reals, complexes]
    for n, random, norm in itertools.product((1, 3, 4, 5, 8), kinds, NORMS):
        def f(x):
            return getattr(np.fft, name)(x, n, norm=norm)

        x, x_dot = random(4), random(4)
        y, y_dot = ad.jvp(f, (x,), (x_dot,))
        assert_close(y_dot, f(x_dot))
        ct = (complexes if y.dtype.kind == 'c' else reals)(*y.shape)
        (x_bar,) = ad.vjp(f, x)[1](ct)
        assert_close(np.sum(x_bar * x_dot).real, np.sum(ct * y_dot).real)


def test_single_precision_cotangents_stay_single():
    def f(x):
        return np.fft.irfft(np.fft.rfft(x) ** 2)

    x = np.float32(reals(4))
    text = str(ad.make_jaxpr(lambda x: ad.vjp(f, x)[1](x))(x))
    assert 'complex64' in text
    assert 'complex128' not in text and 'float64' not in text


# NumPy's bits

ONE_AXIS = [
    {}, {'n': 3}, {'n': 6, 'axis': 0}, {'axis': -2}, {'n': np.int32(5)},
    *[{'norm': norm, 'n': 3} for norm in NORMS]]
AXES = [
    {}, {'axes': (0, -1)}, {'axes': (1, 1)}, {'s': (3, 5), 'axes': (1, 0)},
    {'s': (3, 2)}, {'s': (2, -1), 'axes': (1, 0)}, {'s': (None, 3)},
    {'s': (3, None)}, {'norm': 'forward'}]
SHIFTS = [{}, {'axes': -1}, {'axes': (1, 1)}]
CASES = [
    (name, options) for names, options in (
        ('fft ifft rfft irfft hfft ihfft', ONE_AXIS),
        ('fftn ifftn rfftn irfftn fft2 ifft2 rfft2 irfft2', AXES),
        ('fftshift ifftshift', SHIFTS)) for name in names.split()]


@pytest.mark.parametrize('name, several', CASES)
@pytest.mark.filterwarnings('ignore::DeprecationWarning')
def test_values_have_the_bits_of_numpy(name, several):
    """Real numbers, too: half and single precision have their own code."""
    x = 8 * complexes(3, 4, 5)
    real_only = name[:2] in ('rf', 'ih')
    for i, dtype in enumerate('?befdg' if real_only else '?befdgFDG'):
        for options in several[i % 3::3] if dtype != 'd' else several:
            f = partial(getattr(np.fft, name), **options)
            args = (x if dtype in 'FDG' else x.real).astype(dtype),
            ys = [ad.jit(f)(*args), ad.vmap(f)(args[0][None])[0]]
            if dtype in 'efdgFDG':
                ys.append(ad.jvp(f, args, args)[0])
            for y in ys:
                assert_same_type(y, f(*args))
                np.testing.assert_array_equal(y, f(*args))


def test_an_empty_spectrum_is_zero():
    """NumPy does not initialize the memory of irfft here."""
    y, f_vjp = ad.vjp(lambda z: np.fft.irfft(z, 3), np.zeros((2, 0), complex))
    assert_close(y, np.zeros((2, 3)))
    assert_same_type(f_vjp(y)[0], np.zeros((2, 0), complex))
    assert_same_type(ad.grad(lambda x: np.fft.fft(x, 2).real.sum())(
        np.zeros((0, 3))), np.zeros((0, 3)))
