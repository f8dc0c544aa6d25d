"""Guard that jit computes what eager code computes, to the bit.

Random programs run as NumPy and under jit, on arrays of every layout and
around the sizes at which lowering changes its plan.  Results, types, errors
and warnings must be the same; inputs stay as they were, and outputs are the
caller's own.  `python -m pytest --examples 50 ...` takes fifty times as many.
"""

import math
import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autodiff_mini as ad
from tests.amount import crossed, examples
from tests.test_unrolled import unrolled


# What is compared

def assert_identical(actual, expected):
    """Assert the same trees of the same types and bits; a NaN is a NaN."""
    leaves, others = map(ad.tree_leaves, (actual, expected))
    assert ad.tree_structure(actual) == ad.tree_structure(expected)
    for x, y in zip(leaves, others, strict=True):
        x, y = x, plain(y)
        assert type(x) is type(y), (type(x), type(y))
        x, y = np.asarray(x), np.asarray(y)
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        same = x == y
        if x.dtype.kind == 'f':
            same &= np.signbit(x) == np.signbit(y)
            same |= np.isnan(x) & np.isnan(y)
        assert np.all(same), (x[~same][:5], y[~same][:5], np.sum(~same))


def plain(x):
    """Return `x`, as a scalar if it is an array without axes."""
    return x[()] if isinstance(x, np.ndarray) and x.ndim == 0 else x


def outcome(f, xs, state):
    """Return what `f` returns or raises, and the kinds of its warnings."""
    with warnings.catch_warnings(record=True) as caught, \
            np.errstate(**state):
        warnings.simplefilter('always')
        try:
            out = f(*xs)
        except (ArithmeticError, TypeError, ValueError) as error:
            out = Raised(error)
    return out, {(w.category, str(w.message).split(' encountered')[0])
                 for w in caught}


class Raised:
    """An error, which equals another of its type."""

    def __init__(self, error):
        self.error = error

    def __eq__(self, other):
        return type(self.error) is type(getattr(other, 'error', None))

    def __repr__(self):
        return repr(self.error)


def memory(x):
    """Return the array whose memory `x` shows."""
    while isinstance(getattr(x, 'base', None), np.ndarray):
        x = x.base
    return x


def snapshot(xs):
    return [memory(x).tobytes() if isinstance(x, np.ndarray) else x
            for x in ad.tree_leaves(xs)]


def assert_own(outs, xs):
    """Assert that the outputs are arrays that nobody else has."""
    outs = [y for y in ad.tree_leaves(outs) if isinstance(y, np.ndarray)]
    for i, y in enumerate(outs):
        assert y.ndim and y.flags.writeable
        for other in [*ad.tree_leaves(xs), *outs[:i]]:
            if isinstance(other, np.ndarray):
                assert not np.may_share_memory(y, other)
    return outs


def check(f, make, state, dead=False):
    """Assert that `f` under jit is `f`.

    Args:
        f: a function that returns arrays.
        make: makes arguments, which are others for another seed.
        state: NumPy's error state.
        dead: whether `f` computes what nobody needs.
    """
    g, xs = ad.jit(f), make(0)
    expected, said = outcome(f, xs, state)
    before = snapshot(xs)
    for _ in range(2):
        actual, heard = outcome(g, xs, state)
        assert snapshot(xs) == before
        if isinstance(expected, Raised) and not dead:
            assert actual == expected
        if isinstance(actual, Raised):
            assert actual == expected
            continue
        if isinstance(expected, Raised):
            continue
        assert heard <= said if dead else heard == said
        assert_identical(actual, expected)
        for y in assert_own(actual, xs):
            y[...] = 77     # which the next call must not see
    kept, _ = outcome(g, xs, {'all': 'ignore'})
    copies = ad.tree_map(np.copy, kept)
    others = make(1)
    actual, _ = outcome(g, others, {'all': 'ignore'})
    again, _ = outcome(g, xs, {'all': 'ignore'})
    if isinstance(kept, Raised):
        return
    for x, y, z in zip(*map(ad.tree_leaves, (copies, kept, again)),
                       strict=True):
        np.testing.assert_array_equal(x, y)
        np.testing.assert_array_equal(x, z)
    expected, _ = outcome(f, others, {'all': 'ignore'})
    if not (dead and isinstance(expected, Raised)):
        assert_identical(actual, expected)


