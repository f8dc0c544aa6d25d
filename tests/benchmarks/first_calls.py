"""The first call, which traces and compiles, and the import before it."""

import gc
import subprocess
import sys
import warnings
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np

import autodiff_mini as ad
from tests.benchmarks.peers import jax, jnp

SIZES = 10, 100, 1_000, 10_000, 100_000
PATIENCE = 15   # seconds: the most for a first call of JAX
SMALL_TIME = 0.3    # seconds: a faster first call is repeated
X = np.linspace(0.1, 1.0, 10)


def chain(np, n, products=False):
    """Return a new function of `n` operations, which is in no cache."""
    def f(x):
        y = x
        for _ in range(n // 2):
            y = y * x + 0.5 if products else np.sin(y) + x
        return y[0]
    return f


def kinds(ad, np, n):
    """Return {kind: first call}, each of a new function of `n` operations."""
    return {
        'jit': lambda: ad.jit(chain(np, n))(X),
        'jit(grad)': lambda: ad.jit(ad.grad(chain(np, n)))(X),
        'jit(grad), products': lambda: ad.jit(
            ad.grad(chain(np, n, True)))(X),
        'make_jaxpr': lambda: ad.make_jaxpr(chain(np, n))(X)}


def first_call(call):
    """Return the best time of a few first calls, or of one long call."""
    best, total = float('inf'), 0
    while total < SMALL_TIME:
        gc.collect()
        start = process_time()
        call()
        took = process_time() - start
        best, total = min(best, took), total + took
    return best


def first_calls():
    """Return the times for each kind and size."""
    warnings.simplefilter('ignore')     # that a long loop is unrolled
    table = []
    for kind in kinds(ad, np, 1):
        last = 0
        for n in SIZES:
            times = {'ours': first_call(kinds(ad, np, n)[kind])}
            if jax and last * 12 < PATIENCE:
                call = kinds(jax, jnp, n)[kind]
                last = times['jax'] = first_call(
                    lambda: jax.block_until_ready(call()))
            table.append({'kind': kind, 'operations': n, 'seconds': times})
    return table


def imports():
    """Return the seconds until `grad` is imported, after NumPy.

    The library is imported when one of its names is first used.
    """
    code = ('import numpy, sys, time; '
            'sys.pycache_prefix, sys.dont_write_bytecode = {!r}; '
            'start = time.process_time(); '
            'from autodiff_mini import grad; '
            'print(time.process_time() - start)')
    run = lambda *where: float(subprocess.run(
        [sys.executable, '-c', code.format(where)], check=True,
        capture_output=True, text=True).stdout)
    with TemporaryDirectory() as new:
        return {'with bytecode': min(run(new, False) for _ in range(9)),
                'without': min(run('/none', True) for _ in range(9))}
