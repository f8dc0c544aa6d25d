"""Programs of single numbers and of short vectors, as Python's arithmetic."""

import math
import re
import warnings

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.primitives.elementwise import max_p, min_p, tanh_p
from autodiff_mini.wings.fast.compiler import FastLowered, Version
from autodiff_mini.wings.fast.scalars import (
    MATH, adds_in_turn, as_numpy, in_turn, raising, ties_alike)
from autodiff_mini.wings.fast.simplify import opened
from tests.support.control_flow import unrolled
from tests.support.identical import Raised, assert_identical, outcome, plain
from tests.support.sources import without_lines

X, V = np.float64(1.5), np.array([0.5, -2.0])


def lowered(f, *args):
    return FastLowered(ad.make_jaxpr(f)(*args))


def source(f, *args):
    return without_lines(lowered(f, *args).source)


def text(arguments, *lines):
    """Return the source of a program that tries these lines."""
    numbers, errors = [], 'ArithmeticError'
    if lines[0].startswith('    '):     # for a function that NumPy runs in
        numbers = [f'def numbers_1({arguments}):', *lines, '', '']
        lines = [f'return raising.run(numbers_1, {arguments})']
        errors += ', RuntimeError'
    errors += ', ValueError' * any(
        name in str(lines) for name in ('sqrt(', 'pow('))
    ufuncs = dict.fromkeys(re.findall(r'np_(\w+)', '\n'.join(
        [*numbers, *lines])))
    head = [f'np_{name} = np.{name}' for name in ufuncs]
    return '\n'.join([
        *head, *['', ''] * bool(head),
        *numbers, f'def program({arguments}):', '    try:',
        *[f'        {line}' for line in lines],
        f'    except ({errors}):', '        pass',
        f'    return careful({arguments})'])


def unless(*names):
    return (f'if not isfinite({" + ".join(names)}):',
            '    raise ArithmeticError')


# The text

SOURCES = {
    'arithmetic': (lambda x, y: (x + y) * 2 - x / y, [X, X], (
        'a, b', 'c = float(a)', 'd = float(b)', 'e = ((c + d) * 2.0) - c / d',
        *unless('e'), 'return [np.float64(e)]')),
    'powers': (lambda x: (x ** 2, x ** -1), [X], (
        'a', 'b = float(a)', 'c = b ** 2', 'd = b ** (-1)',
        *unless('b', 'c', 'd'), 'return [np.float64(c), np.float64(d)]')),
    'powers_of_numpy': (lambda x, y: (x ** -0.2, 2 ** x, y ** x), [X, 1.5], (
        'a, b', 'c = float(a)', 'd = pow(c, (-0.2))', 'e = pow(2, c)',
        'f = pow(b, c)', *unless('c', 'b', 'd', 'e', 'f'),
        'return [np.float64(d), np.float64(e), np.float64(f)]')),
    'of_math': (lambda x: np.sqrt(np.sin(x) + np.cos(x)), [X], (
        'a', 'b = float(a)', 'c = sqrt(sin(b) + cos(b))', *unless('c'),
        'return [np.float64(c)]')),
    'extremes': (lambda x, y: np.maximum(x, y) - np.minimum(x, 0), [X, X], (
        'a, b', 'c = float(a)', 'd = float(b)',
        'e = c if c > d else d if d > c else float(np.maximum(c, d))',
        'f = c if c < 0.0 else 0.0 if 0.0 < c else float(np.minimum(c, 0.0))',
        'g = e - f', *unless('c', 'd', 'g'), 'return [np.float64(g)]')),
    'of_numpy': (lambda x: np.hypot(x, 3) + 1, [X], (
        'a', '    b = float(a)', '    c = (float(np_hypot(b, 3.0))) + 1.0',
        '    if not isfinite(b + c):',
        '        raise ArithmeticError', '    return [np.float64(c)]')),
    'without_errors': (lambda x: (np.log(np.exp(x)), np.tanh(x) * x), [X], (
        'a', 'b = float(a)', 'if not b < 709.0:', '    raise ArithmeticError',
        'c = float(np_exp(b))', 'if not c > 0.0:', '    raise ArithmeticError',
        'd = np_log(c)', 'e = float(np_tanh(b)) * b', *unless('c', 'e'),
        *unless('d'), 'return [d, np.float64(e)]')),
}


