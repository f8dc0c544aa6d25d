"""What the mutants are shown: tests of the suite, called as functions.

Those of programs and of hard points are taken as they are.  What carries
functions and programs is compared with twins, in which Python does the
control flow, and with rules that lie, so that it shows who was asked.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, wraps
from math import inf, nan

import numpy as np

import autodiff_mini as ad
from autodiff_mini.higher_order.call import call
from tests import (
    test_abstract,
    test_hard_points,
    test_programs,
    test_transpose,
    test_vmap,
)
from tests.hard_points import POINTS, SLOPES_OF_TWO
from tests.jaxpr_checks import check_jaxpr
from tests.numerical import assert_close, assert_same, assert_same_type
from tests.test_unrolled import unrolled


@dataclass(frozen=True, eq=False)
class Check:
    """A test, and what it is called with."""

    test: Callable
    item: object

    def __str__(self):
        return f'{self.test.__name__}[{self.item}]'

    def run(self):
        with warnings.catch_warnings(), np.errstate(all='ignore'):
            warnings.simplefilter('ignore')
            self.test(self.item)


def jit_is_eager(program):
    """As test_jit, on the program and on its derivative."""
    f = partial(program.function, np)
    if program.name in test_abstract.NOT_STAGED:
        return
    assert_same(ad.jit(f)(*program.args), f(*program.args), program.ulps)
    tangents = test_programs.tangents_for(program)

    def push(*args):
        return ad.jvp(f, args, tangents)[1]

    if test_programs.is_inexact(f(*program.args)):
        assert_same(ad.jit(push)(*program.args), push(*program.args), 8)


def vmap_of_slopes(program):
    """Reverse mode below and above vmap."""
    if program.name in {*test_abstract.NOT_STAGED, *test_vmap.UNMAPPED,
                        *test_vmap.INDEXED}:
        return
    f, axes = partial(program.function, np), [0] * len(program.args)
    args = test_vmap.batched(program, axes)
    y = f(*[x[0] for x in args])
    if not test_programs.is_inexact(y):
        return
    ct = test_transpose.cotangent_for(y)
    pull = lambda *xs: ad.vjp(f, *xs)[1](ct)
    x_bars = ad.vmap(pull)(*args)
    above = ad.vjp(ad.vmap(f), *args)[1](np.stack([ct] * test_vmap.SIZE))
    for i, (x, x_bar, other) in enumerate(zip(args, x_bars, above)):
        if test_programs.is_inexact(x):
            assert_close(x_bar, np.stack(
                [pull(*[x[k] for x in args])[i] for k in range(len(x))]))
            assert_close(other, x_bar)


def unless(*groups, test):
    """Returns the test for all programs but these, which it is not for."""
    names = {str(program) for group in groups for program in group}

    @wraps(test)
    def run(program):
        if program.name not in names:
            test(program)
    return run


OF_PROGRAMS = [
    test_programs.test_jvp_computes_what_numpy_computes,
    test_programs.test_tangent_is_the_derivative,
    test_programs.test_tangent_of_one_argument_at_a_time,
    unless(test_vmap.UNMAPPED, test=test_vmap.test_vmap_is_the_stack),
    unless(test_abstract.NOT_STAGED,
           test=test_abstract.test_types_are_those_of_what_numpy_returns),
    unless(test_abstract.NOT_STAGED,
           test=test_transpose.test_vjp_is_the_transpose_of_jvp),
    jit_is_eager,
    vmap_of_slopes,
]


def checks_of_points(rows):
    """Returns the checks of the hard points of these rows."""
    tests = test_hard_points
    sloped = {*tests.SLOPED}
    for point in POINTS:
        if str(point.row) in rows:
            yield Check(tests.test_the_value_is_numpys, point)
            if point.bars and point in sloped:
                yield Check(tests.test_the_slopes_are_those_of_mathematics,
                            point)
            if point in sloped:
                yield Check(tests.test_both_modes_agree, point)
            yield Check(tests.test_vmap_is_the_stack, point)
    for row in rows:
        if row in tests.ROWS:
            yield Check(tests.test_single_numbers, row)
        if row in ('scatter', 'add_at'):
            yield Check(type_of_scatter, row)
        if row in SLOPES_OF_TWO:
            yield Check(tests.test_ranks_may_differ_under_vmap, row)
        if row in ('real', 'imag', 'conj', 'neg', 'astype'):
            yield Check(
                tests.test_what_is_linear_does_to_tangents_what_it_does,
                'conj' if row == 'astype' else row)
        if row in tests.OPERATORS:
            yield Check(tests.test_numbers_of_python, row)
        if row in NEUTRAL:
            yield Check(what_is_neutral, row)

# Functions and programs: each against a twin in which Python does it.


@ad.custom_jvp
def sine(x):
    return np.sin(x)


sine.defjvp(lambda p, t: (sine(*p), 3 * np.cos(p[0]) * t[0]))


@ad.custom_jvp
def uses_linearly(x):
    return np.sin(x)


@ad.custom_jvp
def times_cosine(t, x):
    return t * np.cos(x)


uses_linearly.defjvp(lambda p, t: (uses_linearly(*p),
                                   times_cosine(*t, *p)))
times_cosine.defjvp(lambda p, t: (times_cosine(*p), times_cosine(
    t[0], p[1]) - 10 * p[0] * np.sin(p[1]) * t[1]))


@ad.custom_vjp
def square(x):
    return x * x


square.defvjp(lambda x: (square(x), (x, 3.0)), lambda r, ct: (r[1] * r[0]
                                                             * ct,))


def loop(system, x):
    """Carries, of which one moves later; constants; rows; reverse."""
    v, w = np.cos(x), 2 * x[::-1]

    def body(carry, row):
        a, b, c, n = carry
        return (b * 0.5 + row * v, np.sin(a) * w, a, n + 1), (
            a * row + b * n, c)

    (a, b, c, n), (ys, zs) = system.scan(
        body, (3 * x, x * x, np.ones(3), 0.0),
        np.outer([1.0, 2.0], x) + 1, reverse=True)
    return a + b * n + c + ys[0] + 2 * ys[1] + 3 * zs[0] + 5 * zs[1]


def branches(system, x):
    def pick(x):
        return system.cond(np.sum(x) > 2, lambda x, y: (x * y, y),
                           lambda x, y: (y + np.sin(x), x), x, 3 * x)
    a, b = pick(x)
    c, d = pick(-x)
    return a + 2 * b + 3 * c + 5 * d


def while_less(system, x):
    def body(c):
        i, a, b = c
        return i + 1, a * b, b + np.sin(a) * x[1]
    i, a, b = system.while_loop(lambda c: (c[0] < 3) & (c[2][0] < 9), body,
                                (np.where(x[0] > 1, 1, 0), x, 0.5 * x))
    return a + 2 * b + 5 * i


def in_call(system, x):
    a, b = call(lambda y, z: [np.sum(y * z), np.sin(y) * x], x, 2 * x)
    return a * b


def in_checkpoint(system, x):
    f = system.checkpoint(lambda y, z: (np.sin(y) * z, np.cos(z) * 2))
    a, b = f(x, x * x)
    return f(a, 3.0 * b)[0] + b


@ad.custom_vmap
def powers(x, y, n):
    return x * y, np.sin(y), y ** n, n


@powers.def_vmap
def powers_vmap(axis_size, in_batched, x, y, n):
    x_in, y_in, n_in = in_batched
    return powers.fun(x, y, n), (x_in or y_in, y_in, y_in or n_in, n_in)


def use_powers(powers, x):
    w = np.array([0.5, 2.0, 1.5])
    a, b, c, n = powers(x, w, np.array([1, 2, 3]))
    d, e, f, _ = powers(np.cos(x), x * a, n)
    return a * b + c * d + e * f


def in_jit(system, x):
    f = system.jit(lambda y, z: (np.sin(y) * z, np.cos(z) * 2, y))
    a, b, c = f(x, x * x)
    return f(a, 3.0 * b)[0] + b + c


def without_call(system, x):
    return np.sum(2 * x * x) * np.sin(x) * x


BOTH = {   # programs, and what their twins are
    'scan': (partial(loop, ad), partial(loop, unrolled)),
    'cond': (partial(branches, ad), partial(branches, unrolled)),
    'while': (partial(while_less, ad), partial(while_less, unrolled)),
    'checkpoint': (partial(in_checkpoint, ad),
                   partial(in_checkpoint, unrolled)),
    'jit': (partial(in_jit, ad), partial(in_jit, unrolled)),
    'call': (partial(in_call, ad), partial(without_call, ad)),
    'custom_vmap': (partial(use_powers, powers),
                    partial(use_powers, powers.fun)),
}
# Lies, by the order of the derivative: what the rule makes of it.
LIES = {
    'custom_jvp': (sine, np.sin, lambda x: 3 * np.cos(x),
                   lambda x: -3 * np.sin(x)),
    'custom_jvp_below': (lambda x: ad.jit(sine)(x) * 2,
                         lambda x: 2 * np.sin(x), lambda x: 6 * np.cos(x),
                         lambda x: -6 * np.sin(x)),
    'custom_jvp_used_linearly': (
        lambda x: uses_linearly(x), np.sin, np.cos,
        lambda x: -10 * np.sin(x)),
    'custom_vjp': (square, lambda x: x * x, lambda x: 3 * x,
                   lambda x: 0 * x + 3),
    'custom_vjp_below': (lambda x: ad.jit(square)(x) + x,
                         lambda x: x * x + x, lambda x: 3 * x + 1,
                         lambda x: 0 * x + 3),
    'custom_jvp_in_scan': (lambda x: ad.scan(
        lambda c, _: (sine(c), None), x, None, length=1)[0], np.sin,
        lambda x: 3 * np.cos(x), lambda x: -3 * np.sin(x)),
    'custom_vjp_in_scan': (lambda x: ad.scan(
        lambda c, _: (square(c), None), x, None, length=1)[0],
        lambda x: x * x, lambda x: 3 * x, lambda x: 0 * x + 3),
    'custom_jvp_in_checkpoint': (
        ad.checkpoint(lambda x: sine(x)), np.sin, lambda x: 3 * np.cos(x),
        lambda x: -3 * np.sin(x)),
    'custom_vjp_in_cond': (lambda x: ad.cond(
        x[0] > 0, square, lambda x: x, x), lambda x: x * x,
        lambda x: 3 * x, lambda x: 0 * x + 3),
}
X, X_DOT = np.array([0.7, 1.1, 1.6]), np.array([1.0, -0.5, 2.0])
XS = np.stack([X, X * 0.5, X + 1])


def total(f):
    return lambda x: np.sum(f(x) * X_DOT)


def push(f):
    return lambda x: ad.jvp(f, (x,), (X_DOT,))[1]


def staged(f):
    def run(x):
        jaxpr = ad.make_jaxpr(f)(x)
        check_jaxpr(jaxpr)
        y, = ad.eval_jaxpr(jaxpr, jaxpr.consts, x)
        assert jaxpr.out_avals == [ad.typeof(y)]
        return y
    return run


def beside_jvp(f):
    return lambda x: ad.jvp(f, (x,), (X_DOT,))[0]


def beside_vjp(f):
    return lambda x: ad.vjp(f, x)[0]


def beside_linear(f):
    return lambda x: ad.linearize(f, x)[0]


def linear(f):
    return lambda x: ad.linearize(f, x)[1](X_DOT)


def pull(f):
    return ad.grad(total(f))


def rows(f):
    return lambda x: ad.vmap(f)(np.stack([x, x * 0.5, x + 1]))


def rows_by_hand(f):
    return lambda x: np.stack([f(x), f(x * 0.5), f(x + 1)])


def itself(f):
    return f


# How it is transformed, and how its twin is.
WAYS = {
    'value': ([], []), 'jvp': ([push], [push]), 'grad': ([pull], [pull]),
    'value_of_linearize': ([beside_linear], []),
    'value_of_jvp': ([beside_jvp], []), 'value_of_vjp': ([beside_vjp], []),
    'vmap': ([rows], [rows_by_hand]), 'jit': ([ad.jit], []),
    'jaxpr': ([staged], []), 'linearize': ([linear], [push]),
    'vmap_of_jvp': ([push, rows], [push, rows_by_hand]),
    'vmap_of_grad': ([pull, rows], [pull, rows_by_hand]),
    'jit_of_jvp': ([push, ad.jit], [push]),
    'jit_of_grad': ([pull, ad.jit], [pull]),
    'jit_of_vmap': ([rows, ad.jit], [rows_by_hand]),
    'jvp_of_jit': ([ad.jit, push], [push]),
    'grad_of_jit': ([ad.jit, pull], [pull]),
    'vmap_of_jit': ([ad.jit, rows], [rows_by_hand]),
    'jvp_of_jvp': ([push, push], [push, push]),
    'grad_of_grad': ([pull, pull], [pull, pull]),
    'jvp_of_grad': ([pull, push], [pull, push]),
    'grad_of_jvp': ([push, pull], [push, pull]),
    'jit_of_grad_of_jit': ([ad.jit, pull, ad.jit], [pull]),
    'grad_of_checkpoint': ([ad.checkpoint, pull], [pull]),
    'jit_of_vmap_of_grad': ([pull, rows, ad.jit], [pull, rows_by_hand]),
    'vmap_of_linearize': ([linear, rows], [push, rows_by_hand]),
    'jvp_of_jaxpr': ([staged, push], [push]),
    'vmap_of_jaxpr': ([staged, rows], [rows_by_hand]),
    'grad_of_jaxpr': ([staged, pull], [pull]),
    'jvp_of_vmap': ([rows, push], [rows_by_hand, push]),
    'grad_of_vmap': ([rows, pull], [rows_by_hand, pull]),
    'vmap_of_vmap': ([rows, rows], [rows_by_hand, rows_by_hand]),
}


def apply(ways, f):
    for way in ways:
        f = way(f)
    return f


def way_of_a_program(item):
    name, way = item
    f, twin = BOTH[name]
    ours, theirs = WAYS[way]
    assert_equal(apply(ours, f)(X), apply(theirs, twin)(X))


def way_of_a_lie(item):
    name, way = item
    f, *orders = LIES[name]
    ours, _ = WAYS[way]
    order = sum(w in (push, pull, linear) for w in ours)
    points = XS if rows in ours else X
    expected = orders[order](points)
    if order:
        expected = expected * X_DOT**order
    assert_equal(apply(ours, f)(X), expected)


@ad.custom_vmap
def in_batches(x):
    return x * x


in_batches.def_vmap(lambda axis_size, in_batched, x: (3 * x * x, True))


def way_of_a_batch(way):
    """The rule says thrice the truth, and so do its derivatives."""
    ours, _ = WAYS[way]
    order = sum(w in (push, pull, linear) for w in ours)
    expected = [3 * XS * XS, 6 * XS * X_DOT][order]
    assert_equal(apply(ours, in_batches)(X), expected)
    assert_equal(apply(ours, ad.jit(in_batches))(X), expected)


def lie_under_vmap(name):
    """The rule is mapped as the function is, and asked afterwards."""
    f, value, slope, second = LIES[name]
    mapped = ad.vmap(f)
    pull = lambda xs: ad.vjp(mapped, xs)[1](XS)[0]
    for y_vjp in pull, ad.jit(pull):
        assert_equal(y_vjp(XS), slope(XS) * XS)
    if 'vjp' in name:
        _, f_jvp = ad.linearize(f, X)
        assert f_jvp.program.jaxpr.out_avals == [ad.typeof(X)]
        back = ad.linear_transpose(ad.vmap(f_jvp), XS)
        assert_equal(back(XS)[0], slope(X) * XS)
    else:
        y, y_dot = ad.jvp(mapped, (XS,), (XS,))
        assert_equal(y, value(XS))
        assert_equal(y_dot, slope(XS) * XS)
        assert_equal(ad.jvp(pull, (XS,), (XS,))[1],
                     second(XS) * XS * XS)


def assert_equal(actual, expected):
    assert_same_type(actual, expected)
    assert_close(actual, expected)


# What goes through them untouched has the same bits.
THROUGH = {
    'scan': lambda x: ad.scan(lambda c, x: (c, x), 0.0, x[None])[1][0],
    'scan_carry': lambda x: ad.scan(lambda c, _: (c, None), x, None, 2)[0],
    'cond': lambda x: ad.cond(np.sum(x) == 1, lambda x: 2 * x,
                              lambda x: x, x),
    'while': lambda x: ad.while_loop(
        lambda c: c[0] < 2, lambda c: (c[0] + 1, c[1]), (0, x))[1],
    'checkpoint': ad.checkpoint(lambda x: x),
    'call': lambda x: call(lambda x: x, x),
    'jit': lambda x: ad.jit(lambda x: x)(x),
    'custom_jvp': lambda x: through_jvp(x),
    'custom_vjp': lambda x: through_vjp(x),
    'custom_vmap': lambda x: through_vmap(x),
    'custom_jvp_of_tangents': lambda x: through_linear(x),
}


@ad.custom_jvp
def through_jvp(x):
    return x


@ad.custom_vjp
def through_vjp(x):
    return x


@ad.custom_vmap
def through_vmap(x):
    return x


through_vmap.def_vmap(lambda axis_size, in_batched, x: (x, in_batched[0]))
through_jvp.defjvp(lambda p, t: (through_jvp(*p), t[0]))
@ad.custom_jvp
def through_linear(x):
    return x


@ad.custom_jvp
def once(t, x):
    return t * 1.0


through_linear.defjvp(lambda p, t: (through_linear(*p), once(*t, *p)))
once.defjvp(lambda p, t: (once(*p), once(t[0], p[1])))
through_vjp.defvjp(lambda x: (x, None), lambda _, ct: (ct,))
HARD = np.array([nan, inf, -0.0, 1.0])


def bits_go_through(name):
    f, same = THROUGH[name], test_hard_points.assert_same_bits
    same(f(HARD), HARD)
    same(ad.jit(f)(HARD), HARD)
    same(ad.vmap(f)(np.stack([HARD, HARD]))[1], HARD)
    if name != 'scan':
        for x in 0.5, np.float64(0.5):
            assert ad.make_jaxpr(f)(x).out_avals == [ad.typeof(f(x))]
    if name != 'custom_vjp':
        for t in ad.jvp(f, (HARD,), (HARD,)):
            same(t, HARD)
    if name != 'while':
        y, f_vjp = ad.vjp(f, HARD)
        same(y, HARD)
        same(f_vjp(HARD)[0], HARD)
        same(ad.jit(lambda x: ad.vjp(f, x)[1](x)[0])(HARD), HARD)


# What simplification drops.
NEUTRAL = {
    'mul': lambda x, n: (x * n(1), n(1) * x),
    'add': lambda x, n: (x + n(-0.0), n(-0.0) + x),
    'sub': lambda x, n: (x - n(0), x - n(0)),
    'div': lambda x, n: (x / n(1), x / n(1)),
    'pow': lambda x, n: (x ** n(1), x ** n(1)),
}


def what_is_neutral(name):
    """Simplification drops the other operand, and keeps this one."""
    for n in float, np.float64, int:
        for x in 0.7, np.float64(0.7), X, np.float32(0.7):
            f = lambda x, n=n: NEUTRAL[name](x * x + x, n)
            for y, expected in zip(ad.jit(f)(x), f(x), strict=True):
                test_hard_points.assert_same_bits(y, expected)


def kept_by_vjp(f, x):
    f_vjp = ad.vjp(f, x)[1]
    return lambda ct: f_vjp(ct)[0]


def kept_by_linearize(f, x):
    return ad.linearize(f, x)[1]


def arrays_may_change(transform):
    """What is kept of arrays, and of views of them, is kept as it was."""
    def multiply_by(w):
        def f(x):
            column = np.reshape(x, (3, 1))
            return np.sum(column * np.reshape(x, (1, 3)) * np.sin(w), 1) * w
        return f

    x, w = X.copy(), X_DOT.copy()
    held = transform(multiply_by(np.reshape(w[:], 3)), x[:])
    x[:], w[:] = 0, 0
    assert_equal(held(X_DOT), transform(multiply_by(X_DOT), X)(X_DOT))


def type_of_scatter(row):
    """Whoever asks for it makes the dtype right afterwards."""
    x, place = np.ones(2), np.array([1, 1])
    place = place if row == 'add_at' else slice(1, None)
    f = partial(test_transpose.bind_scatter, place=place, shape=(3,))
    assert ad.make_jaxpr(f)(x).out_avals == [ad.typeof(f(x))]


def checks_of_programs_of_programs():
    """Returns the checks of the rows that carry functions or programs."""
    for name in THROUGH:
        yield Check(bits_go_through, name)
    for transform in kept_by_vjp, kept_by_linearize:
        yield Check(arrays_may_change, transform)
    for name in BOTH:
        for way, (ours, _) in WAYS.items():
            if not (name == 'while' and {pull, beside_vjp} & {*ours}):
                yield Check(way_of_a_program, (name, way))
    for way, (ours, _) in WAYS.items():
        if ours[-1:] == [rows] and ours[:1] != [rows] or way == 'vmap':
            yield Check(way_of_a_batch, way)
    for name in LIES:
        if 'cond' not in name:
            yield Check(lie_under_vmap, name)
        for way, (ours, _) in WAYS.items():
            one_way = 'vjp' in name and {push, linear, beside_jvp,
                                           beside_linear} & {*ours}
            if not one_way and not way.endswith('of_vmap') and not (
                    'cond' in name and rows in ours):
                yield Check(way_of_a_lie, (name, way))
