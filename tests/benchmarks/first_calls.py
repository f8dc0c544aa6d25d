"""The first call, which traces and compiles."""

import gc
import warnings
from time import perf_counter

import numpy as np

import autodiff_mini as ad
from tests.benchmarks.peers import jax, jnp

SIZES = 100, 1_000, 10_000, 100_000
PATIENCE = 15   # seconds: the most for a first call of JAX
SMALL_TIME = 0.3    # seconds: a faster first call is repeated
X = np.linspace(0.1, 1.0, 10)


def chain(np, n):
    """Return a new function of `n` operations, which is in no cache."""
    def f(x):
        y = x
        for _ in range(n // 2):
            y = np.sin(y) + x
        return y[0]
    return f


def ours(n):
    return {'jit': lambda: ad.jit(chain(np, n))(X),
            'jit(grad)': lambda: ad.jit(ad.grad(chain(np, n)))(X),
            'make_jaxpr': lambda: ad.make_jaxpr(chain(np, n))(X)}


def theirs(n):
    call = lambda f: jax.block_until_ready(jax.jit(f)(X))
    return {'jit': lambda: call(chain(jnp, n)),
            'jit(grad)': lambda: call(jax.grad(chain(jnp, n))),
            'make_jaxpr': lambda: jax.make_jaxpr(chain(jnp, n))(X)}


def first_call(call):
    """Return the best time of a few first calls, or of one long call."""
    best, total = float('inf'), 0
    while total < SMALL_TIME:
        gc.collect()
        start = perf_counter()
        call()
        took = perf_counter() - start
        best, total = min(best, took), total + took
    return best


def first_calls():
    """Return the times for each kind and size."""
    warnings.simplefilter('ignore')     # that a long loop is unrolled
    table = []
    for kind in ours(1):
        last = 0
        for n in SIZES:
            times = {'ours': first_call(ours(n)[kind])}
            if jax and last * 12 < PATIENCE:
                last = times['jax'] = first_call(theirs(n)[kind])
            table.append({'kind': kind, 'operations': n, 'seconds': times})
    return table