@pytest.mark.parametrize('name', SOURCES)
def test_scalar_programs_compile_to_exactly_this_source(name):
    f, args, lines = SOURCES[name]
    assert source(f, *args) == text(*lines)


def check_outcome(f, expected_of, xs, **state):
    """Assert the same results or error, and the same warnings.

    Args:
        f, expected_of: two functions.
        xs: their arguments.
        state: keywords of `np.errstate`.
    """
    expected, said = outcome(expected_of, xs, state)
    actual, heard = outcome(f, xs, state)
    if isinstance(expected, Raised):
        assert actual == expected
    else:
        assert_identical(ad.tree_map(plain, actual), expected)
    assert heard == said


OTHERS = {  # programs that give up in other cases
    'power_of_a_choice': (lambda x: np.where(x > 0, x, 1.0) ** -0.2, [X]),
    'logarithm': (np.log, [X]),
    'logarithm_of_one_plus': (np.log1p, [X]),
    'all_without_errors': (lambda x: np.log1p(np.log(np.exp(x) + np.tanh(x))),
                           [X]),
    'weak_result': (lambda x: np.exp(x) / 2 - np.floor(x) * 1.0, [1.5]),
    'large_results': (lambda x: [np.exp(x - i) for i in range(3)] + [
        np.exp(x - 0.5)], [X]),
    'choice': (lambda x: np.where(x < 1, 2.0, x), [X]),
    'is_finite': (lambda x: np.where(np.isfinite(x * x), x, 2.0), [X]),
    'inside': (lambda x: np.maximum(x * 2, 1) * 0.0, [X]),
    'choice_of_nan': (lambda x: np.where(
        np.isfinite(np.where(x > 0, x, np.nan)), 1.0, 5.0), [X]),
    'shown_by_a_sum': (lambda x: (1 / (x * x)) + x * x, [X]),
}
POINTS = [0.0, -0.0, 1.0, -1.0, 0.3, -2.5, 1e200, -1e-200, 5e-324, 1.7e308,
          np.inf, -np.inf, np.nan, 2.0 ** 53, 708.9, 709.5, 710.0, -750.0]


def test_scalar_code_computes_and_warns_as_numpy_does():
    """Also if a number is not finite, so that NumPy has to compute."""
    for f, args, *_ in (SOURCES | OTHERS).values():
        g = ad.jit(f)
        for x in POINTS:
            for y in POINTS[::2] if len(args) > 1 else [None]:
                xs = [type(arg)(value) for arg, value in zip(args, (x, y))]
                for state in 'warn', 'ignore', 'raise':
                    check_outcome(g, f, xs, invalid=state, over=state,
                                  divide=state)


def test_a_program_inside_another_runs_the_careful_version():
    """A signal handler can call it while NumPy raises its errors."""
    f = ad.jit(np.exp)
    assert f(1.5) == raising.run(f, 1.5) == np.exp(1.5)


def test_a_long_program_reuses_the_names_of_numbers():
    """When each number had its own name, it took twice as long."""
    def f(x):
        y = x
        for _ in range(100):
            y = np.sin(y) * x + 0.5 / (2.0 + y * y)
        return y, x
    lines = source(f, 1.5).split('\n')
    names = {line.split(' = ')[0] for line in lines if ' = ' in line}
    assert len(names) < 110     # the end checks a hundred divisors
    assert sum(' = ' in line for line in lines) == 200
    for g in f, ad.grad(lambda x: f(x)[0]):
        assert ad.jit(g)(1.5) == g(1.5)


# Which programs

