"""Blocks of arithmetic: kernels between NumPy's functions."""

import numpy as np
import pytest

import autodiff_mini as ad
from tests.wings.fused.programs import Exactly

pytest.importorskip('numba', reason='numba compiles the kernels')

from autodiff_mini.wings.fused import native, stages  # noqa: E402
from autodiff_mini.wings.fused.stages import Kernel  # noqa: E402

MODES = 'ignore', 'warn', 'raise', 'call'
EVENTS = {      # by name in np.errstate: a number that causes it
    'divide': 0.0, 'over': 1e-200, 'under': 1e200, 'invalid': np.inf}


def both(f, *args, **modes):
    """Return what the fused program and the usual one do."""
    fused = ad.jit(f, backend='fused')
    pair = Exactly(fused, args, **modes), Exactly(ad.jit(f), args, **modes)
    assert '@kernel' in fused.source
    return pair


def assert_equal(f, *args, **modes):
    actual, expected = both(f, *args, **modes)
    assert actual.difference(expected) is None
    return actual


def kernels_of(f, *args):
    """Return the kernels of a program of one block."""
    jaxpr = ad.make_jaxpr(f)(*args)
    return [step for step in stages.stages(jaxpr.eqns, jaxpr.outvars)
            if type(step) is Kernel]


def events(x):
    """Divide, overflow, underflow, or compute inf - inf, depending on x."""
    y = 1 / x
    return y * y * 2.0, x - x + y


@pytest.mark.parametrize('mode', MODES)
@pytest.mark.parametrize('event', EVENTS)
def test_an_event_is_reported_as_numpy_reports_it(event, mode):
    x = np.linspace(1.0, 2.0, 1000)
    x[700] = EVENTS[event]
    quiet = dict.fromkeys(EVENTS, 'ignore')
    said = assert_equal(events, x, **quiet | {event: mode})
    assert bool(said.said) == (mode in ('warn', 'call'))
    assert bool(said.error) == (mode == 'raise')


@pytest.mark.parametrize('place', [0, 20_000, 39_998])
def test_an_event_is_found_in_any_piece(place):
    x = np.linspace(1.0, 2.0, 40_000)
    x[place] = 0.0
    for f in (lambda x: 1 / x * 2 + x, lambda x: np.exp(1 / x * 2 + x) * x):
        assert assert_equal(f, x, all='raise').error


def test_an_event_of_numpys_function_is_reported_once():
    """The block is computed again, because a kernel has raised a flag."""
    x = np.linspace(1.0, 800.0, 40_000)
    x[3] = 0.0
    f = lambda x: 1 / (np.exp(x) * x - x * 0.5)
    for mode in 'warn', 'call':
        said = assert_equal(f, x, all=mode, under='ignore').said
        assert len(said) == 3


def test_without_an_event_a_block_is_computed_once():
    f = ad.jit(lambda x: np.exp(x * 2 + 1) * x + x, backend='fused')
    x, matters = np.linspace(0.0, 1.0, 10_000), []
    f(x)
    usual = native.Watch.matters
    try:
        native.Watch.matters = lambda *args: matters.append(args)
        f(x)
        assert not matters
        f(x * 1000)
        assert matters
    finally:
        native.Watch.matters = usual


@pytest.mark.parametrize('n', [9, 11, 15, 16, 17, 40, 1000])
def test_a_value_that_is_not_chosen_is_computed(n):
    """LLVM computes `1 / x` only where it is chosen, so a flag was lost."""
    for f in (lambda x: np.where(x != 0, 1 / x, 0.0) * 2,
              lambda x: np.where(np.abs(1 / x) < 0, 1 / x, x * 2),
              lambda x: np.maximum(np.minimum(1 / x, x * 2), x)):
        assert assert_equal(f, np.zeros(n), all='raise').error, n


def test_a_nan_that_is_compared_is_no_event():
    x = np.linspace(-1.0, 1.0, 1000)
    x[::3] = np.nan
    said = assert_equal(lambda x: np.where(x > 0, x * 2, x + 1) * x, x,
                        all='raise')
    assert said.error is None


@pytest.mark.rest
@pytest.mark.parametrize('edges', [[0.0, -0.0, 1.0, -1.0], [
    0.0, -0.0, np.nan, -np.nan, 1.0, np.inf, -np.inf]], ids=str)
def test_zeros_and_nans_are_chosen_as_numpy_chooses_them(edges):
    x, y = [np.resize(z.ravel(), 1000) for z in np.meshgrid(edges, edges)]
    for dtype in np.float64, np.float32:
        a, b = x.astype(dtype), y.astype(dtype)
        for f in np.maximum, np.minimum:
            for args in (a, b), (a, -0.0), (0.0, b):
                assert_equal(lambda x, y: (f(x, y) * 2, (x + y) * y * x),
                             *args)


@pytest.mark.rest
def test_numbers_of_all_kinds_are_operands():
    x = np.linspace(-1.0, 1.0, 1000)
    f = lambda x, y: np.tanh((x * y + 1) / (x + 2)) * y + x
    for y in 2.5, np.float64(3), np.float32(0.1), np.array(0.7):
        for dtype in np.float64, np.float32:
            assert_equal(f, x.astype(dtype), y)
    f = lambda x: (x * y + 1) * y + (x * x - x) * x / (x + 2) + x
    for y in 1e300, -1e300, 2**60, 1e-320:
        assert_equal(f, x), assert_equal(f, np.tile(x.astype(np.float32), 99))


