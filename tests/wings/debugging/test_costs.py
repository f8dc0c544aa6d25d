"""`cost` counts what programs do: against counts by hand, and real memory."""

import gc
import tracemalloc

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.wings.debugging.costs import (
    cost_as_written, cost_of, work_of)
from tests.support.wings import needs

N = 1000
X = np.linspace(-1.0, 1.0, N)
W, V = np.ones((30, 20)), np.ones((7, 30))


def gelu(x):
    return np.sum(0.5 * x * (1 + np.tanh(0.8 * (x + 0.044715 * x**3))))


def layers(x):
    for _ in range(10):
        x = np.sin(x)
    return np.sum(x)


def loop(x):
    return np.sum(ad.scan(lambda c, _: (np.sin(c), c), x, None, length=5)[1])


# Calls, operations, bytes moved, and the most bytes, counted by hand.
COUNTED = {
    'a_sine': (np.sin, [X], (1, N, 16 * N, 8 * N)),
    'a_view_keeps_its_array': (
        lambda x: np.exp(np.exp(np.sin(x)[:10])), [X],
        (4, N + 20, 16 * N + 2 * 160, 8 * N + 80)),
    'what_is_reshaped_in_another_order_is_copied': (
        lambda w: np.reshape(w.T, 600), [W], (2, 0, 2 * 4800, 4800)),
    'what_repeats_is_read_once': (
        lambda x: np.broadcast_to(x[0], (N,)) * 2.0, [X],
        (3, N, 8 + 8 * N, 8 * N)),
    'a_solver': (
        np.linalg.solve, [np.eye(30), W],
        (1, 2 * 30**3 / 3 + 2 * 30 * 30 * 20, 8 * (900 + 600 + 600), 4800)),
    'a_loop_has_so_many_turns': (
        lambda x: ad.scan(lambda c, _: (np.sin(c), None), x, None,
                          length=50)[0],
        [X], (50, 50 * N, 50 * 16 * N, 16 * N)),
    'of_branches_the_most': (   # and the choice becomes a number
        lambda x: ad.cond(True, lambda x: np.sin(np.sin(x)), np.cos, x), [X],
        (3, 2 * N, 32 * N + 8, 16 * N + 8)),
    'a_while_loop_is_one_turn': (
        lambda n: ad.while_loop(lambda n: n < 9, lambda n: n * 2, n), [3],
        (2, 2, 8 + 1 + 16, 16)),
}


def test_calls_bytes_and_memory_are_counted():
    for name, (f, args, expected) in COUNTED.items():
        assert cost_as_written(ad.make_jaxpr(f)(*args)) == expected, name


def test_the_reverse_pass_of_a_layer_is_counted():
    """It multiplies by both factors, so it has twice as many products.

    The compiled gradient drops the forward pass, because it does not need it.
    """
    there, back, compiled = ad.cost(lambda w, v: np.sum(v @ w), W, V)
    products = 2 * 7 * 30 * 20
    assert there == (2, products + 140, 8 * (210 + 600 + 140 + 140) + 8,
                     8 * 141)
    assert back.operations == 2 * products
    assert back.peak_bytes == 8 * (1 + 600 + 210)
    assert compiled.operations == 2 * products


def test_without_floats_there_is_no_reverse_pass():
    there, back, compiled = ad.cost(lambda n: n + 1, np.arange(3))
    assert back == (0, 0, 0, 0)
    assert there == compiled == (1, 3, 48, 24)
    assert ad.cost(lambda x: x > 0, X).backward == (0, 0, 0, 0)


def test_cost_of_a_while_loop_says_that_it_has_no_reverse_mode():
    def f(x):
        return ad.while_loop(lambda x: x < 9.0, lambda x: x * 2, x)
    with pytest.raises(TypeError, match='while_loop'):
        ad.cost(f, 1.0)
    assert ad.cost(lambda x: f(ad.stop_gradient(x)), 1.0).forward.calls == 3


# Real memory. Headers take some hundred bytes.

def peak(f, *args):
    """Return the most memory in use during a call."""
    f(*args)        # after everything that happens only once
    gc.collect()
    tracemalloc.start()
    try:
        f(*args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


LARGE, SQUARE = np.linspace(-1.0, 1.0, 100_000), np.ones((300, 300))
MEASURED = {
    'gelu': (gelu, LARGE), 'layers': (layers, LARGE),
    'a_product': (lambda w: np.sum(np.tanh(w @ w)), SQUARE),
    'what_is_turned': (lambda x: np.sum(np.reshape(x.T, -1) ** 2), SQUARE),
    'a_checkpoint': (lambda x: np.sum(ad.checkpoint(layers)(x)), LARGE),
    'a_loop': (loop, LARGE)}


def test_a_function_needs_the_counted_memory():
    for f, x in list(MEASURED.values())[:4]:
        counted = ad.cost(f, x).forward.peak_bytes
        assert counted <= peak(f, x) < 1.02 * counted + 3000


@needs('fast')
@pytest.mark.parametrize('name', MEASURED)
def test_a_compiled_gradient_needs_the_counted_memory(name):
    f, x = MEASURED[name]
    counted = ad.cost(f, x).compiled.peak_bytes
    assert 0.97 * counted <= peak(ad.jit(ad.grad(f)), x) < (
        1.04 * counted + 3000)


def test_the_small_compiler_keeps_every_array_to_the_end():
    from autodiff_mini.interpreters.lowering import Lowered
    jaxpr = ad.make_jaxpr(layers)(LARGE)
    program = Lowered(jaxpr)
    counted = cost_of(jaxpr, work_of(program))
    assert counted.peak_bytes == 8 * (10 * len(LARGE) + 1)
    assert counted.peak_bytes <= peak(program, LARGE) < (
        counted.peak_bytes + 6000)
