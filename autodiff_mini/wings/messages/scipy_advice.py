"""What to write instead of SciPy functions that do not ask tracers.

SciPy's ufuncs ask, and have rows in the wing `more_numpy`.  Its functions
make plain arrays first, so an error can only say what to write.  Chapter 30.
"""

import numpy as np

LOGSUMEXP = 'ad.logsumexp(x, axis, keepdims=True)'
ROOT = ('ad.root(f, a, x_guess), which solves f(a, x) == 0, or call the '
        'solver in a function with its own derivative: see ad.custom_jvp')
MINIMUM = ('ad.root(ad.grad(f, 1), a, x_guess), because the gradient of '
           'f(a, x) with respect to x is 0 at a minimum')
INTEGRAL = 'np.trapezoid(f(t), t) for a grid of points t'
INSTEAD = {
    'special.logsumexp': 'ad.logsumexp',
    'special.softmax': f'np.exp(x - {LOGSUMEXP})',
    'special.log_softmax': f'x - {LOGSUMEXP}',
    'special.polygamma': '(-1)**(n + 1) * scipy.special.gamma(n + 1) * '
                         'scipy.special.zeta(n + 1, x)',
    'linalg.solve_triangular': 'np.linalg.solve(a, b)',
    'linalg.cho_factor': 'np.linalg.cholesky(a)',
    'linalg.cho_solve': 'np.linalg.solve(a, b)',
    'linalg.block_diag': 'np.block',
    'linalg.expm': 'an ad.custom_vjp function whose bwd returns '
                   'scipy.linalg.expm_frechet(a.T, ct, compute_expm=False)',
    'signal.convolve': 'np.convolve',
    'signal.fftconvolve': 'np.fft.irfft(np.fft.rfft(x) * np.fft.rfft(y))',
    'signal.correlate': 'np.correlate',
    'signal.lfilter': 'a loop, or ad.scan',
    'integrate.odeint': 'ad.odeint',
    'integrate.solve_ivp': 'ad.odeint',
    'integrate.trapezoid': 'np.trapezoid',
    'integrate.quad': INTEGRAL,
    'integrate.quad_vec': INTEGRAL,
    'integrate.fixed_quad': INTEGRAL,
    'integrate.simpson': 'np.trapezoid',
    'optimize.fixed_point': 'ad.fixed_point',
    **dict.fromkeys([f'optimize.{name}' for name in (
        'root', 'root_scalar', 'fsolve', 'brentq', 'brenth', 'bisect',
        'ridder', 'newton', 'toms748')], ROOT),
    **dict.fromkeys([f'optimize.{name}' for name in (
        'minimize', 'minimize_scalar', 'least_squares', 'leastsq',
        'curve_fit', 'basinhopping', 'differential_evolution',
        'dual_annealing', 'shgo')], MINIMUM),
    'interpolate': 'np.interp',
    'sparse': 'A.toarray() @ x',
    'stats.logpdf': 'the formula of the density',
    'stats.pdf': 'the formula of the density',
}
ELSEWHERE = {'pandas': 'table.to_numpy() instead of the table',
             'numpy': 'ad.vmap instead of np.vectorize'}


def instead(name):
    """Return what to write instead of a SciPy function, or None.

    Args:
        name: the full name of the function.
    """
    library, module, function = [*name.split('.', 2), ''][:3]
    if library != 'scipy':
        return ELSEWHERE.get(name.partition('.')[0])
    if module in ('linalg', 'fft') and hasattr(getattr(np, module), function):
        return f'np.{module}.{function}'
    return INSTEAD.get(f'{module}.{function}', INSTEAD.get(module))