def derivatives(f, xs, with_value):
    """Return the gradient of the sum of all that `f` returns, or None."""
    argnums = tuple(i for i, x in enumerate(xs)
                    if np.result_type(x).kind == 'f')
    if not argnums:
        return None
    total = lambda *xs: sum(np.sum(y) * 1.0 for y in f(*xs))
    return (ad.value_and_grad if with_value else ad.grad)(total, argnums)


def check_program(f, make, state, with_value):
    """Assert that a program, and its gradient, are what they are."""
    check(f, make, state)
    g = derivatives(f, make(0), with_value)
    if g is not None:
        check(g, make, state, dead=True)


# Inputs

class Labelled(np.ndarray):
    """An array of a type of its own, which computes as others do."""


def in_slots(x, shape, place):
    """Return `x`, as a view of a larger array of this shape."""
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
    'columns_backwards': lambda x: x[..., ::-1].copy()[..., ::-1],
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
    'subclass': lambda x: x.copy().view(Labelled),
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
VALUES = {      # what is mixed in, and how often
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
        x.flat[:1] = rng.choice(mixed)      # one element is to blame
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
    """Return what makes arguments from their descriptions."""
    def make(offset):
        rng = np.random.default_rng([seed, offset])
        return tuple(argument(rng, *row) for row in rows)
    return make


# Programs

def fit(x, y):
    """Return `y`, or its sum where it cannot be broadcast, or too far."""
    try:
        shape = np.broadcast_shapes(np.shape(x), np.shape(y))
    except ValueError:
        return np.sum(y)
    size = max(math.prod(np.shape(x)), math.prod(np.shape(y)), 4096)
    return y if math.prod(shape) <= size else np.sum(y)


def no_bool(x):
    """Return `x`; NumPy cannot subtract what is true."""
    return x * 1 if np.result_type(x) == bool else x


def with_axes(f, least=1):
    """Return `f`, which leaves arrays with fewer axes as they are."""
    return lambda x, k: f(x, k) if np.ndim(x) >= least else x


def matmul(x, k):
    if np.ndim(x) != 2 or max(np.shape(x)) > 64:
        return x
    return np.transpose(x) @ x


def join(x, k):
    return np.concatenate([x, x * k], axis=-1)


def grow(f, most=100_000, axes=3):
    """Return `f`, for what is small enough to grow."""
    return lambda x, k: f(x, k) if (
        np.size(x) <= most and 0 < np.ndim(x) < axes) else x


def extreme(reduce):
    """Return a reduction, for what has elements."""
    return lambda x, k: reduce(x, -1) if np.ndim(x) and np.size(x) else x


def chain(x, y):
    """Names each result: NumPy writes into those without a name."""
    a = np.exp(-(x * x * 1))
    b = a * y
    c = np.tanh(x) / 2
    return b + c


ELEMENTWISE = {
    'sin': lambda x, k: np.sin(x),
    'cos': lambda x, k: np.cos(x),
    'exp': lambda x, k: np.exp(x),
    'log': lambda x, k: np.log(x),
    'tanh': lambda x, k: np.tanh(x),
    'sqrt': lambda x, k: np.sqrt(x),
    'abs': lambda x, k: np.abs(no_bool(x)),
    'neg': lambda x, k: -no_bool(x),
    'square': lambda x, k: no_bool(x) ** 2,
    'twice': lambda x, k: x * x,
    'plus': lambda x, k: x + k,
    'minus': lambda x, k: x - k,
    'times': lambda x, k: x * k,
    'over': lambda x, k: x / k if k else x,
    'over_left': lambda x, k: k / x,
    'max_number': lambda x, k: np.maximum(x, k),
    'relu': lambda x, k: np.where(x > 0, x, 0.0),
    'mask': lambda x, k: (x > k) * x,
    'nothing': lambda x, k: x * 1.0 + 0.0,
}
PAIRWISE = {
    'add': lambda x, y, k: x + y,
    'sub': lambda x, y, k: no_bool(x) - no_bool(y),
    'mul': lambda x, y, k: x * y,
    'div': lambda x, y, k: x / y,
    'max': lambda x, y, k: np.maximum(x, y),
    'less': lambda x, y, k: x < y,
    'select': lambda x, y, k: np.where(x < y, x, y),
    'select_number': lambda x, y, k: np.where(x <= y, k, y),
    'choose': lambda x, y, k: np.where(x == k, no_bool(y) - x * 1, x),
    'chain': lambda x, y, k: chain(x, y),
}
REARRANGING = {
    'sum': lambda x, k: np.sum(x),
    'sum_last': with_axes(lambda x, k: np.sum(x, axis=-1)),
    'sum_first': with_axes(lambda x, k: np.sum(x, axis=0)),
    'centre': with_axes(lambda x, k: no_bool(x) - np.sum(
        x, axis=-1, keepdims=True)),
    'softmax': lambda x, k: (lambda e: e / np.sum(e, -1, keepdims=True))(
        np.exp(x - extreme(partial(np.max, keepdims=True))(x * 1, k)))
    if np.ndim(x) else x,
    'smallest': extreme(np.min),
    'cumsum': with_axes(lambda x, k: np.cumsum(x, axis=0)),
    'transpose': lambda x, k: np.transpose(x),
    'flat': lambda x, k: np.reshape(x, -1),
    'tail': with_axes(lambda x, k: x[1:]),
    'half': with_axes(lambda x, k: x[..., ::2]),
    'differences': with_axes(lambda x, k: no_bool(x[1:]) - no_bool(x[:-1])),
    'rows': lambda x, k: x[[0, -1, 0]] if np.ndim(x) and len(x) else x,
    'spread': grow(lambda x, k: np.broadcast_to(x, (2, *np.shape(x)))),
    'join': grow(join),
    'pair': grow(lambda x, k: np.stack([x, x + k], axis=-1)),
    'matmul': matmul,
    # Constants
    'full': lambda x, k: x * np.full(np.shape(x), k),
    'row_of_numbers': lambda x, k: x * np.linspace(
        -1, 1, np.shape(x)[-1]) if np.ndim(x) else x,
    'scalar': lambda x, k: x + np.float64(k),
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


def operands(step):
    name, i, j, _ = step
    return (i,) if name in UNARY else (i, j)


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
    places = [count - 1, *[i % count for i in more]]
    needed = set(places)
    for place in reversed(range(n, count)):
        if place in needed:
            needed.update(operands(plan[place - n]))

    def f(*args):
        values = dict(enumerate(args))
        for place, (name, i, j, k) in enumerate(plan, n):
            if place not in needed:
                continue
            x = values[i]
            values[place] = (
                UNARY[name](x, k) if name in UNARY
                else PAIRWISE[name](x, fit(x, values[j]), k))
        return [values[place] for place in places]
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
def test_programs_whose_buffers_are_used_again_give_the_same_bits(
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


# Loops

def looped(lib, body, reverse, n_args, init, xs, w):
    """Return what a loop with this body carries and puts out."""
    def step(carry, x):
        c, n = carry
        y, *_ = body(x, w, c)
        return (np.tanh(y * 1.0) + w * 0.5, n + 1), (y * 1.0, x * w)

    (c, n), ys = lib.scan(step, (init, 0), xs, reverse=reverse)
    return [c, *ys]


LOOPED = [*ELEMENTWISE, *3 * [name for name in PAIRWISE
                              if name != 'select_number'], 'again']


@examples(8)
@given(steps(LOOPED, 6), st.sampled_from([(), (), (3,), (40, 30)]),
       st.integers(1, 5), st.booleans(), st.sampled_from(list(VALUES)))
def test_loops_give_the_bits_of_the_unrolled_program(
        steps, shape, length, reverse, values):
    f = partial(looped, ad, program(steps, 3), reverse, 3)
    twin = partial(looped, unrolled, program(steps, 3), reverse, 3)
    rows = [(shape, 'f8', 'scalar' if shape == () else 'C', values),
            ((length, *shape), 'f8', 'C', values),
            (shape, 'f8', 'scalar' if shape == () else 'C', 'mild')]
    make = maker(rows)
    check_program(f, make, {'under': 'ignore'}, False)
    expected, _ = outcome(twin, make(0), {'all': 'ignore'})
    if not isinstance(expected, Raised):
        actual, _ = outcome(ad.jit(f), make(0), {'all': 'ignore'})
        assert_identical(actual, expected)


BODIES = {      # of loops in which not all depends on the carry
    'rnn': lambda w: lambda h, x: (np.tanh(w @ h + w @ x), h),
    'sum': lambda w: lambda c, x: (c + np.sin(x * w[0]), c * x),
    'sums': lambda w: lambda c, x: (c + w @ x, np.sum(x) * c),
    'only_outputs': lambda w: lambda c, x: (c * 0.5, np.exp(x) @ w),
    'no_carry': lambda w: lambda c, x: (np.sin(x), w[1]),
    'constant': lambda w: lambda c, x: (c, np.cos(w[0]) * x),
    'shifted': lambda w: lambda c, x: (x * 1.0, c + np.cumsum(x)),
}


@pytest.mark.parametrize('name', BODIES)
@pytest.mark.parametrize('reverse', [False, True])
def test_taking_steps_out_of_a_loop_keeps_the_bits(name, reverse):
    def f(w, c, xs):
        return ad.scan(BODIES[name](w), c, xs, reverse=reverse)

    make = maker([((3, 3), 'f8', 'C', 'mild'), ((3,), 'f8', 'C', 'edges'),
                  ((6, 3), 'f8', 'F', 'mild')])
    check_program(lambda *xs: ad.tree_leaves(f(*xs)), make, {}, True)


# Identities that are none

IDENTITIES = {
    'times_one': lambda x: x * 1, 'one_times': lambda x: 1 * x,
    'times_one_float': lambda x: x * 1.0, 'over_one': lambda x: x / 1,
    'plus_zero': lambda x: x + 0, 'plus_zero_float': lambda x: 0.0 + x,
    'plus_minus_zero': lambda x: x + -0.0, 'minus_zero': lambda x: x - 0.0,
    'minus_minus_zero': lambda x: x - -0.0, 'zero_minus': lambda x: 0 - x,
    'times_zero': lambda x: x * 0, 'zero_times': lambda x: 0.0 * x,
    'times_minus_one': lambda x: x * -1, 'over_minus_one': lambda x: x / -1,
    'over_two': lambda x: x / 2, 'over_three': lambda x: x / 3,
    'over_small': lambda x: x / 2.0 ** -1074, 'over_huge': lambda x:
    x / 2.0 ** 1023, 'over_zero': lambda x: x / 0.0,
    'power_one': lambda x: (x * 1.0) ** 1,
    'itself_away': lambda x: x * 1 - x * 1, 'itself': lambda x: x / x,
    'less_itself': lambda x: (x < x, x == x, x != x, x <= x),
    'largest': lambda x: np.maximum(x, x), 'where_same': lambda x:
    np.where(x > 0, x, x), 'always': lambda x: np.where(True, x, 0.0),
    'not_less': lambda x: (np.where(x < 0, 0.0, x), np.where(x >= 0, x, 0.0)),
    'distributed': lambda x: x * 3 + x * 2, 'moved': lambda x: (x + 1) - 1,
    'ordered': lambda x: ((x + 0.1) + 0.2, x + (0.1 + 0.2)),
    'ones_of_another_dtype': lambda x: x * np.ones((), 'f8'),
    'ones_that_broadcast': lambda x: x * np.ones((2, 1)),
    'negative_twice': lambda x: -(-(x * 1)), 'abs_abs': lambda x: abs(abs(
        x * 1)), 'sqrt_square': lambda x: np.sqrt(x * x),
    'exp_log': lambda x: np.exp(np.log(x)),
}
NUMBERS_OF_ALL_KINDS = [0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 5e-324,
                        1e-310, 1.7e308, -1e300, 2.0 ** 53 + 2]


@pytest.mark.parametrize('name', IDENTITIES)
def test_what_looks_like_an_identity_keeps_bits_and_warnings(name):
    g = IDENTITIES[name]
    f = lambda x: ad.tree_leaves(g(x))
    with np.errstate(all='ignore'):
        whole = np.array(NUMBERS_OF_ALL_KINDS)
        xs = [whole, np.resize(whole, 1030), whole.astype('f4'),
              whole.astype('f2'), np.arange(-3, 4), np.arange(5, dtype='u1'),
              np.arange(-3, 4, dtype='i1'), np.array([True, False]), 1, True]
    for state in ({}, {'all': 'raise', 'under': 'ignore'}):
        compiled = ad.jit(f)
        for x in [*xs, *whole, *whole.tolist()]:
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
# What is multiplied by one is in another order than the product.
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
def test_a_copy_that_is_left_out_may_be_in_another_order(name):
    f = ORDERS[name]
    for seed in range(20):
        x = np.random.default_rng(seed).standard_normal((17, 13)).T
        assert_identical(ad.jit(f)(x), f(x))


def dyed(x):
    """Return a fresh array, which a careless plan would use again."""
    return np.sin(x) * 2


OVERLAPS = {
    'view_lives': lambda x, y: (lambda a: (a[::2] + 1, a * 3))(dyed(x)),
    'view_outlives': lambda x, y: (lambda v, b: v * b[::2])(
        *(lambda a: (a[::2], np.cos(a * 3)))(dyed(x))),
    'view_is_returned': lambda x, y: (lambda a: (a.T, a * 2 + 1))(dyed(x)),
    'mirrored': lambda x, y: (lambda a: a * a[::-1])(dyed(x)),
    'transposed': lambda x, y: (lambda a: a + a.T)(dyed(x)),
    'twice': lambda x, y: (lambda a: (a, a, a + 0))(dyed(x)),
    'again': lambda x, y: (dyed(x), dyed(x), dyed(x) * 2),
    'product': lambda x, y: (lambda a: a @ y.T * a)(dyed(x)),
    'running': lambda x, y: (lambda a: np.cumsum(a, 0) * a)(dyed(x)),
    'select': lambda x, y: (lambda a: np.where(a > 0, a, y))(dyed(x)),
    'single': lambda x, y: (lambda a: a.astype('f4') * a)(dyed(x)),
    'joined': lambda x, y: np.concatenate([dyed(x), dyed(x) * y]),
    'narrow': lambda x, y: dyed(x)[:, :1] * x + dyed(y)[:1],
}


@crossed('name, n', OVERLAPS, (32, 260))
def test_no_buffer_is_used_again_while_somebody_looks_at_it(name, n):
    f = lambda *xs: ad.tree_leaves(OVERLAPS[name](*xs))
    row = ((n, n), 'f8', 'C', 'mild')
    check_program(f, maker([row, row]), {}, True)
    whole = numbers(np.random.default_rng(2), (n + 1, n), 'f8', 'mild')
    check(f, lambda _: (whole[1:], whole[:-1]), {})
    check(f, lambda _: (whole[1:], whole[1:]), {})
    check(f, lambda _: (whole[1:], whole[:0:-1]), {})


# Powers

@pytest.mark.parametrize('n', [3, 4, 5, 7, -1, -2, 0.5, 1.5, 0, 1, 2])
def test_powers_are_those_of_the_interpreters(n):
    """NumPy's own are other bits where the exponent is three or more."""
    f = lambda x: x ** n
    rng = np.random.default_rng(1)
    for x in (0.7, np.float64(1.3), rng.uniform(0.1, 2, 5), rng.uniform(
            0.1, 2, 1030), rng.uniform(0.1, 2, 66_000),
            rng.uniform(0.1, 2, 5).astype('f4')):
        y, _ = ad.jvp(f, (x,), (x,))
        assert_identical(ad.jit(f)(x), y)
        g = ad.value_and_grad(lambda x: np.sum(f(x) * x))
        assert_identical(ad.jit(g)(x), g(x))
