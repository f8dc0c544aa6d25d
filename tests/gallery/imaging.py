"""Imaging: pictures of twelve by twelve pixels."""

import numpy as np

from tests.gallery.table import piece

rng = np.random.default_rng(10)
N = 12
ROWS, COLUMNS = np.mgrid[:N, :N].astype(float)
DISC = 1 / (1 + np.exp((ROWS - 5) ** 2 + (COLUMNS - 6) ** 2 - 9))
NOISY = DISC + 0.1 * rng.standard_normal((N, N))
windows = np.lib.stride_tricks.sliding_window_view


@piece(rng.standard_normal((3, 3)), jax='it writes in place')
def blur_kernel(kernel):
    """How well a kernel makes the clean picture from the noisy one."""
    out = np.zeros((N - 2, N - 2), like=kernel)
    for i in range(3):
        for j in range(3):
            out += kernel[i, j] * NOISY[i:i + N - 2, j:j + N - 2]
    return np.mean((out - DISC[1:-1, 1:-1]) ** 2)


@piece(NOISY, -1.0)
def total_variation(image, log_weight):
    dx, dy = np.diff(image, axis=0)[:, :-1], np.diff(image, axis=1)[:-1]
    variation = np.sum(np.sqrt(dx ** 2 + dy ** 2 + 1e-4))
    return 0.5 * np.sum((image - NOISY) ** 2) + np.exp(
        log_weight) * variation


@piece(1.2, -3.0)
def wiener(width, log_noise):
    """Deblurring: division in Fourier space, held back where it is noise."""
    f = np.fft.fftfreq(N)
    transfer = np.exp(-2 * (np.pi * width) ** 2 * (f[:, None] ** 2 + f ** 2))
    inverse = transfer / (transfer ** 2 + np.exp(log_noise))
    image = np.fft.ifft2(inverse * np.fft.fft2(NOISY)).real
    return np.mean((image - DISC) ** 2)


@piece(NOISY[:8, :7])
def sharpness(image):
    """The part of a picture's power in its high frequencies, by rfft2."""
    power = np.abs(np.fft.rfft2(image)) ** 2
    return power[2:-1, 2:].sum() / power.sum()


@piece(NOISY, np.array([0.31, -0.42]))
def optical_flow(image, shift):
    """The error of a picture that is moved, with bilinear weights."""
    r, c = ROWS[2:-2, 2:-2] + shift[0], COLUMNS[2:-2, 2:-2] + shift[1]
    i, j = np.floor(r).astype(int), np.floor(c).astype(int)
    a, b = r - i, c - j
    moved = ((1 - a) * (1 - b) * image[i, j] + a * b * image[i + 1, j + 1]
             + a * (1 - b) * image[i + 1, j] + (1 - a) * b * image[i, j + 1])
    return np.mean((moved - DISC[2:-2, 2:-2]) ** 2)


@piece(NOISY, jax='jax.numpy has no stride tricks')
def median_filter(image):
    patches = windows(image, (3, 3)).reshape(N - 2, N - 2, 9)
    return np.sum((np.median(patches, axis=-1) - DISC[1:-1, 1:-1]) ** 2)


@piece(np.array([0.2, -0.1]), 0.6, 0.8)
def ray_marching(center, radius, light):
    """The brightness of a ball, whose rays walk as far as they may."""
    x = np.linspace(-1, 1, 6)
    origin = np.stack([*np.meshgrid(x, x), np.full((6, 6), -2.0)], axis=-1)
    middle = np.concatenate([center, np.zeros(1)])
    depth = np.zeros((6, 6))
    for _ in range(12):
        point = origin + depth[..., None] * np.array([0.0, 0.0, 1.0])
        depth = depth + np.linalg.norm(point - middle, axis=-1) - radius
    point = origin + depth[..., None] * np.array([0.0, 0.0, 1.0])
    normal = (point - middle) / radius
    towards = np.stack([np.sin(light), 0 * light, -np.cos(light)])
    shade = np.maximum(normal @ towards, 0)
    return np.mean(np.where(depth < 3, shade, 0.1))


@piece(DISC[3:8, 3:8], np.array([0.2, 0.9, 1.7]))
def tomography(image, angles):
    """The shadows of a picture from three sides, put into bins softly."""
    r, c = np.mgrid[-2:3, -2:3].reshape(2, -1).astype(float)
    across = np.outer(np.cos(angles), r) + np.outer(np.sin(angles), c)
    bins = np.exp(-(across[..., None] - np.linspace(-3, 3, 7)) ** 2)
    shadows = np.einsum('apb,p->ab', bins, image.ravel())
    return np.sum(np.log(1 + shadows) ** 2)
