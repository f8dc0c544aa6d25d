"""Discrete Fourier transforms: `np.fft`.

Along one axis, each transform is a linear map, and its transpose is a
transform of the same family.  Several axes are transformed one by one.
Chapter 30.
"""

import operator

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from autodiff_mini.interpreters.transpose import deflinear
from autodiff_mini.numpy_functions.creation import numpy_asarray
from autodiff_mini.numpy_functions.table import (
    along, as_is, asarray, implements)
from autodiff_mini.primitives.reductions import axis_primitive
from autodiff_mini.wings.more_numpy.along_axis import same_shape


def fourier_along_axis(function, primitive):
    """Let `primitive` implement a transform along one axis.

    It does not convert real numbers to complex ones, because low-precision
    numbers would then be transformed in another precision than NumPy's.
    """
    @implements(function)
    def call(a, n=None, axis=-1, norm=None, out=None):
        a = asarray(a)
        axis = normalize_axis_index(axis, a.ndim)
        n = fourier_length(a.shape[axis] if n is None else n)
        return primitive.bind(resized(a, n, axis), axis=axis, norm=norm)


def fourier_length(n):
    """Return the length of a transform, or raise if it is below 1."""
    n = operator.index(n)
    if n < 1:
        raise ValueError(
            f'Invalid number of FFT data points ({n}) specified.')
    return n


def resized(a, n, axis):
    """Return `a` truncated or zero-padded to the length `n`."""
    missing = n - a.shape[axis]
    if missing < 0:
        return a[along(axis, slice(n))]
    return np.pad(a, [(0, missing if i == axis else 0)
                      for i in range(a.ndim)])


fft_p = axis_primitive(np.fft.fft, same_shape)
fourier_along_axis(np.fft.fft, fft_p)
# The matrix of the transform is symmetric.
deflinear(fft_p, lambda ct, x, axis, norm: np.fft.fft(
    ct, axis=axis, norm=norm))

ifft_p = axis_primitive(np.fft.ifft, same_shape)
fourier_along_axis(np.fft.ifft, ifft_p)
deflinear(ifft_p, lambda ct, x, axis, norm: np.fft.ifft(
    ct, axis=axis, norm=norm))


def with_length(shape, axis, length):
    """Return `shape` with the length of one axis replaced."""
    return (*shape[:axis], length, *shape[axis + 1:])


rfft_p = axis_primitive(np.fft.rfft, lambda shape, axis, norm: with_length(
    shape, axis, shape[axis] // 2 + 1))
fourier_along_axis(np.fft.rfft, rfft_p)


def multiplicities(n, ndim, axis):
    """Return how many frequencies of fft each one of rfft represents.

    If the signal is real, the results of fft at k and n - k are conjugate,
    and rfft has one of them.  Only 0 and n / 2 are their own partners.
    """
    k = np.arange(n // 2 + 1)
    counts = np.where(2 * k % n == 0, 1, 2).astype(np.int8)  # widens no dtype
    return np.reshape(counts, (-1, *[1] * (ndim - axis - 1)))


# Source: `_rfft_transpose` and `_irfft_transpose` in JAX's
# `jax/_src/lax/fft.py`.  hfft and ihfft do their conjugations and scaling.
def rfft_transpose(ct, x, axis, norm):
    n = x.shape[axis]
    counts = multiplicities(n, len(x.shape), axis)
    return np.fft.hfft(ct / counts, n, axis, norm)


deflinear(rfft_p, rfft_transpose)

irfft_p = axis_primitive(
    np.fft.irfft, lambda shape, n, axis, norm: with_length(shape, axis, n))


@implements(np.fft.irfft)
def fft_irfft(a, n=None, axis=-1, norm=None, out=None):
    a = asarray(a)
    axis = normalize_axis_index(axis, a.ndim)
    n = fourier_length(2 * (a.shape[axis] - 1) if n is None else n)
    a = resized(a, n // 2 + 1, axis)
    return irfft_p.bind(a, n=n, axis=axis, norm=norm)



def irfft_transpose(ct, x, n, axis, norm):
    counts = multiplicities(n, len(x.shape), axis)
    return counts * np.fft.ihfft(ct, n, axis, norm)


deflinear(irfft_p, irfft_transpose)

INVERSE_NORM = {None: 'forward', 'backward': 'forward', 'forward': 'backward'}


@implements(np.fft.hfft)
def fft_hfft(a, n=None, axis=-1, norm=None, out=None):
    norm = INVERSE_NORM.get(norm, norm)
    return np.fft.irfft(np.conjugate(a), n, axis, norm)


@implements(np.fft.ihfft)
def fft_ihfft(a, n=None, axis=-1, norm=None, out=None):
    norm = INVERSE_NORM.get(norm, norm)
    return np.conjugate(np.fft.rfft(a, n, axis, norm))


def lengths_along(shape, s, axes):
    """Return the lengths that `s` asks for, and the axes they belong to."""
    if axes is None:
        axes = range(-len(shape if s is None else s), 0)
    if s is None:
        s = [-1] * len(axes)
    if len(s) != len(axes):
        raise ValueError('Shape and axes have different lengths.')
    return [shape[i] if n == -1 else n for n, i in zip(s, axes)], axes


def fourier_along_axes(function, transform):
    """Implement a function by `transform` over the axes, last axis first."""
    @implements(function, as_is)
    def call(a, s=None, axes=None, norm=None, out=None):
        a = numpy_asarray(a)    # the result if there are no axes
        s, axes = lengths_along(a.shape, s, axes)
        for n, axis in zip(s[::-1], axes[::-1]):
            a = transform(a, n, axis, norm)
        return a


fourier_along_axes(np.fft.fftn, np.fft.fft)
fourier_along_axes(np.fft.ifftn, np.fft.ifft)


@implements(np.fft.rfftn)
def fft_rfftn(a, s=None, axes=None, norm=None, out=None):
    a = asarray(a)
    s, axes = lengths_along(a.shape, s, axes)
    a = np.fft.rfft(a, s[-1], axes[-1], norm)
    return np.fft.fftn(a, s[:-1], axes[:-1], norm)


@implements(np.fft.irfftn)
def fft_irfftn(a, s=None, axes=None, norm=None, out=None):
    a = asarray(a)
    lengths, axes = lengths_along(a.shape, s, axes)
    for n, axis in zip(lengths[:-1], axes[:-1]):
        a = np.fft.ifft(a, n, axis, norm)
    n = None if s is None else lengths[-1]
    return np.fft.irfft(a, n, axes[-1], norm)


def fourier_of_matrix(function, transform):
    """Implement a function by `transform` over the last two axes."""
    @implements(function)
    def call(a, s=None, axes=(-2, -1), norm=None, out=None):
        return transform(a, s, axes, norm)


fourier_of_matrix(np.fft.fft2, np.fft.fftn)
fourier_of_matrix(np.fft.ifft2, np.fft.ifftn)
fourier_of_matrix(np.fft.rfft2, np.fft.rfftn)
fourier_of_matrix(np.fft.irfft2, np.fft.irfftn)


def fourier_shift(function, direction):
    """Implement a function by rolling each axis by half its length."""
    @implements(function)
    def call(x, axes=None):
        axes = range(x.ndim) if axes is None else axes
        axes = axes if np.iterable(axes) else (axes,)
        return np.roll(x, [direction * (x.shape[i] // 2) for i in axes],
                       axes)


fourier_shift(np.fft.fftshift, 1)
fourier_shift(np.fft.ifftshift, -1)
