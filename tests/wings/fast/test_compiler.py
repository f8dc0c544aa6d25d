"""Lowering: the exact source that is written, and what it computes."""

import gc
import inspect
import re
import tracemalloc
from itertools import product

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core.trace import Primitive, Trace, current_trace
from autodiff_mini.interpreters.abstract import rules as abstract_rules
from autodiff_mini.wings.fast.compiler import FastLowered
from autodiff_mini.wings.fast.emitter import Asked, choose_bits
from autodiff_mini.wings.fast.plan import UFUNCS
from tests.support.identical import Labeled, same_bits
from tests.support.sources import text, without_lines

C, A = np.arange(3.0), np.arange(6.0).reshape(2, 3)


def lowered(f, *args):
    """Return a compiled program; its jaxpr must not change."""
    jaxpr = ad.make_jaxpr(f)(*args)
    before = str(jaxpr)
    program = FastLowered(jaxpr)
    assert str(jaxpr) == before
    assert current_trace() is Trace.base
    return program


def source(f, *args):
    return without_lines(lowered(f, *args).source)


# The source, for NumPy arrays in row order

S, N = C.astype('f4'), np.arange(1, 4)
B, M = np.ones((32, 32)), np.ones((32, 32), int)
H, W = np.ones(65_536), np.ones((300, 300))
twice = ad.checkpoint(lambda x: np.sin(x) * 2)
FAST = {
    'a_reduction': (lambda x: np.max(x, 1).T, [A], '''\
def program(a):
    b = np.maximum.reduce(a, 1)
    c = b.transpose(0)
    return [c]'''),
    'numbers': (
        lambda x: (x * 2, 2 * x, x + True, x * np.float64(2.5), x + np.inf,
            -0.0 * x),
        [C], '''\
const_1 = np.array(2.0)
const_2 = np.array(2.5)
const_3 = np.array(inf)
const_4 = np.array((-0.0))


def program(a):
    b = a * const_1
    c = const_1 * a
    d = a + True
    e = a * const_2
    f = a + const_3
    g = const_4 * a
    return [b, c, d, e, f, g]'''),
    'in_place': (
        lambda x: ((1 - (2 * ((np.sin(x) + 1) - x)) / x) + x) * x,
        [B], '''\
const_1 = np.array(1.0)
const_2 = np.array(2.0)


def program(a):
    b = np.sin(a)
    b += const_1
    b -= a
    b *= const_2
    b /= a
    np.subtract(const_1, b, b)
    b += a
    b *= a
    return [b]'''),
    'a_block_of_rows': (
        lambda x, y, z, w: np.exp(x) * y + z / 2 - w,
        [W, W[:, :1], W[0], W[:1]], '''\
const_1 = np.array(2.0)


def program(a, b, c, d):
    e = c / const_1
    j = np.empty((300, 300))
    for start in range(0, 300, 50):
        part = slice(start, start + 50)
        f = a[part]
        g = b[part]
        h = np.exp(f)
        h *= g
        h += e
        i = j[part]
        np.subtract(h, d, i)
    del f, g, h, i
    return [j]'''),
}


