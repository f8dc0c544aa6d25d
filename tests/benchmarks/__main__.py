"""What jvp and grad cost, beside raw NumPy and the peers that are installed.

Every row is measured in one process, interleaved with all others, so that
what else the machine does hits them alike; the figure is the best of many
rounds.  Values are checked first.  Nothing is asserted about time.
"""

import os
import platform
import statistics
import subprocess
import sys
import timeit
from functools import partial
from importlib.metadata import version

import numpy as np

import autodiff_mini as ad

try:
    import autograd
    import autograd.numpy as anp
except ImportError:
    autograd = None
try:
    import torch
except ImportError:
    torch = None
try:
    import jax
    jax.config.update('jax_enable_x64', True)
except ImportError:
    jax = None

ROUNDS, SECONDS_PER_ROUND = 30, 0.004
X, T = np.linspace(0.1, 1.0, 10), np.ones(10)


def loop(x):
    """A thousand operations."""
    y = x
    for _ in range(500):
        y = y * 0.999 + x
    return y


def waves(np, x):
    """A thousand operations, four of ten of them sines and cosines."""
    y = x
    for _ in range(200):
        y = np.sin(y) * x + np.cos(y) * 0.5
    return y


def torch_grad(f, x):
    def call():
        leaf = torch.tensor(x, dtype=torch.float64, requires_grad=True)
        f(leaf).sum().backward()
        return leaf.grad.numpy()
    return call


def gradients():
    """Returns label -> (call, the label that it is compared with)."""
    table = {}
    for kind, x in ('float', 0.5), ('ten elements', X):
        for name, program in (('loop', lambda np, x: loop(x)),
                              ('waves', waves)):
            def summed(np, x, program=program):
                y = program(np, x)
                return np.sum(y) if np.ndim(x) else y

            label = f'grad of {name}, {kind}, '
            base = label + ('autograd' if autograd else 'ours')
            calls = {'ours': partial(ad.grad(partial(summed, np)), x)}
            if autograd:
                calls['autograd'] = partial(
                    autograd.grad(partial(summed, anp)), x)
            if torch:
                calls['torch'] = torch_grad(partial(program, torch), x)
            if jax:
                calls['jax, no jit'] = partial(
                    jax.grad(partial(summed, jax.numpy)), x)
            table |= {label + peer: (call, base)
                      for peer, call in calls.items()}
    return table


def jvp_call(f, x, t):
    return lambda: ad.jvp(f, (x,), (t,))


def autograd_call(f, x, t):
    return lambda: autograd.make_jvp(f)(x)(t)


def operation_inside(jvp_of):
    """Returns a function that times np.sin inside a running jvp."""
    def measure(repeat):
        times = []

        def f(x):
            times.append(timeit.timeit(lambda: jvp_of.sin(x), number=repeat))
            return x

        jvp_of.call(f)
        return times[0]
    return measure


class Ours:
    sin = staticmethod(np.sin)

    @staticmethod
    def call(f):
        return ad.jvp(f, (X,), (T,))


class Autograd:
    @staticmethod
    def sin(x):
        return anp.sin(x)

    @staticmethod
    def call(f):
        return autograd.make_jvp(f)(X)(T)


def whole(call):
    return lambda repeat: timeit.timeit(call, number=repeat)


def rows():
    """Returns label -> (measure, the label that it is compared with)."""
    raw, raw_loop = 'np.sin(x), raw', '1000 operations, raw, '
    table = {
        raw: (whole(lambda: np.sin(X)), raw),
        'np.sin(x) inside jvp': (operation_inside(Ours), raw),
        'jvp(np.sin, (x,), (t,))': (whole(jvp_call(np.sin, X, T)), raw),
    }
    if autograd:
        table['np.sin(x) inside autograd jvp'] = (
            operation_inside(Autograd), raw)
        table['autograd.make_jvp(np.sin)(x)(t)'] = (
            whole(autograd_call(anp.sin, X, T)), raw)
    for kind, x, t in ('float', 0.5, 1.0), ('ten elements', X, T):
        base = raw_loop + kind
        table[base] = (whole(lambda x=x: loop(x)), base)
        table[f'1000 operations, jvp, {kind}'] = (
            whole(jvp_call(loop, x, t)), base)
        if autograd:
            table[f'1000 operations, autograd, {kind}'] = (
                whole(autograd_call(loop, x, t)), base)
    return table | {label: (whole(call), base)
                    for label, (call, base) in gradients().items()}


def check_values():
    """Asserts that what is compared computes the same."""
    for f, g, x, t in ((np.sin, autograd and anp.sin, X, T),
                       (loop, loop, X, T), (loop, loop, 0.5, 1.0)):
        y, y_dot = ad.jvp(f, (x,), (t,))
        np.testing.assert_array_equal(y, f(x))
        if autograd:
            their_y, their_y_dot = autograd.make_jvp(g)(x)(t)
            np.testing.assert_allclose(y, their_y, rtol=1e-12)
            np.testing.assert_allclose(y_dot, their_y_dot, rtol=1e-12)
    table = gradients()
    for call, base in table.values():
        np.testing.assert_allclose(call(), table[base][0](), rtol=1e-9)


def best_times(table):
    """Returns label -> seconds per call: the best of interleaved rounds."""
    repeats, best = {}, {}
    for label, (measure, _) in table.items():
        once = max(measure(3) / 3, 1e-9)
        repeats[label] = max(1, round(SECONDS_PER_ROUND / once))
        best[label] = float('inf')
    for _ in range(ROUNDS):
        for label, (measure, _) in table.items():
            n = repeats[label]
            best[label] = min(best[label], measure(n) / n)
    return best


def import_times(rounds=9):
    """Returns the medians for numpy, and for autodiff_mini with numpy."""
    times = {'numpy': [], 'autodiff_mini': []}
    code = ('import time; t = time.perf_counter(); import {0}; '
            'print(time.perf_counter() - t)')
    for _ in range(rounds):
        for name, seconds in times.items():
            out = subprocess.run([sys.executable, '-c', code.format(name)],
                                 capture_output=True, text=True, check=True)
            seconds.append(float(out.stdout))
    return {name: statistics.median(xs) for name, xs in times.items()}


def main():
    check_values()
    table = rows()
    best = best_times(table)
    peers = [module.__name__ for module in (autograd, torch, jax) if module]
    print(f'Python {platform.python_version()}, '
          + ', '.join(f'{name} {version(name)}' for name in ['numpy', *peers])
          + f', {platform.machine()}, {os.cpu_count()} cores')
    if not autograd:
        print('autograd is not installed: make bench installs it')
    print(f'{"":44}{"µs":>10}{"ratio":>8}')
    for label, (_, base) in table.items():
        ratio = best[label] / best[base]
        print(f'{label:44}{best[label] * 1e6:10.2f}{ratio:8.2f}')
    imports = import_times()
    beyond = imports['autodiff_mini'] - imports['numpy']
    print(f'import numpy: {imports["numpy"] * 1e3:.0f} ms; '
          f'import autodiff_mini: {beyond * 1e3:.0f} ms more')


if __name__ == '__main__':
    main()
