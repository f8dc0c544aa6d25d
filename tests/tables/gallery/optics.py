"""Optics: complex amplitudes, whose squares are measured."""

import numpy as np

from tests.tables.gallery.table import piece

rng = np.random.default_rng(6)
N = 16
AXIS = np.linspace(-1, 1, N)
U, V = np.meshgrid(AXIS, AXIS)
APERTURE = (U ** 2 + V ** 2 < 0.8).astype(float)
AMPLITUDE = np.abs(np.fft.fft2(APERTURE * np.exp(1j * (U ** 2 - U * V))))


@piece(np.array([0.3, -0.2, 0.4, 0.1]))
def strehl_ratio(zernike):
    """The brightness of a star's image behind four aberrations."""
    r2 = U ** 2 + V ** 2
    modes = np.stack([U ** 2 - V ** 2, 2 * U * V, 2 * r2 - 1,
                      (3 * r2 - 2) * U])
    phase = np.tensordot(zernike, modes, axes=1)
    field = np.fft.fft2(APERTURE * np.exp(1j * phase))
    return (np.abs(field) ** 2).max() / APERTURE.sum() ** 2


@piece(rng.standard_normal((N, N)))
def phase_retrieval(phase):
    """Amplitudes of a Fourier transform, from a phase in the aperture."""
    field = np.fft.fft2(APERTURE * np.exp(1j * phase))
    return np.mean((np.abs(field) - AMPLITUDE) ** 2)