COMPUTED = {    # programs whose source is not given
    'reductions': (
        lambda x: (np.sum(x, 0), np.sum(x), np.prod(x, 1), np.max(
            x, 0, keepdims=True), np.min(x, (0, 1)), np.cumsum(x, 1)), [A]),
    'shapes': (
        lambda x: (x.T, np.transpose(x[None], (2, 0, 1)), np.transpose(x[0]),
                   x.reshape(6), np.transpose(x[None]), np.reshape(
                       x[0, 0], 1), np.transpose(x[0, 0])), [A]),
    'numbers_of_single_arrays': (
        lambda x: (x * 2, x * np.float32(2.5), x * np.float64(2.5), x * 2j),
        [S]),
    'numbers_that_meet_no_floats': (
        lambda x, n, z: (x * 2, n * 2.0, np.where(n > 1, 2, n), z * 2),
        [1.5, N, C * 1j]),
    'in_place_of_integers': (
        lambda n: (((((n + 1) << 1) >> n) // 2 % n) | 1) ^ n & 1, [M]),
    'in_place_of_truth': (
        lambda x: (((x > 0) & (x < 1) | (x == 0)) ^ ~(x > 2),
                   (x > 0) < (x < 1), (x > 1) == (x == 0)), [B]),
    'where_of_others': (
        lambda x: (np.where(x > 0, 1, 2), np.where(x, x, 0.0),
                   np.where(x > 0, x > 1, x), np.where(x.T > 0, x.T, 0.0)),
        [B]),
    'where_of_halves': (lambda x: np.where(x > 0, x, 0.0), [B.astype('f2')]),
    'an_integer_that_is_no_float': (
        lambda x: x * 10**20 + (2**53 + 1), [C]),
    'in_place_by_ufuncs': (
        lambda x: (np.arctan2(np.maximum(abs(-np.exp(x)), np.minimum(
            0.5, np.sin(x))), x), 2 - np.cos(x), 2 / np.tan(x),
            x + np.tanh(x)), [B]),
    'a_block_of_many_dtypes': (
        lambda x: (np.where(x > 0, x * 2, 0.0).astype('f4'), x < 1,
                   (x * 3) ** 9), [H]),
    'a_block_of_singles': (lambda x: np.maximum(x * 2, 1), [H.astype('f4')]),
    'a_loop_with_rows': (
        lambda w, x: ad.scan(lambda c, y: (np.tanh(w @ c) + y, (c, y @ c)),
                             x[0], x), [A[:, :2], A.T]),
    'a_checkpoint_in_two_orders': (
        lambda x: twice(x).T + twice(x.T), [B]),
    **{name: row[:2] for name, row in FAST.items()}}


@pytest.mark.parametrize('name', FAST)
def test_plain_arrays_compile_to_exactly_this_source(name):
    f, args, expected = FAST[name]
    assert source(f, *args) == expected


@pytest.mark.parametrize('name', COMPUTED)
def test_both_versions_agree_in_any_memory_order(name):
    """With random numbers, a change of the order would change the bits."""
    f, args = COMPUTED[name]
    program, jaxpr = lowered(f, *args), ad.make_jaxpr(f)(*args)
    rng = np.random.default_rng(1)
    for order in 'C', 'F':
        xs = [np.asarray(rng.uniform(-3, 3, x.shape), x.dtype, order=order)
              if np.ndim(x) and x.dtype.kind == 'f' else x for x in args]
        copies = ad.tree_map(np.copy, xs)
        versions = [program.careful, program, program]
        versions += [program.fast] if order == 'C' else []
        with np.errstate(all='ignore'):
            expected = ad.eval_jaxpr(jaxpr, jaxpr.consts, *xs)
            for version in versions:
                for y, z in zip(version(*xs), expected, strict=True):
                    same_bits(y, z)
                    if np.ndim(z) > 1 and z.flags.f_contiguous:
                        assert y.flags.f_contiguous or y.base is not None
        for x, copy in zip(xs, copies):
            np.testing.assert_array_equal(x, copy)


def test_an_argument_in_row_order_replaces_its_copy():
    f = lambda x: np.sum(x * 1, 0)
    for g in (f, ad.checkpoint(f)):
        program = lowered(g, A)
        assert ' * ' not in program.source and program.fast.in_order
        assert ' * ' in program.careful.source


# The user's lines

def waves(x):
    y = np.sin(x) * 3 + 1
    y = y / 4 + (
        y * 5
        - y)
    return np.sum(y)


def test_each_new_line_of_the_user_is_in_the_source():
    first = waves.__code__.co_firstlineno
    for version in ('fast', 'careful'):
        source = getattr(lowered(waves, np.ones(9)), version).source
        found = re.findall(r'^ *(\w) = .*? # line (\d+)$', source, re.M)
        assert [int(number) - first for _, number in found] == [1, 2, 3, 2, 5]
        assert len({name for name, _ in found}) == 5


def test_lines_of_the_standard_library_are_not_the_users():
    """A frame of contextlib was taken for the user's."""
    number = inspect.currentframe().f_lineno + 1
    jaxpr = ad.make_jaxpr(ad.checkpoint(np.sin))(C)
    assert re.findall(r'# line (\d+)', FastLowered(jaxpr).source) == [
        str(number)] * 2


def test_an_error_quotes_its_line():
    def f(x):
        y = x + 1
        return np.log(y * 2)

    line = f.__code__.co_firstlineno + 2
    for x in (C - 1, np.float64(-1)):
        program = lowered(f, x)
        for version in (program.fast, program.careful):
            with np.errstate(all='raise'), pytest.raises(
                    FloatingPointError) as caught:
                version(x)
            [note] = caught.value.__notes__
            assert "'log'" in note and note.endswith(f'{__file__}:{line}')


def test_each_element_wise_primitive_names_its_ufunc():
    for primitive in UFUNCS:
        impl = primitive.impl
        n = (impl.nin if isinstance(impl, np.ufunc)
             else len(inspect.signature(impl).parameters))
        assert isinstance(impl(*[Asked()] * n), np.ufunc), primitive


# What is overwritten and freed

def test_arguments_constants_and_results_are_never_freed():
    const = B * np.linspace(1, 2, 32)

    def f(x):
        y = x * const
        return y, np.sin(y), y * 3, x

    program = lowered(f, B)
    assert 'del' not in program.source + program.careful.source
    for _ in range(2):
        for version in (program.fast, program.careful):
            for y, expected in zip(version(B), f(B), strict=True):
                same_bits(y, expected)


# Memory

def peak(f, x):
    """Return the peak memory of a call, in arrays like `x`."""
    f(x)        # after everything that happens only once
    gc.collect()
    tracemalloc.start()
    try:
        f(x)
        return tracemalloc.get_traced_memory()[1] / x.nbytes
    finally:
        tracemalloc.stop()


def layers(x, n=100):
    for _ in range(n):
        x = np.sqrt(x)
    return x


def gelu(x):
    return 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x ** 3)))