SCALAR = {
    'ufunc': (np.tanh, X), 'where': (lambda x: np.where(x > 0, x, 1), X),
    'astype': (lambda x: (x > 0).astype('f8'), X),
    'is_finite': (lambda x: np.where(np.isfinite(x), x, 0.0), X),
}
NOT_SCALAR = {
    'a_constant': (lambda x: np.sum(x * np.ones(9)), X),
    'an_integer_inside': (lambda x: x * ((x > 0) * 2), X),
    'a_single_inside': (lambda x: x * x.astype('f4'), X),
    'a_truth_inside': (lambda x: x * x.astype(bool), X),
    'a_truth_outside': (lambda x: (x * 2, x.astype(bool)), X),
    'an_integer_outside': (lambda x: (x * 2, 3), X),
    'a_power_of_python_numbers': (lambda x: x ** 0.5, 1.5),
    'a_power_of_a_scalar': (lambda x: x ** np.int64(2), X),
    'where_of_numbers': (lambda x: np.where(x, x, 1.0), X),
    'where_of_one_truth': (lambda x: np.where(x > 0, x, True), X),
    'no_ufunc': (lambda x: ad.checkpoint(np.sin)(x), X),
    'floor_division_by_a_number': (lambda x: x // 2, X),
    'no_float': (lambda x: np.where(x == 2 ** 53 + 1, x, 1.0), 1.5),
}


def test_programs_of_single_numbers_are_recognized():
    for name, (f, *args) in SCALAR.items():
        program = lowered(f, *args)
        assert program.fast.scalar and 'try' in program.source, name
        assert 'try' not in program.careful.source
    for name, (f, *args) in NOT_SCALAR.items():
        assert not lowered(f, *args).fast.scalar, name
        assert_identical(ad.jit(f)(*args), f(*args))


def test_one_check_at_the_end_covers_sums():
    """The fallback is not called."""
    f = lambda x: np.sin(-abs(x + x) * 1.5)
    fast = Version(opened(ad.make_jaxpr(f)(X)), True, careful=None)
    assert without_lines(fast.source).count('isfinite') == 1
    assert_identical(fast(np.float64(1e300)), [f(np.float64(1e300))])
    with pytest.raises(TypeError):
        fast(np.float64(np.inf))


# Short vectors

def swing(y):
    return np.stack([y[1], -4.0 * np.sin(y[0])])


FEW = {     # programs that become numbers
    'index_and_stack': lambda x, v: np.stack([v[1], -v[0]]),
    'reversed': lambda x, v: np.sum(v[::-1] * x),
    'sum_kept': lambda x, v: v / np.sum(v * v, keepdims=True),
    'constants': lambda x, v: np.sin(v * x + V) + V,
    'choice': lambda x, v: np.where(v > x, v, -v) * v,
    'truths': lambda x, v: np.where((v > 0) & ~(v > x), v, 1.0),
    'extremes': lambda x, v: np.maximum(v, -v * 0.0) * np.minimum(0.0, v * x),
    'extremes_of_all': lambda x, v: np.max(v * x) + np.stack([v, -v]).min(0),
}
POWERS = {  # of an array without axes, or of an element
    'choice_of_vectors': lambda v: np.where(v > 0, v, 1.0)[1] ** -0.2 + v,
    'choice_in_a_stack': lambda v: np.stack(
        [v[0], np.where(v[1] > 0, v[1], 1.0)])[1] ** -0.2 + v,
    'choice': lambda v: np.where(v[1] > 0, v[1], 1.0) ** -0.2 + v,
    'exponent': lambda v: 1.5 ** np.where(v[1] > 0, v[1], 1.0) + v,
    'of_a_number': lambda v: v[1] ** -0.2 + v + v[0] ** 3,
}
MANY = {    # programs that do not
    'nine': lambda x, v: np.concatenate([v] * 4 + [v[:1]]) * x,
    'powers': lambda x, v: v ** 0.5 + v ** x,
    'products': lambda x, v: v @ v + x,
    'sum_of_all': lambda x, v: np.sum(v[:, None] * v + x),
    'shapeless': lambda x, v: np.reshape(v[:1], ()) ** -0.2,
    'truth_in_a_stack': lambda x, v: -np.stack([v[0] > 9, v[1]]),
}
FEW_POINTS = [0.0, -0.0, 1.0, -2.5, 1e200, 5e-324, np.inf, -np.inf, np.nan]


@pytest.fixture
def eager_to_split(monkeypatch):
    """Make numbers free, so that the tests show what can be split."""
    monkeypatch.setattr('autodiff_mini.wings.fast.scalars.CALL', 1e6)
    monkeypatch.setattr('autodiff_mini.wings.fast.scalars.price', lambda _: 0)


def test_only_short_vectors_become_numbers(eager_to_split):
    for name, f in FEW.items():
        assert lowered(f, X, V).fast.scalar, name
        g = ad.jit(f)
        for x in map(np.float64, FEW_POINTS):
            for y in FEW_POINTS:
                check_outcome(g, f, (x, np.array([y, 0.7])))
    for name, f in MANY.items():
        assert not lowered(f, X, V).fast.scalar, name
        assert_identical(ad.jit(f)(X, np.abs(V)), f(X, np.abs(V)))


def test_a_power_has_the_bits_of_numpy(eager_to_split):
    for name, f in POWERS.items():
        assert lowered(f, V).fast.scalar, name
        g = ad.jit(f)
        for v in np.random.default_rng(0).uniform(0.1, 2, (200, 2)):
            assert_identical(g(v), f(v))


def test_a_power_of_an_array_without_axes_has_its_bits():
    """An array can be multiplied as a number, but its power differs."""
    assert lowered(lambda x: x * 2 + 1, X).fast.takes(np.array(1.5))
    for f in lambda x: x ** -0.2 + 1.0, lambda x: (x, x * 2):
        g = ad.jit(f)
        g(X)
        assert not lowered(f, X).fast.takes(np.array(1.5))
        for v in np.random.default_rng(0).uniform(0.1, 2, (200, 1)):
            x = np.reshape(v, ())
            assert_identical(g(x), ad.tree_map(plain, f(x)))


def test_programs_that_gain_little_are_left_alone():
    assert not lowered(lambda v: v * 2 + 1, V).fast.scalar
    assert not lowered(lambda v: np.exp(np.exp(np.exp(v))), V).fast.scalar


def test_an_array_of_one_element_becomes_a_number():
    """So does its tanh, if NumPy gives both the same bits."""
    f = lambda v: np.sum(np.tanh(v * 0.5) * v * v)
    assert lowered(f, V[:1]).fast.scalar == as_numpy(tanh_p)


def test_strided_vectors_run_the_careful_version():
    f = lambda v: swing(swing(swing(v)))
    fast = lowered(f, V).fast
    assert fast.scalar and fast.takes(V) and not fast.takes(V[::-1])
    assert_identical(ad.jit(f)(np.ones((2, 2))[:, 0]), f(np.ones(2)))


# Loops

def test_a_while_loop_runs_on_the_elements_of_a_vector():
    def f(y, length):
        return ad.while_loop(
            lambda s: (s[1] < 9) & np.isfinite(s[0][0]),
            lambda s: (s[0] + swing(s[0]) / length, s[1] + 1.0), (y, 0.0))

    def by_hand(y, length):
        count = 0.0
        while count < 9 and np.isfinite(y[0]):
            y, count = y + swing(y) / length, count + 1.0
        return y, count
    assert lowered(f, V, X).source.count('try:') == 1
    for x in map(np.float64, FEW_POINTS):
        check_outcome(ad.jit(f), by_hand, (V, x))


def test_a_loop_over_strided_numbers_runs_on_floats():
    """The reverse pass of `odeint` loops over a column of its times."""
    m = np.sin(np.arange(12.0)).reshape(3, 4)
    loop = lambda lib, rows: lib.scan(
        lambda c, x: (np.reshape(c * x, -1)[0] + np.sin(c), c), X, rows)
    every = slice(None)
    for piece, is_fast in [((..., 1), True), ((..., slice(1, 2)), True),
                           ((every, slice(1, 3)), True),
                           ((every, slice(0, 3, 2)), False),
                           ((..., slice(0, 3, 2)), False)]:
        f = lambda lib: lambda m: loop(lib, m[piece])
        assert ('careful_loop' in lowered(f(ad), m).source) == is_fast
        assert_identical(ad.jit(f(ad))(m), f(unrolled)(m))


LOOPS = {   # of numbers, and then of vectors
    'swap': lambda lib, x, ys: lib.scan(
        lambda c, y: ((c[1] * 2, c[0]), c[0] - y), (x[0], 1.0 * x[0]), ys),
    'numpy': lambda lib, x, ys: lib.scan(
        lambda c, y: (np.log(c * c) + y, np.tanh(c)), x[0], ys),
    'backwards': lambda lib, x, ys: lib.scan(
        lambda c, y: (c / y, c * c), x[0], ys, reverse=True),
    'steps': lambda lib, x, ys: lib.scan(
        lambda c, y: (np.where(c > 1, 1 / c, c * c), c), x[0], length=5),
    'unseen': lambda lib, x, ys: lib.scan(      # by later steps
        lambda c, y: (c + y, c * 2), x[0], ys),
    'unseen_by_the_last': lambda lib, x, ys: lib.scan(
        lambda c, y: (-(y * x[0]), y * x[0]), x[0], ys, None, True),
    'forwards': lambda lib, v, xs: lib.scan(
        lambda c, x: (c + 0.1 * x * swing(c), c), v, xs),
    'matrices': lambda lib, v, xs: lib.scan(
        lambda c, x: (c + np.sin(c * x), c[:, None] * x), v, xs, None, True),
    'overflow': lambda lib, v, xs: lib.scan(
        lambda c, x: (np.stack([c[1], c[0] * 1e150]), c[0]), v, xs),
    'truths': lambda lib, v, xs: lib.scan(
        lambda c, x: (c * 0.5 + np.sin(x), (c > x, c[0] > 0)), v, xs,
        None, True),
    'while': lambda lib, v, xs: lib.scan(
        lambda c, x: (halved(lib, c + x, 1.5), c), v, xs),
    'while_in_while': lambda lib, v, xs: lib.scan(lambda c, x: (
        lib.while_loop(lambda s: s[1] < 2, lambda s: (
            halved(lib, halved(lib, s[0] * 3 + x, 5.0), s[1]) + s[1] * x,
            s[1] + 1.0), (c, 0.0))[0], np.sum(c)), v, xs),
    'while_in_a_test': lambda lib, v, xs: lib.scan(lambda c, x: (
        lib.while_loop(
            lambda s: (np.sum(halved(lib, s[0], 1.0)) > 0.7) & (s[1] < 5),
            lambda s: (s[0] * 0.9 - 0.1 * x, s[1] + 1.0), (c, 0.0))[0],
        c), v, xs),
}


def halved(lib, c, limit):
    """Halve a vector until it is short, by a factor that stays the same."""
    return lib.while_loop(
        lambda s: (np.sum(s[0] * s[0]) > s[1]) & (s[2] < 4),
        lambda s: (s[0] * (0.25 * s[1] / limit + 0.25), s[1], s[2] + 1.0),
        (c, limit + 0.0 * c[0], 0.0))[0]


@pytest.mark.parametrize('name', LOOPS)
def test_a_compiled_loop_equals_its_steps(eager_to_split, name, monkeypatch):
    """Also if a step is not finite, and with the same warnings."""
    monkeypatch.setattr('autodiff_mini.wings.fast.loop_source.HUGE', 4)
    if 'unseen' in name:    # it stays in the loop
        monkeypatch.setattr('autodiff_mini.wings.fast.fission.MOST', 0)
    of_vectors = [*LOOPS].index(name) >= [*LOOPS].index('forwards')
    loop, rows = LOOPS[name], np.array([1.5, 0.25, -3.0])
    if of_vectors:
        rows = np.sin(np.arange(12.0)).reshape(6, 2) + 2
    f = ad.jit(lambda v, xs: ad.tree_leaves(loop(ad, v, xs)))
    g = lambda v, xs: [np.asarray(y)[()] for y in ad.tree_leaves(
        loop(unrolled, v, xs))]
    assert 'return careful_loop' in lowered(
        lambda *xs: loop(ad, *xs), V, rows).source
    for x in [0.7, 1e308, *FEW_POINTS]:
        v = np.array([0.3, x] if of_vectors else [x, 0.3])
        for xs in (rows, np.repeat(rows, 2, 0)[::2], rows * 0,
                   np.asfortranarray(rows)):
            check_outcome(f, g, (v, xs))


@pytest.mark.parametrize('f', [
    lambda x: np.exp(x) + 1, lambda x: np.exp(np.sin(x) + x),
    lambda x: ad.fori_loop(0, 3, lambda i, c: np.exp(c), x),
    lambda x: ad.while_loop(lambda c: c > 9, lambda c: np.exp(c), x)])
@pytest.mark.parametrize('x', [1e308, np.float64(1e308), np.array(1e308)])
def test_an_error_does_not_show_why_floats_gave_up(f, x):
    g = ad.jit(f)
    g(x * 0)
    with np.errstate(all='raise'), pytest.raises(
            FloatingPointError, match='overflow') as caught:
        g(x)
    assert caught.value.__context__ is None


IDENTITIES = {  # they leave nothing of a body when it is simplified
    'peek': (lambda f: f.defvjp(lambda x: (f(x), None), lambda _, ct: (ct,)),
             ad.custom_vjp),
    'same': (lambda f: f.defjvp(lambda p, t: (f(*p), t[0])), ad.custom_jvp),
}


@pytest.mark.parametrize('x', [1.5, X, V[:1], V, np.ones(20), np.ones((2, 2))])
@pytest.mark.parametrize('name', IDENTITIES)
def test_a_loop_can_have_an_empty_body(name, x):
    """The compiler wrote `for` without a body, which is no Python."""
    define, kind = IDENTITIES[name]
    f = kind(lambda x: x)
    define(f)
    xs = np.stack([x, x])
    loops = [
        lambda lib, x: lib.scan(lambda c, _: (f(c), None), x, None, 2)[0],
        lambda lib, x: lib.scan(lambda c, y: (f(c), f(y)), x, xs)[1][1],
        lambda lib, x: lib.fori_loop(0, 3, lambda i, c: f(c), x),
        lambda lib, x: lib.cond(True, f, f, x)]
    for loop in loops:
        total = lambda lib: lambda x: np.sum(loop(lib, x) * x)
        for g in (total, lambda lib: ad.grad(total(lib))):
            for h in (g(ad), ad.jit(g(ad))):
                assert_identical(h(x), g(unrolled)(x))


# The bits of NumPy

def test_numpy_adds_few_numbers_in_order():
    assert adds_in_turn()
    in_words = lambda x, y: f'({x}+{y})'
    assert in_turn(in_words, list('abc'), '0') == '(((0+a)+b)+c)'
    assert in_turn(in_words, list('abcdefgh'), '0') == (
        '(0+(((a+b)+(c+d))+((e+f)+(g+h))))')


def test_functions_whose_bits_differ_in_numpy_are_detected(monkeypatch):
    def split(is_other):
        class Split:
            def impl(self, x):
                return np.sin(x) * (1 + 2 ** -52 * is_other(x))
        return Split()

    for is_other in (lambda x: isinstance(x, np.ndarray),
                     lambda x: not isinstance(x, np.ndarray),
                     lambda x: 4 < np.size(x) < 9,
                     lambda x: np.array(x).strides < (0,)):
        primitive = split(is_other)
        monkeypatch.setitem(MATH, primitive, math.sin)
        assert not as_numpy(primitive)


def test_a_program_that_gives_up_does_not_warn_twice():
    """It gives up before NumPy warns."""
    def power(x):
        y = np.exp(x)
        return y, y * y
    for f, x in ((np.exp, 710.0), (np.log, 0.0), (np.log, -1.0),
                 (np.log1p, -1.0), (np.log1p, -2.0), (power, 400.0)):
        g = ad.jit(f)
        g(0.5)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter('always')
            g(x)
        assert len(caught) == 1


def test_extremes_whose_zeros_differ_in_numpy_are_detected():
    """In a tie of 0.0 and -0.0, a vector must end as single numbers do."""
    assert ties_alike(max_p) and ties_alike(min_p)
    for is_other in (lambda x, y: np.size(x) > 1,
                     lambda x, y: np.ndim(x) != np.ndim(y),
                     lambda x, y: np.array(x).strides < (0,)):
        class Split:
            def impl(self, x, y):
                return np.maximum(*((y, x) if is_other(x, y) else (x, y)))
        assert not ties_alike(Split())


def test_an_error_in_a_loop_names_each_operation_once():
    f = ad.jit(lambda x: ad.scan(lambda c, _: (np.log(c), None), x, None, 3))
    f(1e9)
    with np.errstate(all='raise'), pytest.raises(FloatingPointError) as caught:
        f(-1.0)
    names = [note.split("'")[1] for note in caught.value.__notes__]
    assert names == ['scan', 'log']
