"""W5: the cost of the first call, which traces and compiles."""

import gc
from time import perf_counter

import numpy as np

import autodiff_mini as ad
from book.tools.benchmark_tables import power
from tests.benchmarks.measure import Figure
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


def equations(kind, n):
    """Return the number of equations in the compiled program."""
    f = chain(np, n)
    f = ad.grad(f) if kind == 'jit(grad)' else f
    return len(ad.make_jaxpr(f)(X).eqns)


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
    """Return the times and the equations for each kind and size."""
    table = []
    for kind in ours(1):
        share = equations(kind, 1_000) / 1_000
        last = 0
        for n in SIZES:
            times = {'ours': first_call(ours(n)[kind])}
            if jax and last * 12 < PATIENCE:
                last = times['jax'] = first_call(theirs(n)[kind])
            table.append({'kind': kind, 'operations': n,
                          'equations': round(share * n), 'seconds': times})
    return table


def w5(table):
    """Return the figures that the table has targets for."""
    of_jax = {('jit', 100): 0.3, ('jit', 1_000): 0.3, ('jit', 10_000): 0.3,
              ('jit(grad)', 1_000): 0.2, ('jit(grad)', 10_000): 0.05,
              ('make_jaxpr', 1_000): 0.5, ('make_jaxpr', 10_000): 0.5}
    for kind in 'jit', 'jit(grad)':
        rows = [row for row in table if row['kind'] == kind]
        yield Figure(f'{kind}: time grows with operations to the power of',
                     power({row['operations']: row['seconds']['ours']
                            for row in rows}), '', 1.15)
        most = max(row['seconds']['ours'] / row['equations']
                   for row in rows[1:])
        yield Figure(f'{kind}: at most, for an equation', most, 's',
                     60e-6)
    for row in table:
        at, times = (row['kind'], row['operations']), row['seconds']
        if at in of_jax and 'jax' in times:
            yield Figure(f'{at[0]}, first call, {at[1]:,} operations / JAX',
                         times['ours'] / times['jax'], '', of_jax[at])