def test_a_finished_block_keeps_no_array_alive():
    """A view of the array lived to the end under another name."""
    def f(x):
        y = np.exp(np.sin(x) * x)
        return np.cos(np.sum(y) * np.ones(len(x)) / x)

    x = np.linspace(1.0, 2.0, 1_000_000)
    program = lowered(f, x)
    assert '[part]' in program.source
    assert peak(program, x) < 1.5


def test_a_long_chain_needs_little_more_than_its_result():
    """Without blocks, it needs one array; if the order is unknown, two."""
    for n, most in ((100_000, 1.5), (60_000, 1.1)):
        x = np.linspace(1, 2, n)
        assert peak(ad.jit(layers), x) < most
        assert peak(lowered(layers, x).careful, x) < 2.1


def test_the_gradient_of_gelu_needs_one_array():
    x = np.linspace(-3, 3, 1_000_000)
    assert peak(ad.jit(ad.grad(lambda x: np.sum(gelu(x)))), x) < 1.2


# Selection

SPECIAL = np.array([0.0, -0.0, 1.5, -2.5, np.nan, -np.nan, np.inf, -np.inf,
                    5e-324, 1e300])


@pytest.mark.parametrize('dtype', [np.float32, np.float64])
def test_select_has_the_bits_of_where(dtype):
    rng = np.random.default_rng(0)
    masks = [*(rng.uniform(size=(9, 10)) < 0.5), SPECIAL > 0]
    with np.errstate(all='ignore'):
        arrays = [SPECIAL.astype(dtype), SPECIAL[::-1].astype(dtype)]
        choices = [*arrays, *SPECIAL.tolist(), 1]
        for mask, x, y in product(masks, choices, choices):
            copies = list(map(np.copy, (mask, x, y)))
            actual = choose_bits(mask, x, y, dtype)
            expected = np.where(mask, np.asarray(x, dtype),
                                np.asarray(y, dtype))
            assert actual.dtype == dtype
            assert actual.tobytes() == expected.tobytes()
            for array, copy in zip((mask, x, y), copies):
                assert np.asarray(array).tobytes() == copy.tobytes()