def test_a_number_that_only_numpy_uses_can_be_complex():
    x = np.linspace(1.0, 2.0, 10_000)
    assert_equal(lambda x, c: ((x * 2 + 1) * x - x / 3, x * c), x, 1 + 2j)


ARRAYS = {
    'vector': lambda x: x, 'matrix': lambda x: x.reshape(100, 60),
    'transposed': lambda x: x.reshape(60, 100).T,
    'backwards': lambda x: x[::-1], 'sliced': lambda x: x[::2],
    'single precision': lambda x: x.astype(np.float32),
    'empty': lambda x: x[:0], 'no rows': lambda x: x[:0].reshape(0, 3),
    'of shape ()': lambda x: np.array(1.5), 'number': lambda x: 1.5,
    'one': lambda x: x[:1], 'spread': lambda x: np.broadcast_to(1.5, 6000),
    'swapped bytes': lambda x: x.astype('>f8'),
    'misaligned': lambda x: np.frombuffer(
        b'0' + x.tobytes(), np.uint8)[1:].view(float),
    'integers': lambda x: np.arange(6000), 'masks': lambda x: x > 1.5}


@pytest.mark.rest
@pytest.mark.parametrize('kind', ARRAYS)
def test_any_array_is_an_argument(kind):
    def f(x, y):
        return x * y + x / (y + 1), np.exp(x - y) * 2 - y
    fused, usual = ad.jit(f, backend='fused'), ad.jit(f)
    x = ARRAYS[kind](np.linspace(1.0, 2.0, 6000))
    for args in (x, x), (x, 2.0), (2.0, x), (x, np.float32(2)):
        for _ in range(2):
            actual, expected = Exactly(fused, args), Exactly(usual, args)
            assert actual.difference(expected) is None
            for y, z in zip(actual.leaves, expected.leaves):
                if isinstance(y, np.ndarray):
                    assert y.strides == z.strides and y.flags.writeable
                    assert not np.shares_memory(y, x)


def test_a_read_only_array_is_an_argument():
    x = np.linspace(1.0, 2.0, 1000)
    x.flags.writeable = False
    assert_equal(lambda y: y * x + y / x, x)


def test_operands_of_several_shapes_are_left_to_numpy():
    x, y = np.ones((30, 40)), np.arange(40.0)
    f = ad.jit(lambda x, y: (x * 2 + x) / (x + y) * 3 + x, backend='fused')
    np.testing.assert_array_equal(f(x, y), 3 / (1 + y) * 3 + x)
    assert 'add: operands have several shapes' in f.source


def test_an_array_in_another_order_is_left_to_numpy():
    x = np.linspace(1.0, 2.0, 6000).reshape(100, 60)
    f = lambda x: (x.T * 2 + x.T) * 3 - x.T / 2
    fused = ad.jit(f, backend='fused')
    assert fused(x).strides == ad.jit(f)(x).strides
    np.testing.assert_array_equal(fused(x), f(x))
    assert 'arrays are not contiguous' in fused.source


@pytest.mark.rest
def test_a_block_of_single_precision_stays_so():
    x = np.linspace(-3, 3, 1000, dtype=np.float32)
    f = lambda x: np.tanh(0.1 * x + 1 / 3) * np.sqrt(np.abs(x)) + x * x * 0.7
    assert_equal(ad.grad(lambda x: np.sum(f(x))), x)
    assert_equal(lambda x: f(x) + f(x.astype(float)), x)


def test_arithmetic_between_two_functions_is_one_kernel():
    x = np.ones(1000)
    for f, count in ((lambda x: x * 2 + x, 1),
                     (lambda x: np.exp(x * 2 + 1) / x, 2),
                     (lambda x: np.exp(np.tanh(x * 2) * 3 + x) / x, 3),
                     (lambda x: np.exp(x * 2) * np.tanh(x * 3), 2)):
        assert len(kernels_of(f, x)) == count


def test_a_cheap_value_is_computed_again_and_not_stored():
    x = np.ones(1000)
    first, second = kernels_of(lambda x: np.exp(x * 2) * (x * x + 1), x)
    assert len(first.outs) == 1 and len(first.eqns) == 1
    assert len(second.ins) == 2
    first, second = kernels_of(lambda x: np.exp(x * 2) * (1 / (x + 1)), x)
    assert len(first.outs) == 2, 'a division is stored'


def test_a_short_block_of_few_elements_is_left_to_numpy():
    f = ad.jit(lambda x: x * 2 + 1, backend='fused')
    f(np.ones(100))
    assert '@kernel' not in f.source
    assert 'too little arithmetic in one place' in f.source
    f(np.ones(100_000))
    assert '@kernel' in f.source


def test_the_pieces_are_fed_from_memory_that_stays():
    f = ad.jit(lambda x: np.exp(x * 2 + 1) * x + x, backend='fused')
    f(np.ones(100_000))
    [scratch] = [x for x in ad.calls.jit.compiled(
        f.last, 'fused').fast.functions.values()
        for x in x.__globals__.values() if isinstance(x, native.Scratch)]
    before = [id(x) for x in scratch[0]]
    f(np.ones(100_000))
    assert [id(x) for x in scratch[0]] == before and len(scratch) == 1
    assert {x.size for x in scratch[0]} == {16_384}
