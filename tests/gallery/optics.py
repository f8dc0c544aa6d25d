"""Optics: complex amplitudes, of which one measures the square."""

import numpy as np

from tests.gallery.table import piece

rng = np.random.default_rng(6)
WAVELENGTHS = np.linspace(400.0, 700.0, 6)     # in nanometres
INDICES = np.array([1.38, 2.1, 1.46])
GLASS = 1.52
N = 16
AXIS = np.linspace(-1, 1, N)
U, V = np.meshgrid(AXIS, AXIS)
APERTURE = (U ** 2 + V ** 2 < 0.8).astype(float)
AMPLITUDE = np.abs(np.fft.fft2(APERTURE * np.exp(1j * (U ** 2 - U * V))))


@piece(np.array([90.0, 120.0, 80.0]))
def thin_film(thickness):
    """The mean reflectance of three layers on glass, by their matrices."""
    total = 0.0
    for wavelength in WAVELENGTHS:
        m = np.eye(2, dtype=complex)
        for n, d in zip(INDICES, thickness):
            delta = 2 * np.pi * n * d / wavelength
            layer = np.stack([
                np.stack([np.cos(delta), 1j * np.sin(delta) / n]),
                np.stack([1j * n * np.sin(delta), np.cos(delta)])])
            m = m @ layer
        b, c = m @ np.array([1.0, GLASS])
        r = (b - c) / (b + c)
        total += np.abs(r) ** 2
    return total / len(WAVELENGTHS)


@piece(np.array([1.7, 2.0, 1.5]), 0.5, jax='it writes in place')
def absorbing_film(index, extinction):
    """All wavelengths at once, with metal below: einsum and stacks."""
    delta = (2 * np.pi * 100.0 / WAVELENGTHS)[:, None] * index
    layers = np.empty((6, 3, 2, 2), complex, like=delta)
    layers[..., 0, 0] = layers[..., 1, 1] = np.cos(delta)
    layers[..., 0, 1] = 1j * np.sin(delta) / index
    layers[..., 1, 0] = 1j * np.sin(delta) * index
    m = np.einsum('wij,wjk,wkl->wil', layers[:, 0], layers[:, 1],
                  layers[:, 2])
    metal = 0.8 - 1j * extinction * 4
    b, c = m[:, 0, 0] + m[:, 0, 1] * metal, m[:, 1, 0] + m[:, 1, 1] * metal
    r = (b - c) / (b + c)
    return np.mean((r * r.conj()).real)


@piece(1.5, 1.0)
def fresnel(index, angle):
    """Reflection at glass from inside, where it is total at some angles."""
    cosine = np.cos(angle)
    inside = np.sqrt(1 - (index * np.sin(angle)) ** 2 + 0j)
    s = (index * cosine - inside) / (index * cosine + inside)
    p = (cosine - index * inside) / (cosine + index * inside)
    return np.angle(s) - np.angle(p) + np.abs(s) + np.abs(p)


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


@piece(30.0, 2.0)
def angular_spectrum(distance, focus):
    """The light near the axis, some way behind a lens."""
    field = APERTURE * np.exp(-1j * focus * (U ** 2 + V ** 2))
    f = np.fft.fftfreq(N, d=1.0)
    kz = 2 * np.pi * np.sqrt(1 - f[:, None] ** 2 - f ** 2 + 0j)
    field = np.fft.ifft2(np.fft.fft2(field) * np.exp(1j * kz * distance))
    intensity = field.real ** 2 + field.imag ** 2
    return np.sum(intensity * np.exp(-4 * (U ** 2 + V ** 2)))


@piece(np.array([0.4, 1.1, -0.3]))
def wave_plates(angles):
    """Polarized light through three retarders and a polarizer."""
    field = np.array([1.0, 0.0])
    for angle in angles:
        c, s = np.cos(angle), np.sin(angle)
        rotation = np.stack([np.stack([c, s]), np.stack([-s, c])])
        retarder = np.diag(np.array([1.0, np.exp(0.7j)]))
        field = rotation.T @ retarder @ rotation @ field
    return abs(field[1]) ** 2
