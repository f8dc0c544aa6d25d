"""Guard that jit computes what eager code computes, to the bit.

Random programs run in NumPy and under jit, on arrays of every layout and near
the sizes at which the lowering changes its plan. Results, types, errors, and
warnings must be equal, inputs must not change, and outputs must belong to the
caller. `python -m pytest --examples 50 ...` runs fifty times as many.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autodiff_mini as ad
from tests.support.amount import examples
from tests.support.identical import (
    Labeled, Raised, assert_identical, assert_own, outcome)


# Comparison

def snapshot(xs):
    return [x.tobytes() if isinstance(x, np.ndarray) else x
            for x in ad.tree_leaves(xs)]


def check(f, make, state, dead=False):
    """Assert that `f` under jit is `f`.

    Args:
        f: a function that returns arrays.
        make: makes arguments, which depend on the seed.
        state: NumPy's error state.
        dead: whether `f` computes what is not needed.
    """
    g, quiet, earlier = ad.jit(f), {'all': 'ignore'}, []
    for seed, state in (0, state), (0, state), (1, quiet), (0, quiet):
        xs = make(seed)
        expected, said = outcome(f, xs, state)
        before = snapshot(xs)
        actual, heard = outcome(g, xs, state)
        assert snapshot(xs) == before
        if isinstance(actual, Raised):
            assert actual == expected
        elif isinstance(expected, Raised):
            assert dead
        else:
            assert heard <= said if dead else heard == said
            assert_identical(actual, expected)
            for y in assert_own(actual, xs):
                y[...] = 77     # the next call must not see this
                earlier.append(y)
    assert all(np.all(y == np.array(77).astype(y.dtype)) for y in earlier)


def check_program(f, make, state, with_value):
    """Assert that a program and its gradient are equal under jit."""
    check(f, make, state)
    argnums = tuple(i for i, x in enumerate(make(0))
                    if np.result_type(x).kind == 'f')
    if argnums:
        total = lambda *xs: sum(np.sum(y) * 1.0 for y in f(*xs))
        slope = ad.value_and_grad if with_value else ad.grad
        check(slope(total, argnums), make, state, dead=True)


# Inputs

def in_slots(x, shape, place):
    """Return `x` as a view of a larger array."""
    whole = np.full(shape, 3).astype(x.dtype)
    whole[place] = x
    return whole[place]


def unaligned(x):
    """Return `x` at an odd address."""
    buffer = bytearray(b'\0' + x.tobytes())
    return np.frombuffer(buffer, x.dtype, offset=1).reshape(
        x.shape) if x.size else x


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


LAYOUTS = {     # each returns the array, but for `repeated`
    'C': np.copy,
    'F': np.asfortranarray,
    'transposed': lambda x: np.swapaxes(x, 0, -1).copy().swapaxes(0, -1),
    'backwards': lambda x: x[::-1].copy()[::-1],
    'every_other': lambda x: in_slots(
        x, (*x.shape[:-1], 2 * x.shape[-1]), np.s_[..., ::2]),
    'every_other_row': lambda x: in_slots(
        x, (2 * len(x), *x.shape[1:]), np.s_[::2]),
    'window': lambda x: in_slots(
        x, (*x.shape[:-1], x.shape[-1] + 3), np.s_[..., 1:-2]),
    'read_only': read_only,
    'unaligned': unaligned,
    'repeated': lambda x: np.broadcast_to(x[:1], x.shape),
    'one_number': lambda x: np.broadcast_to(x.flat[0], x.shape)
    if x.size else x,
    'subclass': lambda x: x.copy().view(Labeled),
    'swapped': lambda x: x.astype(x.dtype.newbyteorder()),
}
NUMBERS = {'array': np.copy, 'scalar': lambda x: x[()],
           'python': lambda x: x.item()}

RELATED = {     # the shapes of a second operand
    'same': lambda shape: shape,
    'row': lambda shape: shape[-1:],
    'one_row': lambda shape: (1,) * len(shape[:-1]) + shape[-1:],
    'column': lambda shape: shape[:-1] + (1,) * len(shape[-1:]),
    'one': lambda shape: (1,) * len(shape),
    'number': lambda shape: (),
}

SMALL = [(), (), (1,), (3,), (7,), (2, 3), (3, 3), (3, 1), (1, 3), (2, 3, 4),
         (0,), (0, 3), (2, 0)]
MEDIUM = [(1023,), (1024,), (1025,), (32, 32), (31, 33), (33, 33), (2, 600),
          (600, 2), (1024, 1), (1, 1025), (16, 8, 9)]
LARGE = [(65_535,), (65_536,), (65_537,), (70_000, 1), (1, 70_000),
         (2, 40_000), (40_000, 2), (300, 300), (3, 160, 150),
         (81_919,), (81_920,), (81_921,), (16_385, 4), (5, 16_383),
         (16_384, 5), (128, 513), (131_073,)]

FLOATS = ['f8', 'f8', 'f8', 'f4']
DTYPES = [*FLOATS, *FLOATS, 'f2', 'i8', 'i4', 'u1', '?']

EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0]
VALUES = {      # special numbers, and how often they appear
    'mild': ([0.25], 0), 'edges': (EDGES, 0.5),
    'huge': ([1e300, -1e200, 1e-310, 710.0, -746.0, 3e38, 7e4], 0.5),
    'special': ([np.nan, np.inf, -np.inf, *EDGES], 0.3),
    'rare': ([np.nan, np.inf, 1e300, 0.0, -1e-310], None),
    'positive': ([1e-3], 0.1),
}


def numbers(rng, shape, dtype, values):
    """Return an array of numbers of some kind."""
    if np.dtype(dtype).kind in 'iu?':
        return rng.integers(-3, 4, shape).astype(dtype)
    x, (mixed, share) = np.asarray(rng.uniform(-2, 2, shape)), VALUES[values]
    if values == 'positive':
        x = np.abs(x) + 0.1
    if share is None:
        x.flat[:1] = rng.choice(mixed)      # only one element differs
    else:
        x = np.where(rng.uniform(size=shape) < share,
                     rng.choice(mixed, shape), x)
    with np.errstate(all='ignore'):
        return x.astype(dtype)


def argument(rng, shape, dtype, layout, values):
    x = numbers(rng, shape, dtype, values)
    return (LAYOUTS if shape else NUMBERS)[layout](x)


@st.composite
def arguments(draw, shapes, dtypes=DTYPES, n=2):
    """Return descriptions of arguments."""
    shape = draw(st.sampled_from(shapes))
    rows = []
    for _ in range(n):
        rows.append((
            shape, draw(st.sampled_from(dtypes)),
            draw(st.sampled_from(list(LAYOUTS if shape else NUMBERS))),
            draw(st.sampled_from(list(VALUES)))))
        shape = RELATED[draw(st.sampled_from(list(RELATED)))](shape)
    return rows


def maker(rows, seed=5):
    """Return a function that makes arguments from their descriptions."""
    def make(offset):
        rng = np.random.default_rng([seed, offset])
        return tuple(argument(rng, *row) for row in rows)
    return make


# Programs

def fit(x, y):
    """Return `y`, or its sum if it cannot be broadcast."""
    try:
        shape = np.broadcast_shapes(np.shape(x), np.shape(y))
    except ValueError:
        return np.sum(y)
    most = max(np.size(x), np.size(y), 4096)
    return y if math.prod(shape) <= most else np.sum(y)


def no_bool(x):
    """Return `x`, with numbers for booleans, which NumPy cannot subtract."""
    return x * 1 if np.result_type(x) == bool else x


def with_axes(f):
    """Return `f`, which leaves a number unchanged."""
    return lambda x, k: f(x, k) if np.ndim(x) else x


def matmul(x, k):
    if np.ndim(x) != 2 or max(np.shape(x)) > 64:
        return x
    return np.transpose(x) @ x


def grow(f):
    """Return `f`, applied only to small arrays."""
    return lambda x, k: f(x, k) if (
        np.size(x) <= 100_000 and 0 < np.ndim(x) < 3) else x


def chain(x, y):
    """Name each result, because NumPy writes into results without a name."""
    a = np.exp(-(x * x * 1))
    b = a * y
    c = np.tanh(x) / 2
    return b + c


ELEMENTWISE = {
    'sin': lambda x, k: np.sin(x), 'exp': lambda x, k: np.exp(x),
    'log': lambda x, k: np.log(x), 'tanh': lambda x, k: np.tanh(x),
    'sqrt': lambda x, k: np.sqrt(x), 'abs': lambda x, k: np.abs(no_bool(x)),
    'neg': lambda x, k: -no_bool(x), 'square': lambda x, k: no_bool(x) ** 2,
    'minus': lambda x, k: x - k, 'times': lambda x, k: x * k,
    'over': lambda x, k: x / k if k else x,
    'relu': lambda x, k: np.where(x > 0, x, 0.0),
}
PAIRWISE = {
    'add': lambda x, y, k: x + y,
    'sub': lambda x, y, k: no_bool(x) - no_bool(y),
    'mul': lambda x, y, k: x * y, 'div': lambda x, y, k: x / y,
    'max': lambda x, y, k: np.maximum(x, y), 'less': lambda x, y, k: x < y,
    'select': lambda x, y, k: np.where(x < y, x, y),
    'choose': lambda x, y, k: np.where(x == k, no_bool(y) - x * 1, x),
    'chain': lambda x, y, k: chain(x, y),
}
REARRANGING = {
    'sum': lambda x, k: np.sum(x),
    'sum_last': with_axes(lambda x, k: np.sum(x, axis=-1)),
    'softmax': with_axes(lambda x, k: (
        lambda e: e / np.sum(e, -1, keepdims=True))(
        np.exp(x - np.max(x * 1, -1, keepdims=True, initial=0.0)))),
    'cumsum': with_axes(lambda x, k: np.cumsum(x, axis=0)),
    'transpose': lambda x, k: np.transpose(x),
    'flat': lambda x, k: np.reshape(x, -1),
    'differences': with_axes(lambda x, k: no_bool(x[1:]) - no_bool(x[:-1])),
    'join': grow(lambda x, k: np.concatenate([x, x * k], axis=-1)),
    'matmul': matmul,
    # Constants
    'full': lambda x, k: x * np.full(np.shape(x), k),
    'row_of_numbers': lambda x, k: x * np.linspace(
        -1, 1, np.shape(x)[-1]) if np.ndim(x) else x,
}
UNARY = ELEMENTWISE | REARRANGING
LITERALS = [1, 0, -1, 2, 0.5, 1.0, 0.0, -0.0, -1.0, 2.0, 0.1]
ALL = [*ELEMENTWISE, *REARRANGING, *2 * [*PAIRWISE], *4 * ['again']]
BLOCKS = [*2 * [*ELEMENTWISE], *3 * [*PAIRWISE], *REARRANGING,
          *6 * ['again']]
SCALAR = [*ELEMENTWISE, *2 * [*PAIRWISE], 'sum', 'again', 'again']


def steps(names, max_size):
    step = st.tuples(st.sampled_from(names), st.integers(0, 3),
                     st.integers(0, 5), st.sampled_from(LITERALS))
    return st.lists(step, min_size=1, max_size=max_size)


def planned(steps, n):
    """Return the steps, with the positions of their operands."""
    plan = []
    for name, i, j, k in steps:
        last = n + len(plan) - 1
        if name != 'again':
            plan.append((name, last - i % (last + 1), last - j % (last + 1),
                         k))
        elif plan:
            plan.append(plan[-1 - i % len(plan)])
    return plan


def program(steps, n, more=()):
    """Return a function of `n` arguments that computes only what it needs.

    Args:
        steps: each names an operation, two operands, counted from the end,
            and a literal.
        n: how many arguments there are.
        more: the positions of what it returns beside its last value.
    """
    plan = planned(steps, n)
    count = n + len(plan)

    def f(*args):
        values = dict(enumerate(args))

        def value(place):
            if place not in values:
                name, i, j, k = plan[place - n]
                x = value(i)
                values[place] = (
                    UNARY[name](x, k) if name in UNARY
                    else PAIRWISE[name](x, fit(x, value(j)), k))
            return values[place]
        return [value(place % count) for place in (-1, *more)]
    return f


more = st.lists(st.integers(0, 9), max_size=2)
states = st.sampled_from([{}, {}, {'all': 'ignore'}, {'all': 'raise'}])
gentle = st.sampled_from([{}, {}, {'all': 'raise', 'under': 'ignore'}])


@examples(25)
@given(steps(ALL, 9), more, arguments(SMALL), gentle, st.booleans())
def test_small_programs_give_the_same_bits(
        steps, more, rows, state, with_value):
    check_program(program(steps, 2, more), maker(rows), state, with_value)


@examples(15)
@given(steps(ALL, 10), more, arguments(MEDIUM), states, st.booleans())
def test_programs_that_reuse_buffers_give_the_same_bits(
        steps, more, rows, state, with_value):
    check_program(program(steps, 2, more), maker(rows), state, with_value)


@examples(8)
@given(steps(BLOCKS, 8), more, arguments(LARGE, FLOATS), states,
       st.booleans())
def test_programs_that_run_in_blocks_give_the_same_bits(
        steps, more, rows, state, with_value):
    check_program(program(steps, 2, more), maker(rows), state, with_value)


@examples(20)
@given(steps(SCALAR, 14), more, arguments([()], ['f8'], n=3), gentle,
       st.booleans())
def test_programs_on_numbers_give_the_same_bits(
        steps, more, rows, state, with_value):
    check_program(program(steps, 3, more), maker(rows), state, with_value)


# Apparent identities

IDENTITIES = {
    'times_one': lambda x: (x * 1, 1 * x, x * 1.0, x / 1),
    'plus_zero': lambda x: (x + 0, 0.0 + x, x + -0.0),
    'minus_zero': lambda x: (x - 0.0, x - -0.0, 0 - x),
    'times_zero': lambda x: (x * 0, 0.0 * x),
    'times_minus_one': lambda x: (x * -1, x / -1, -(-(x * 1))),
    'over_two': lambda x: x / 2,
    'over_three': lambda x: x / 3,
    'over_small': lambda x: x / 2.0 ** -1074,
    'over_huge': lambda x: x / 2.0 ** 1023,
    'over_zero': lambda x: x / 0.0,
    'power_one': lambda x: (x * 1.0) ** 1,
    'itself_away': lambda x: x * 1 - x * 1,
    'itself': lambda x: x / x,
    'less_itself': lambda x: (x < x, x == x, x != x, x <= x),
    'largest': lambda x: np.maximum(x, x),
    'where_same': lambda x: (np.where(x > 0, x, x), np.where(True, x, 0.0)),
    'not_less': lambda x: (np.where(x < 0, 0.0, x),
                           np.where(x >= 0, x, 0.0)),
    'distributed': lambda x: x * 3 + x * 2,
    'moved': lambda x: (x + 1) - 1,
    'ordered': lambda x: ((x + 0.1) + 0.2, x + (0.1 + 0.2)),
    'ones': lambda x: (x * np.ones((), 'f8'), x * np.ones((2, 1))),
    'abs_abs': lambda x: abs(abs(x * 1)),
    'sqrt_square': lambda x: np.sqrt(x * x),
    'exp_log': lambda x: np.exp(np.log(x)),
}
NUMBERS_OF_ALL_KINDS = np.array([
    0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 5e-324, 1e-310, 1.7e308,
    -1e300, 2.0 ** 53 + 2])


@pytest.mark.parametrize('name', IDENTITIES)
def test_apparent_identities_keep_bits_and_warnings(name):
    f = lambda x: ad.tree_leaves(IDENTITIES[name](x))
    whole = NUMBERS_OF_ALL_KINDS
    with np.errstate(all='ignore'):
        xs = [whole, np.resize(whole, 1030), whole.astype('f4'),
              whole.astype('f2'), np.arange(-3, 4), np.arange(5, dtype='u1'),
              np.array([True, False]), 1, True, *whole, *whole.tolist()]
    for state in ({}, {'all': 'raise', 'under': 'ignore'}):
        compiled = ad.jit(f)
        for x in xs:
            expected, said = outcome(f, (x,), state)
            actual, heard = outcome(compiled, (x,), state)
            if isinstance(expected, Raised):
                assert actual == expected
            else:
                assert heard == said
                assert_identical(actual, expected)


# Memory

ONES = np.ones((13, 17))
SCANNED = lambda x: ad.scan(
    lambda c, t: (c + t * 0.3, np.sin(x)), 0.0, np.arange(50.0))[1]
# An array times one can have another order than the product.
ORDERS = {
    'argument': lambda x: np.sum(x * ONES),
    'result': lambda x: np.sum(np.sin(x) * ONES),
    'number': lambda x: np.sum(x * (3 * ONES)),
    'checkpoint': lambda x: np.sum(
        ad.checkpoint(SCANNED)(np.ravel(x)) * 1.0),
    'cond': lambda x: np.sum(ad.cond(
        x[0, 0] > -9, SCANNED, SCANNED, np.ravel(x)) * 1.0),
}


@pytest.mark.parametrize('name', ORDERS)
def test_a_copy_that_is_left_out_can_be_in_another_order(name):
    f = ORDERS[name]
    for seed in range(8):
        x = np.random.default_rng(seed).standard_normal((17, 13)).T
        assert_identical(ad.jit(f)(x), f(x))


def fresh(x):
    """Return a fresh array, which a careless plan would reuse."""
    return np.sin(x) * 2


OVERLAPS = {
    'view_lives': lambda x, y: (lambda a: (a[::2] + 1, a * 3))(fresh(x)),
    'view_outlives': lambda x, y: (lambda v, b: v * b[::2])(
        *(lambda a: (a[::2], np.cos(a * 3)))(fresh(x))),
    'mirrored': lambda x, y: (lambda a: a * a[::-1])(fresh(x)),
    'transposed': lambda x, y: (lambda a: a + a.T)(fresh(x)),
    'twice': lambda x, y: (lambda a: (a, a, a + 0))(fresh(x)),
    'product': lambda x, y: (lambda a: a @ y.T * a)(fresh(x)),
    'running': lambda x, y: (lambda a: np.cumsum(a, 0) * a)(fresh(x)),
    'single': lambda x, y: (lambda a: a.astype('f4') * a)(fresh(x)),
    'narrow': lambda x, y: fresh(x)[:, :1] * x + fresh(y)[:1],
}


@pytest.mark.parametrize('name', OVERLAPS)
def test_no_buffer_is_reused_while_a_view_of_it_lives(name):
    f = lambda *xs: ad.tree_leaves(OVERLAPS[name](*xs))
    n = 32 if name == 'product' else 260
    row = ((n, n), 'f8', 'C', 'mild')
    check_program(f, maker([row, row]), {}, True)
    whole = numbers(np.random.default_rng(2), (n + 1, n), 'f8', 'mild')
    check(f, lambda _: (whole[1:], whole[:-1]), {})
    check(f, lambda _: (whole[1:], whole[:0:-1]), {})


# Powers

def test_jitted_powers_equal_eager_powers():
    """NumPy's own bits differ for exponents of three or more."""
    rng = np.random.default_rng(1)
    many = [rng.uniform(0.1, 2, n) for n in (5, 1030, 66_000)]
    for n in 3, 4, 7, -1, -2, 0.5, 1.5, 0, 1, 2:
        f = lambda x: x ** n
        for x in 0.7, np.float64(1.3), *many, many[0].astype('f4'):
            y, _ = ad.jvp(f, (x,), (x,))
            assert_identical(ad.jit(f)(x), y)
            g = ad.value_and_grad(lambda x: np.sum(f(x) * x))
            assert_identical(ad.jit(g)(x), g(x))
