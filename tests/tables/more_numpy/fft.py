"""Programs of discrete Fourier transforms."""

from tests.tables.programs import (
    c64, c128, f32, f64, ints, program)

program('spectral_power', lambda np, x:
        np.sum(np.abs(np.fft.fft(x, 4)) ** 2), f64(3))
program('convolution_by_rfft', lambda np, x, y:
        np.fft.irfft(np.fft.rfft(x, 6) * np.fft.rfft(y, 6), 6),
        f64(4), f64(3))
program('ifft_real', lambda np, x: np.real(np.fft.ifft(x)), f64(3))

program('fft', lambda np, x: np.fft.fft(x), c128(2, 3))
program('fft_shorter', lambda np, x: np.fft.fft(x, n=2, norm='forward'),
        f64(3))
program('fft_ints', lambda np, x: np.fft.fft(x), ints(4))
program('ifft', lambda np, x: np.fft.ifft(x, 4, 0, norm='backward'),
        c64(3, 2))
program('irfft', lambda np, x: np.fft.irfft(x), c128(2, 3))
program('hfft', lambda np, x: np.fft.hfft(x), c128(3, 2))
program('ihfft', lambda np, x: np.fft.ihfft(x), f64(2, 3))

program('fft2', lambda np, x: np.fft.fft2(x), c128(2, 2, 3))
program('ifft2', lambda np, x: np.fft.ifft2(x, (3, 2), (-1, 0), 'ortho'),
        f64(2, 1, 3))
program('rfft2', lambda np, x: np.fft.rfft2(x, norm='forward'),
        f32(2, 3, 2))
program('irfft2', lambda np, x: np.fft.irfft2(x), c128(2, 2, 3))
program('ifftn', lambda np, x: np.fft.ifftn(x), f64(2, 3, 2))

program('fftshift', lambda np, x: np.fft.fftshift(x), f64(2, 3))
program('ifftshift', lambda np, x: np.fft.ifftshift(x), f64(2, 3))
program('fftn', lambda np, x: np.fft.fftn(x, (1, 3), axes=[1, -3]),
        c128(2, 3, 2))
program('rfftn', lambda np, x: np.fft.rfftn(x, axes=(1, 0)), f64(4, 3))
program('irfftn', lambda np, x: np.fft.irfftn(x, (2, 5), (2, 0), 'ortho'),
        c128(2, 3, 3))
