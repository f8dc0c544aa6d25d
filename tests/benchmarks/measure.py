"""The rows of the table, and how their times are measured."""

import gc
from time import process_time
from typing import NamedTuple

import numpy as np

import autodiff_mini as ad
from autodiff_mini.core.seams import lower
from autodiff_mini.wings.debugging.costs import cost_of, work_of
from tests.benchmarks.floors import python_calls

BUDGET = 0.5    # seconds for each call of a row
ROUND = 0.001   # seconds; less than the slice that another process gets
TURN = 0.008    # seconds
TURNS = 5, 60


class Row(NamedTuple):
    """A row of the table.

    Args:
        label: what is computed, with {} for its size.
        size: the size, or the form of the arguments.
        calls: column -> call; the columns are those of the table, where
            `hand` is what a good NumPy user writes.
        tolerance: relative to the largest value, when results are compared.
    """

    label: str
    size: str
    calls: dict
    tolerance: float = 1e-9


def settle():
    """Bring the process into the state of one that has run for long.

    glibc returns each large array to the system and requests it again, page
    by page, until an array of almost 32 MB has been freed. After that, NumPy
    by hand is twice as fast, so this is the harder comparison. It must not
    depend on which peers are imported.
    """
    np.empty(31 << 20, np.uint8)
    gc.collect()
    gc.freeze()     # or each collection would walk over the peers' modules


def check_values(row):
    """Raise AssertionError unless all calls return the same numbers."""
    expected = values(row.calls['hand']())
    for name, call in row.calls.items():
        message = f'{row.label} {row.size}: {name} is wrong'
        for x, y in zip(values(call()), expected, strict=True):
            assert x.shape == y.shape and x.dtype == y.dtype, (
                f'{message}: {x.dtype}{x.shape}, {y.dtype}{y.shape}')
            assert np.isfinite(y).all(), message
            np.testing.assert_allclose(
                x, y, rtol=0, err_msg=message,
                atol=row.tolerance * np.max(np.abs(y), initial=0.0))


def values(tree):
    """Return the arrays in a result of any library."""
    return [np.asarray(x) for x in ad.tree_leaves(tree)]


def measured(row):
    """Return {column: seconds}, the best of all rounds."""
    return {name: min(times) for name, times in rounds(row).items()}


def rounds(row):
    """Return {column: seconds of a call} in rounds that take turns.

    In each turn, a call has several rounds in a row, because other calls have
    filled the caches before its first one.
    """
    check_values(row)
    gc.collect()
    plans, times = {}, {name: [] for name in row.calls}
    for name, call in row.calls.items():
        repeat = repeats_of(call)
        took = seconds(call, repeat)
        turns = np.clip(round(BUDGET / max(TURN, took / repeat)), *TURNS)
        plans[name] = repeat, max(1, round(TURN / took)), turns
    for turn in range(max(TURNS)):
        for name, (repeat, in_a_row, turns) in plans.items():
            for _ in range(in_a_row if turn < turns else 0):
                took = seconds(row.calls[name], repeat)
                times[name].append(took / repeat)
    return times


def spread(times):
    """Return by how much three quarters of the rounds exceed the best.

    It is a fraction of the best time, so 0.1 is a tenth of it.
    """
    return float(np.quantile(times, 0.75)) / min(times) - 1


def work(row):
    """Return the calls and bytes of the floor and of a jitted program.

    No program can move fewer bytes than its arguments and results have. If
    all arguments are numbers, the calls are those of Python functions.
    """
    floor, jitted = row.calls['floor'], row.calls['jit']
    arrays = values((jitted.args, jitted()))
    if not any(x.ndim for x in values(jitted.args)):
        return {'calls': {'floor': floor.count, 'jit': python_calls(jitted)}}
    jaxpr = ad.make_jaxpr(jitted.func.f)(*jitted.args)
    compiled = cost_of(jaxpr, work_of(lower(jaxpr)))
    return {'calls': {'floor': floor.count, 'jit': compiled.calls},
            'bytes': {'floor': sum(x.nbytes for x in arrays),
                      'jit': compiled.bytes_moved}}


def repeats_of(call):
    """Return how often to repeat a call to fill a round."""
    n = 1
    while (took := seconds(call, n)) < ROUND / 4:
        n *= 4
    return max(1, round(n * ROUND / took))


def seconds(call, repeat):
    start = process_time()
    for _ in range(repeat):
        call()
    return process_time() - start
