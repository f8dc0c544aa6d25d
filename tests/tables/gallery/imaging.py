"""Imaging: pictures of twelve by twelve pixels."""

import numpy as np

from tests.tables.gallery.table import piece

rng = np.random.default_rng(10)
N = 12
ROWS, COLUMNS = np.mgrid[:N, :N].astype(float)
DISC = 1 / (1 + np.exp((ROWS - 5) ** 2 + (COLUMNS - 6) ** 2 - 9))
NOISY = DISC + 0.1 * rng.standard_normal((N, N))
windows = np.lib.stride_tricks.sliding_window_view


@piece(rng.standard_normal((3, 3)), jax='it writes in place')
def blur_kernel(kernel):
    """How well a kernel turns the noisy picture into the clean one."""
    out = np.zeros((N - 2, N - 2), like=kernel)
    for i in range(3):
        for j in range(3):
            out += kernel[i, j] * NOISY[i:i + N - 2, j:j + N - 2]
    return np.mean((out - DISC[1:-1, 1:-1]) ** 2)


@piece(NOISY, jax='jax.numpy has no stride tricks')
def median_filter(image):
    patches = windows(image, (3, 3)).reshape(N - 2, N - 2, 9)
    return np.sum((np.median(patches, axis=-1) - DISC[1:-1, 1:-1]) ** 2)
