"""Programs of products and convolutions."""

from tests.tables.programs import c128, f32, f64, ints, program

program('kron', lambda np, x, y: np.kron(x, y), f64(2, 2), f64(2, 3))
program('vdot', lambda np, x, y: np.vdot(1j * x, y), f64(2, 3), f64(3, 2),
        ulps=4)
program('cross', lambda np, x, y: np.cross(x, y), f64(3), f64(3))
program('matvec', lambda np, x, y: np.matvec(x, y), f64(2, 3), f64(4, 3),
        ulps=4)
program('vecmat', lambda np, x, y: np.vecmat(x, y), c128(2), f64(2, 3),
        ulps=4)

for mode in 'full', 'same', 'valid':
    program(f'convolve_{mode}', lambda np, x, y, mode=mode: np.convolve(
        x, y, mode), f64(5), f64(2), ulps=8)
    program(f'correlate_{mode}_short', lambda np, x, y, mode=mode:
            np.correlate(x, y, mode), c128(2), c128(5), ulps=8)
program('convolve_single', lambda np, x, y: np.convolve(x, y), f32(3),
        ints(2), ulps=8)

program('einsum_lists', lambda np, x, y: np.einsum(x, [0, 1], y, [1, 2]),
        f64(2, 3), f64(3, 2), ulps=4)
program('einsum_lists_result', lambda np, x, y: np.einsum(
    x, [3, 1], y, [1], [1, 3]), f64(2, 3), f64(3), ulps=4)
program('einsum_path', lambda np, x, y: np.einsum(
    'ij,jk,kl->il', x, y, y,
    optimize=np.einsum_path('ij,jk,kl->il', x, y, y)[0]),
    f64(2, 3), f64(3, 3), ulps=8)
