"""The checks that mutants have to pass: tests of the suite, as functions.

Tests of programs and of hard points are used unchanged. Programs with
functions or programs inside are compared with twins whose control flow is
Python's. Their rules are wrong on purpose, so a result shows whether its rule
was used.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, wraps
from math import inf, nan

import numpy as np
import scipy.special

import autodiff_mini as ad
from autodiff_mini.core import ufunc_table
from autodiff_mini.higher_order.call import call
from autodiff_mini.interpreters import jvp
from autodiff_mini.zeros import Zero
from tests import (
    test_abstract,
    test_hard_points,
    test_programs,
    test_special,
    test_transpose,
    test_vmap,
)
from tests.hard_points import POINTS, SLOPES_OF_TWO
from tests.jaxpr_checks import check_jaxpr
from tests.more import test_fft, test_special_rows
from tests.numerical import (
    assert_close, assert_same, assert_same_type, derivative)
from tests.test_unrolled import unrolled

same_bits = test_hard_points.assert_same_bits


@dataclass(frozen=True, eq=False)
class Check:
    """A test and its arguments."""

    test: Callable
    item: object

    def __str__(self):
        return f'{self.test.__name__}[{self.item}]'

    def run(self):
        with warnings.catch_warnings(), np.errstate(all='ignore'):
            warnings.simplefilter('ignore')
            self.test(self.item)


# Of programs

def jit_is_eager(program):
    """The program and its derivative equal their jitted versions."""
    f = partial(program.function, np)
    assert_same(ad.jit(f)(*program.args), f(*program.args), program.ulps)
    tangents = test_programs.tangents_for(program)
    push = lambda *args: ad.jvp(f, args, tangents)[1]
    if test_programs.is_inexact(f(*program.args)):
        assert_same(ad.jit(push)(*program.args), push(*program.args), 8)


def rules_return_tangents(program):
    """A rule's tangent has the shape and the dtype of its result.

    Otherwise, the code outside would convert the dtype and hide the mistake.
    """
    kept = dict(jvp.rules)

    def checked(rule):
        @wraps(rule)
        def run(*args, **params):
            y, y_dot = rule(*args, **params)
            many = isinstance(y, list)
            for x, t in zip(y if many else [y], y_dot if many else [y_dot]):
                if type(t) is not Zero and not ad.typeof(t).weak_type and (
                        not ad.typeof(x).weak_type):
                    assert_same_type(t, x)
            return y, y_dot
        return run
    try:
        jvp.rules.update({p: checked(rule) for p, rule in kept.items()})
        ad.jvp(partial(program.function, np), program.args,
               test_programs.tangents_for(program))
    finally:
        jvp.rules.update(kept)


def vmap_of_slopes(program):
    """Reverse mode works inside and outside of vmap."""
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


ROWS_APART = [np.array([[12, 18, 5], [7, 64, 1000]]),
              np.array([[8, 27, 10], [21, 48, 6]])]
ENDS = np.array([-inf, -1, -0.0, 0, 0.5, 1, inf, nan])


def ufunc_of_numbers(ufunc):
    """Values are right at the ends, and for very different rows under vmap.
    """
    def is_for(code):
        return any(kinds.startswith(code * ufunc.nin + '->')
                   for kinds in ufunc.types)

    for code, scale in ('l', 1), ('d', 0.1):
        args = [x.astype(code) * scale for x in ROWS_APART[:ufunc.nin]]
        for axes in [0, 0], [None, 0], [0, None]:
            if not is_for(code) or None in axes and ufunc.nin == 1:
                continue
            rows = [x if axis == 0 else x[0] for x, axis in zip(args, axes)]
            expected = np.stack([ufunc(*[
                x[i] if axis == 0 else x for x, axis in zip(rows, axes)])
                for i in range(2)])
            same_bits(ad.vmap(ufunc, axes[:ufunc.nin])(*rows), expected)
    for args in [ENDS], [ENDS, np.full(8, 0.5)], [np.full(8, 1.5), ENDS]:
        if len(args) == ufunc.nin and is_for('d'):
            same_bits(ad.jit(ufunc)(*args), ufunc(*args))
            assert ad.make_jaxpr(ufunc)(*[x[4] for x in args]).out_avals == [
                ad.typeof(ufunc(*[x[4] for x in args]))]


def slope_in_a(item):
    """The slope of the incomplete gamma function, by differences of mpmath.
    """
    test_special_rows.test_slopes_of_incomplete_gamma_functions_in_a(*item)
    a, x = np.array([item, [1.5, 2.5]]).T
    slope = ad.grad(scipy.special.gammainc)
    assert_close(ad.vmap(ad.jit(slope))(a, x),
                 np.array([slope(*pair) for pair in zip(a, x)]))


def slope_of_known_values(function):
    """NumPy extends this function to complex numbers by value."""
    last = 0.3 if 'arc' in function.__name__ else 3.0     # beside a cut
    x, x_dot = np.array([-0.5, last]), np.array([0.5, 1.5])
    y, y_dot = ad.jvp(function, (x,), (x_dot,))
    assert_same(y, function(x), 2)
    assert_close(y_dot, derivative(lambda h: function(x + h * x_dot)))


def places_of_known_values(places):
    x = np.array([3.0, 0.0, 2.0])
    same_bits(ad.jvp(lambda x: x[places(x)], (x,), (x,))[1], x[places(x)])


def axes_of_logsumexp(axis):
    for keepdims in True, False:
        test_special.test_logsumexp_takes_axes_and_keepdims(axis, keepdims)


def fourier_bits(case):
    test_fft.test_values_have_the_bits_of_numpy(*case)


EXTENDED = [lambda x: np.emath.power(x, 1.5), lambda x: np.emath.logn(3, x)]
EXTENDED += [getattr(np.emath, name) for name in (
    'sqrt', 'log', 'log2', 'log10', 'arccos', 'arcsin', 'arctanh')]


def checks_of_functions():
    """Yield the checks of ufuncs, and of functions that need values."""
    for ufunc in ufunc_table:
        if isinstance(ufunc, np.ufunc) and ufunc.nin < 3 and (
                ufunc.nout == 1 and not ufunc.signature):
            yield Check(ufunc_of_numbers, ufunc)
    yield from (Check(slope_of_known_values, f) for f in EXTENDED)
    yield from (Check(slope_in_a, pair) for pair in (
        (0.3, 1.31), (2.5, 3.4), (2.5, 60.0)))
    yield Check(axes_of_logsumexp, -1)
    for places in np.nonzero, np.flatnonzero, np.argwhere:
        yield Check(places_of_known_values, places)
    yield from (Check(fourier_bits, case) for case in test_fft.CASES[1::3])


def unless(*groups, test):
    """Return the test for all programs except these."""
    names = {str(program) for group in groups for program in group}

    @wraps(test)
    def run(program):
        if program.name not in names:
            test(program)
    return run


OF_PROGRAMS = [
    test_programs.test_values_equal_numpys_and_tangents_the_derivative,
    rules_return_tangents,
    test_programs.test_tangent_of_one_argument_at_a_time,
    unless(test_vmap.UNMAPPED, test=test_vmap.test_vmap_is_the_stack),
    unless(test_abstract.NOT_STAGED,
           test=test_abstract.test_types_are_those_of_what_numpy_returns),
    unless(test_abstract.NOT_STAGED,
           test=test_transpose.test_vjp_is_the_transpose_of_jvp),
    unless(test_abstract.NOT_STAGED, test=jit_is_eager),
    unless(test_abstract.NOT_STAGED, test_vmap.UNMAPPED, test_vmap.INDEXED,
           test=vmap_of_slopes),
]


def checks_of_points(rows):
    """Yield the checks of the hard points of these rows."""
    tests = test_hard_points
    sloped = {*tests.SLOPED}
    for point in POINTS:
        if str(point.row) in rows:
            yield Check(tests.test_the_value_is_numpys, point)
            if point.bars and point in sloped:
                yield Check(tests.test_slopes_at_hard_points_are_right,
                            point)
            if point in sloped:
                yield Check(tests.test_both_modes_agree, point)
            yield Check(tests.test_vmap_is_the_stack, point)
    linear = tests.test_linear_primitives_treat_tangents_as_primals
    for test, of in ((tests.test_hard_single_numbers_are_right, tests.ROWS),
                     (tests.test_ranks_can_differ_under_vmap, SLOPES_OF_TWO),
                     (linear, ('real', 'imag', 'conj', 'neg')),
                     (tests.test_hard_python_numbers_are_right,
                      tests.OPERATORS),
                     (what_is_neutral, NEUTRAL)):
        yield from (Check(test, row) for row in rows if row in of)
    if 'astype' in rows:
        yield Check(linear, 'conj')


# Functions and programs, each against a twin with Python's control flow.

@ad.custom_jvp
def sine(x):
    return np.sin(x)


@ad.custom_jvp
def uses_linearly(x):
    return np.sin(x)


@ad.custom_jvp
def times_cosine(t, x):
    return t * np.cos(x)


sine.defjvp(lambda p, t: (sine(*p), 3 * np.cos(p[0]) * t[0]))
uses_linearly.defjvp(lambda p, t: (uses_linearly(*p),
                                   times_cosine(*t, *p)))
times_cosine.defjvp(lambda p, t: (times_cosine(*p), times_cosine(
    t[0], p[1]) - 10 * p[0] * np.sin(p[1]) * t[1]))


@ad.custom_vjp
def square(x):
    return x * x


square.defvjp(lambda x: (square(x), (x, 3.0)),
              lambda r, ct: (r[1] * r[0] * ct,))


def loop(system, x):
    """A carry that depends on x late, constants, rows, and reverse order."""
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


def in_call(call, x):
    a, b = call(lambda y, z: [np.sum(y * z), np.sin(y) * x], x, 2 * x)
    return a * b


def quietly(f):
    """Return `f`, computed in its own error state."""
    def run(*xs):
        with np.errstate(over='raise'):
            return f(*xs)
    return run


def in_wrapper(wrap, x):
    f = wrap(lambda y, z: (np.sin(y) * z, np.cos(z) * 2, y))
    a, b, c = f(x, x * x)
    return f(a, 3.0 * b)[0] + b + c


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


BOTH = {   # a program, and how the library and Python run it
    'scan': (loop, ad, unrolled), 'cond': (branches, ad, unrolled),
    'while': (while_less, ad, unrolled),
    'checkpoint': (in_wrapper, ad.checkpoint, lambda f: f),
    'jit': (in_wrapper, ad.jit, lambda f: f),
    'errstate': (in_wrapper, lambda f: ad.jit(quietly(f)), lambda f: f),
    'call': (in_call, call, lambda f, *xs: f(*xs)),
    'custom_vmap': (use_powers, powers, powers.fun),
}
# Lies: a function, and the first two derivatives that its rule gives.
SINE = [np.sin, lambda x: 3 * np.cos(x), lambda x: -3 * np.sin(x)]
SQUARE = [lambda x: x * x, lambda x: 3 * x, lambda x: 0 * x + 3]
UNDER = {
    'jit': ad.jit, 'checkpoint': ad.checkpoint,
    'scan': lambda f: lambda x: ad.scan(
        lambda c, _: (f(c), None), x, None, length=1)[0],
    'cond': lambda f: lambda x: ad.cond(x[0] > 0, f, lambda x: x, x),
}
LIES = {'jvp': (sine, *SINE), 'vjp': (square, *SQUARE),
        'jvp_used_linearly': (uses_linearly, np.sin, np.cos,
                              lambda x: -10 * np.sin(x))}
LIES |= {f'{kind}_in_{name}': (wrap(lambda x, f=f: f(x)), *orders)
         for name, wrap in UNDER.items()
         for kind, f, *orders in (('jvp', sine, *SINE),
                                  ('vjp', square, *SQUARE))}
X, X_DOT = np.array([0.7, 1.1, 1.6]), np.array([1.0, -0.5, 2.0])
XS = np.stack([X, X * 0.5, X + 1])


def push(f):
    return lambda x: ad.jvp(f, (x,), (X_DOT,))[1]


def pull(f):
    return ad.grad(lambda x: np.sum(f(x) * X_DOT))


def staged(f):
    def run(x):
        jaxpr = ad.make_jaxpr(f)(x)
        check_jaxpr(jaxpr)
        y, = ad.eval_jaxpr(jaxpr, jaxpr.consts, x)
        assert jaxpr.out_avals == [ad.typeof(y)]
        return y
    return run


# Nestings by name, from the outside in, for the library and for the twin.
OURS = {
    'jvp': push, 'grad': pull, 'jit': ad.jit, 'checkpoint': ad.checkpoint,
    'jaxpr': staged,
    'linearize': lambda f: lambda x: ad.linearize(f, x)[1](X_DOT),
    'vmap': lambda f: lambda x: ad.vmap(f)(np.stack([x, x * 0.5, x + 1])),
    'jvpvalue': lambda f: lambda x: ad.jvp(f, (x,), (X_DOT,))[0],
    'vjpvalue': lambda f: lambda x: ad.vjp(f, x)[0],
    'linearizevalue': lambda f: lambda x: ad.linearize(f, x)[0]}
TWINS = {
    'jvp': push, 'grad': pull, 'linearize': push,
    'vmap': lambda f: lambda x: np.stack([f(x), f(x * 0.5), f(x + 1)])}
WAYS = '''jvp grad jvpvalue vjpvalue linearizevalue vmap jit jaxpr linearize
    vmap_jvp vmap_grad jit_jvp jit_grad jit_vmap jvp_jit grad_jit
    vmap_jit jvp_jvp grad_grad jvp_grad grad_jvp jit_grad_jit grad_checkpoint
    jit_vmap_grad vmap_linearize jvp_jaxpr vmap_jaxpr grad_jaxpr jvp_vmap
    grad_vmap vmap_vmap'''.split()
WAYS = [tuple(way.split('_')) for way in WAYS]
FORWARD = {'jvp', 'linearize', 'jvpvalue', 'linearizevalue'}
SLOPES = {'jvp', 'grad', 'linearize'}


def apply(ways, way, f):
    for name in reversed(way):
        f = ways.get(name, lambda f: f)(f)
    return f


def assert_equal(actual, expected):
    assert_same_type(actual, expected)
    assert_close(actual, expected)


def way_of_a_program(item):
    name, way = item
    f, ours, theirs = BOTH[name]
    assert_equal(apply(OURS, way, partial(f, ours))(X),
                 apply(TWINS, way, partial(f, theirs))(X))


def way_of_a_lie(item):
    name, way = item
    f, *orders = LIES[name]
    order = sum(step in SLOPES for step in way)
    expected = orders[order](XS if 'vmap' in way else X)
    assert_equal(apply(OURS, way, f)(X),
                 expected * X_DOT**order if order else expected)


@ad.custom_vmap
def in_batches(x):
    return x * x


in_batches.def_vmap(lambda axis_size, in_batched, x: (3 * x * x, True))


def way_of_a_batch(way):
    """The rule says three times the truth, and so do its derivatives."""
    order = sum(step in SLOPES for step in way)
    expected = [3 * XS * XS, 6 * XS * X_DOT][order]
    for f in in_batches, ad.jit(in_batches):
        assert_equal(apply(OURS, way, f)(X), expected)


def lie_under_vmap(name):
    """The rule is batched with its function, and used afterwards."""
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
        assert_equal(ad.jvp(pull, (XS,), (XS,))[1], second(XS) * XS * XS)


# Values that they pass on unchanged keep their bits.

@ad.custom_jvp
def through_jvp(x):
    return x


@ad.custom_vjp
def through_vjp(x):
    return x


@ad.custom_vmap
def through_vmap(x):
    return x


through_jvp.defjvp(lambda p, t: (through_jvp(*p), t[0]))
through_vjp.defvjp(lambda x: (x, None), lambda _, ct: (ct,))
through_vmap.def_vmap(lambda axis_size, in_batched, x: (x, in_batched[0]))
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
    'custom_jvp': through_jvp, 'custom_vjp': through_vjp,
    'custom_vmap': through_vmap,
}
HARD = np.array([nan, inf, -0.0, 1.0])


def bits_go_through(name):
    f = lambda x: THROUGH[name](x)
    same_bits(f(HARD), HARD)
    same_bits(ad.jit(f)(HARD), HARD)
    same_bits(ad.vmap(f)(np.stack([HARD, HARD]))[1], HARD)
    if name != 'scan':
        for x in 0.5, np.float64(0.5):
            assert ad.make_jaxpr(f)(x).out_avals == [ad.typeof(f(x))]
    if name != 'custom_vjp':
        for t in ad.jvp(f, (HARD,), (HARD,)):
            same_bits(t, HARD)
    if name != 'while':
        y, f_vjp = ad.vjp(f, HARD)
        same_bits(y, HARD)
        same_bits(f_vjp(HARD)[0], HARD)
        same_bits(ad.jit(lambda x: ad.vjp(f, x)[1](x)[0])(HARD), HARD)


# What simplification drops.
NEUTRAL = {
    'mul': lambda x, n: (x * n(1), n(1) * x),
    'add': lambda x, n: (x + n(-0.0), n(-0.0) + x),
    'sub': lambda x, n: (x - n(0), x - n(0)),
    'div': lambda x, n: (x / n(1), x / n(1)),
    'pow': lambda x, n: (x ** n(1), x ** n(1)),
}


def what_is_neutral(name):
    """Simplification drops the neutral operand and keeps the other one."""
    for n in float, np.float64, int:
        for x in 0.7, np.float64(0.7), X, np.float32(0.7):
            f = lambda x, n=n: NEUTRAL[name](x * x + x, n)
            for y, expected in zip(ad.jit(f)(x), f(x), strict=True):
                same_bits(y, expected)


def arrays_may_change(mode):
    """Copies of arrays and of views do not change with the originals."""
    def kept(w, x):
        def f(x):
            column = np.reshape(x, (3, 1))
            return np.sum(column * np.reshape(x, (1, 3)) * np.sin(w), 1) * w
        held = ad.linearize(f, x)[1] if mode == 'linearize' else (
            ad.vjp(f, x)[1])
        return lambda t: ad.tree_leaves(held(t))[0]

    x, w = X.copy(), X_DOT.copy()
    held = kept(np.reshape(w[:], 3), x[:])
    x[:], w[:] = 0, 0
    assert_equal(held(X_DOT), kept(X_DOT, X)(X_DOT))


def what_stops_is_linear(ndim):
    """Its transpose stops the derivatives of the cotangent."""
    x = X if ndim else X[0]
    assert ad.make_jaxpr(ad.stop_gradient)(x).out_avals == [ad.typeof(x)]
    assert_equal(ad.linear_transpose(ad.stop_gradient, x)(x)[0], x)


def checks_of_programs_of_programs():
    """Yield the checks of the rows that hold functions or programs."""
    yield Check(what_stops_is_linear, 0)
    yield Check(what_stops_is_linear, 1)
    yield from (Check(bits_go_through, name) for name in THROUGH)
    yield Check(arrays_may_change, 'linearize')
    yield Check(arrays_may_change, 'vjp')
    for way in WAYS:
        backward = {'grad', 'vjpvalue'} & {*way}
        yield from (Check(way_of_a_program, (name, way)) for name in BOTH
                    if not (name == 'while' and backward))
        if way[0] == 'vmap' != way[-1] or way == ('vmap',):
            yield Check(way_of_a_batch, way)
        yield from (Check(way_of_a_lie, (name, way)) for name in LIES
                    if not ('vjp' in name and FORWARD & {*way}
                            or way[1:] == ('vmap',)
                            or 'cond' in name and 'vmap' in way))
    yield from (Check(lie_under_vmap, name) for name in LIES
                if 'cond' not in name)
