"""Differential equations: a step, and many of them."""

import numpy as np

from tests.gallery.table import piece

rng = np.random.default_rng(14)
N = 20
GRID = np.linspace(0, 1, N)
BUMP = np.exp(-50 * (GRID - 0.4) ** 2)
PREY = np.array([1.0, 1.3, 1.6, 1.7, 1.4])


@piece(BUMP, 0.2, jax='it writes in place')
def heat(u, rate):
    u = u.copy()
    for _ in range(10):
        u[1:-1] += rate * (u[2:] - 2 * u[1:-1] + u[:-2])
        u[0], u[-1] = u[1], u[-2]
    return np.sum(u ** 2)


@piece(BUMP + 0.5, 0.003)
def burgers(u, viscosity):
    """A wave that steepens: upwind, on a circle."""
    dx, dt = 0.05, 0.01
    for _ in range(6):
        left, right = np.roll(u, 1), np.roll(u, -1)
        slope = np.where(u > 0, u - left, right - u) / dx
        u = u + dt * (viscosity * (left - 2 * u + right) / dx ** 2
                      - u * slope)
    return np.max(u) + np.sum(np.diff(u) ** 2)


@piece({'birth': 1.1, 'hunt': 0.4, 'gain': 0.1, 'death': 0.4},
       np.array([1.0, 2.0]))
def lotka_volterra(rates, animals):
    def change(y):
        prey, hunters = y
        return np.stack([
            rates['birth'] * prey - rates['hunt'] * prey * hunters,
            rates['gain'] * prey * hunters - rates['death'] * hunters])

    y, loss, dt = animals, 0.0, 0.2
    for seen in PREY:
        k1 = change(y)
        k2 = change(y + dt / 2 * k1)
        k3 = change(y + dt / 2 * k2)
        k4 = change(y + dt * k3)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        loss += (y[0] - seen) ** 2
    return loss


@piece(np.linspace(0.5, 1.0, N), -1.0)
def crank_nicolson(conductivity, log_step):
    """Heat through a rod that is not the same everywhere."""
    flow = (conductivity[1:] + conductivity[:-1]) / 2
    laplace = np.diag(flow, 1) + np.diag(flow, -1)
    laplace = laplace - np.diag(laplace.sum(axis=1))
    half = np.exp(log_step) / 2 * laplace
    u, eye = BUMP, np.eye(N)
    for _ in range(5):
        u = np.linalg.solve(eye - half, (eye + half) @ u)
    return u[N // 2]


@piece(BUMP, np.linspace(0.8, 1.2, N), jax='it writes in place')
def wave(u, speed):
    """A string, in two buffers that change places."""
    now, before = u.copy(), u.copy()
    courant = (0.5 * speed) ** 2
    courant[0] = courant[-1] = 0.0
    for _ in range(12):
        before *= -1
        before += 2 * now
        before[1:-1] += courant[1:-1] * (now[2:] - 2 * now[1:-1] + now[:-2])
        now, before = before, now
    return np.sum((now - before) ** 2)


@piece(np.array([0.055, 0.062]), jax='it writes in place')
def gray_scott(rates):
    """Two chemicals on a torus of ten by ten."""
    feed, kill = rates
    u, v = np.ones((10, 10), like=rates), np.zeros((10, 10), like=rates)
    u[4:6, 4:6], v[4:6, 4:6] = 0.5, 0.25
    for _ in range(5):
        reaction = u * v ** 2
        for x, rate in (u, 0.16), (v, 0.08):
            around = sum(np.roll(x, s, a) for s in (1, -1) for a in (0, 1))
            x += rate * (around - 4 * x)
        u += feed * (1 - u) - reaction
        v += reaction - (feed + kill) * v
    return np.sum(v)


@piece(np.sin(2 * np.pi * np.arange(16) / 16), 0.05)
def korteweg_de_vries(u, dispersion):
    """By spectral derivatives, with the linear part solved exactly."""
    k = 2j * np.pi * np.fft.rfftfreq(16, 1 / 16)
    turn = np.exp(-dispersion ** 2 * k ** 3 * 0.005)
    spectrum = np.fft.rfft(u)
    for _ in range(6):
        u = np.fft.irfft(spectrum, 16)
        spectrum = turn * (spectrum - 0.005 * k * np.fft.rfft(u ** 2) / 2)
    return np.sum(np.fft.irfft(spectrum, 16) ** 4)


@piece(np.array([0.0, 1.0]), 2.0, branches='the step follows the error')
def adaptive_steps(y, stiffness):
    """Van der Pol's oscillator, with steps of Heun's as long as may be."""
    def change(y):
        return np.stack([y[1], stiffness * (1 - y[0] ** 2) * y[1] - y[0]])

    t, dt = 0.0, 0.1
    while t < 0.4:
        dt = min(dt, 0.4 - t)
        k1 = change(y)
        k2 = change(y + dt * k1)
        error = np.max(np.abs(k2 - k1)) * dt / 2
        if error > 0.01:
            dt = dt / 2
            continue
        y, t = y + dt * (k1 + k2) / 2, t + dt
    return y[0]


@piece(0.1 * rng.standard_normal((6, 6)), jax='it writes in place')
def poisson_by_relaxation(charge):
    """Gauss and Seidel's sweeps, on red and on black squares."""
    u = np.zeros((8, 8), like=charge)
    inner = u[1:-1, 1:-1]
    red = np.indices((6, 6)).sum(axis=0) % 2 == 0
    for colour in [red, ~red] * 3:
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        inner[colour] = (around + charge)[colour] / 4
    return np.sum(charge * inner)