@pytest.mark.parametrize('orders', ['CCC', 'FCC', 'CCF', 'FFF'])
def test_a_selection_has_the_layout_of_numpy(orders):
    """It had the layout of the mask, so sums had other bits."""
    rng = np.random.default_rng(2)
    arrays = (rng.uniform(size=(40, 50)) < 0.5, rng.normal(size=(40, 50)),
              rng.normal(size=(40, 50)))
    xs = [np.array(x, order=order) for order, x in zip(orders, arrays)]

    def f(mask, x, y):
        z = np.where(mask, x, y)
        return np.sum(z, 0), np.sum(z, 1), np.sum(z)
    for y, expected in zip(ad.jit(f)(*xs), f(*xs)):
        same_bits(y, expected)
    program = lowered(f, *xs)
    assert 'choose_bits(' in program.source
    assert 'choose_bits(' not in program.careful.source


def test_a_view_of_a_number_keeps_its_dtype():
    """NumPy's square of a boolean array is an int8, unlike other powers."""
    f = lambda x: np.broadcast_to((x ** 2)[0], 3)
    for dtype in 'ifdF?':
        same_bits(ad.jit(f)(np.ones(2, dtype)), f(np.ones(2, dtype)))


# Products

@pytest.mark.parametrize('dtype', [np.float32, np.float64])
def test_dot_has_the_bits_of_a_product(dtype):
    for n in (1, 2, 3, 17, 64):
        a = np.random.default_rng(n).standard_normal((n, 33)).astype(dtype)
        x, y = a[0].copy(), a[:, 0].copy()
        f = lambda a, x, y: (a @ x, y @ a, x @ x, a.T @ y, a[:2] @ a.T,
            a[0, :1] @ (x[:1] * -0.0))
        assert lowered(f, a, x, y).source.count('.dot(') == 3
        for xs in ((a, x, y), (np.asfortranarray(a), x, y),
                   (np.repeat(a, 2, 1)[:, ::2], x, np.repeat(y, 2)[::2])):
            for z, expected in zip(ad.jit(f)(*xs), f(*xs), strict=True):
                same_bits(z, expected)


# Which version

def test_arrays_in_another_order_run_the_careful_version():
    program = lowered(lambda x, y: np.cos(np.sin(x)) * y, B, B)
    ran = []

    def told(name, f):
        return lambda *xs: ran.append(name) or f(*xs)
    for name in ('fast', 'careful'):
        version = getattr(program, name)
        version.function = told(name, version.function)
    program.small = told('small', program.small)
    for args, expected in (((B, B), 'fast'), ((B, B.T[::-1]), 'careful'),
                           ((np.asfortranarray(B * C[:1]), B), 'careful'),
                           ((B, B.view(Labeled)), 'small')):
        same_bits(program(*args)[0], np.cos(np.sin(args[0])) * args[1])
        assert ran == [expected]
        ran.clear()


def test_another_implementation_is_called_by_its_own_name(monkeypatch):
    def impl(x, n):
        return x * n

    p = Primitive('p', impl)
    monkeypatch.setitem(abstract_rules, p, lambda x, n: x)
    program = lowered(lambda x: p.bind(x, n=3), 2.0)
    assert without_lines(program.source) == text(
        'a', 'b = p_impl(a)', 'return [b]')
    assert program(2.0) == [6.0]
    impl.__name__ = 'sin'   # but it is not a NumPy function
    assert lowered(lambda x: p.bind(x, n=3), 2.0)(2.0) == [6.0]
