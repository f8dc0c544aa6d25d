"""W11: the time of an import, and the memory of a gradient."""

import gc
import os
import statistics
import subprocess
import sys
import tracemalloc
from functools import partial
from tempfile import TemporaryDirectory

import numpy as np

import autodiff_mini as ad
from tests.benchmarks.arrays import gelu
from tests.benchmarks.measure import Figure

SIZE = 1_000_000


def import_seconds():
    """Return the median times of numpy, and of numpy and autodiff_mini."""
    times = {'numpy': [], 'autodiff_mini': []}
    code = ('import time; t = time.perf_counter(); import {0}; '
            'print(time.perf_counter() - t)')
    with TemporaryDirectory() as cache:     # so that all bytecode exists
        env = os.environ | {'PYTHONPYCACHEPREFIX': cache}
        env.pop('PYTHONDONTWRITEBYTECODE', None)
        for _ in range(9):
            for name, seconds in times.items():
                out = subprocess.run(
                    [sys.executable, '-c', code.format(name)], env=env,
                    capture_output=True, text=True, check=True)
                seconds.append(float(out.stdout))
    return {name: statistics.median(xs) for name, xs in times.items()}


def layers(count, x):
    for _ in range(count):
        x = np.tanh(x)
    return x


def chain(x):
    return np.sum(layers(100, x))


def checkpointed(x):
    for _ in range(10):
        x = ad.checkpoint(partial(layers, 10))(x)
    return np.sum(x)


def kept():
    """Return the bytes of all NumPy arrays."""
    gc.collect()
    arrays = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
    taken = tracemalloc.take_snapshot().filter_traces([arrays])
    return sum(trace.size for trace in taken.traces)


def peak(f):
    """Return the peak memory of a call, in units of its argument.

    The second call is measured, with its result and with everything that the
    first call left behind for later ones.
    """
    x = np.linspace(-1, 1, SIZE)
    tracemalloc.start()
    try:
        before = kept()
        f(x)
        left = kept() - before
        tracemalloc.reset_peak()
        start = tracemalloc.get_traced_memory()[0]
        f(x)
        top = tracemalloc.get_traced_memory()[1] - start
    finally:
        tracemalloc.stop()
    return (left + top) / x.nbytes


def w11():
    times = import_seconds()
    yield Figure('import of autodiff_mini, beyond numpy',
                 times['autodiff_mini'] - times['numpy'], 's', 0.03)
    yield Figure('import of numpy', times['numpy'], 's')
    for label, f, target in (
            ('GELU, jit', ad.jit(ad.grad(partial(gelu, np))), 1.2),
            ('100 layers of tanh, jit', ad.jit(ad.grad(chain)), 1.5),
            ('100 layers of tanh, eager', ad.grad(chain), 102),
            ('100 layers of tanh, eager, 10 checkpoints',
             ad.grad(checkpointed), 21)):
        yield Figure(f'peak memory of the gradient of {label}', peak(f),
                     'arrays', target)
