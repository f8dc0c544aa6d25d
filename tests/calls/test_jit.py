"""Guard `jit`: what is traced, cached, returned, and said in an error."""

import inspect
import numbers
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.calls.jit import jit_p
from autodiff_mini.core.trace import Trace, current_trace
from autodiff_mini.interpreters.lowering import Lowered
from tests.support.jitted import KEPT, RETURNED, counted
from tests.support.jvp_rules import custom, power, sine, square
from tests.support.numerical import assert_close, assert_same
from tests.support.traces import spied
from tests.support.transforms import d, nested, point
from tests.support.trees import Pair, assert_trees
from tests.support.wings import needs
from tests.tables.custom_programs import CUSTOM_PROGRAMS
from tests.tables.programs import PROGRAMS

C, X = np.arange(3.0), np.linspace(0.2, 1.5, 4)


# Every program

@pytest.mark.parametrize('program', CUSTOM_PROGRAMS + PROGRAMS[::40], ids=str)
def test_jit_computes_what_numpy_computes(program):
    f, args = partial(program.function, np), program.args
    with np.errstate(all='ignore'):
        g, expected = ad.jit(f), f(*args)
        for _ in range(2):
            assert_same(g(*args), expected, program.ulps)


# D1, D6: the rule survives

NESTINGS = ['i', 'ij', 'ji', 'ig', 'gi', 'il', 'li', 'iv', 'vi', 'igi', 'ivi',
            'jig', 'ijij', 'gigi', 'vigi', 'ivgi', 'jivi', 'ligi', 'gili',
            'igigig', 'ijijij', 'givij', 'igvivi']


@pytest.mark.asks('D1', 'D6', 'D9')
def test_every_nesting_keeps_the_rule():
    """The n-th derivative of `power` is 2^n times itself."""
    for names in NESTINGS:
        x, order = point(names), sum(map(names.count, 'jgl'))
        assert_close(nested(power, names)(x), 2 ** order * np.exp(x))
        truth = [np.sin, np.cos, lambda x: -np.sin(x),
                 lambda x: -np.cos(x)][order](x)
        assert_close(nested(sine, names)(x), truth * (10 if order else 1))
        f = lambda x: np.sin(square(x)) * x + square(np.cos(x))
        assert_close(nested(f, names)(x),
                     nested(f, names.replace('i', ''))(x))


# What it closes over

def test_a_program_over_a_tracer_is_not_kept():
    """It closes over a different tracer at each call."""
    cell = {}
    g, runs = counted(lambda y: y * cell['x'])

    def h(x):
        cell['x'] = x
        return g(3.0)

    for x in (2.0, 5.0):
        assert ad.grad(lambda x: h(x) * x)(x) == 6 * x
        assert d(h)(x) == 3.0
        assert_same(ad.vmap(h)(X * x), X * x * 3)
        assert_same(ad.jit(h)(x), 3 * x)
    assert len(runs) == 8
    cell['x'] = 7.0
    assert g(3.0) == g(3.0) == 21.0 and len(runs) == 9


def test_jit_snapshots_closed_over_arrays():
    c, number = C.copy(), [2.0]
    f = ad.jit(lambda x: x * c + number[0])
    assert_same(f(C), C * C + 2.0)
    c[:] = 99.0
    number[0] = 99.0
    assert_same(f(C), C * C + 2.0)
    assert_same(ad.grad(lambda x: np.sum(f(x)))(C), C)
    assert_same(ad.vmap(f)(np.stack([C, C]))[1], C * C + 2.0)
    assert_same(f(C[:1]), C[:1] * c + 99.0)     # another program


# Caching

PROGRAM_OF_ITS_OWN = [
    (C,), (C.astype('f4'),), (np.arange(3),), (C[:2],), (C[None],),
    (np.float64(1),), (1.0,), (1,), (True,), (1j,), ([C],), ((C,),),
    (Pair(C, C),), ((C, C),), ({'x': C},), ({'y': C},), ((C, None),), ((),),
    (C, C), (C.astype('>f8'),)]


def test_each_type_and_each_tree_is_traced_once():
    f, runs = counted(lambda *args: args)
    for _ in range(3):
        for args in PROGRAM_OF_ITS_OWN:
            assert ad.tree_structure(f(*args)) == ad.tree_structure(args)
    assert len(runs) == len(PROGRAM_OF_ITS_OWN)


def test_other_values_are_not_traced_again():
    f, runs = counted(lambda x, y=1.0: x * y)
    for x in (C, C + 1, C[::-1], np.arange(6.0)[::2], C.copy(), C * np.nan):
        assert_same(f(x), x * 1.0)
    assert len(runs) == 1
    assert f(2.0) == 2.0 and f(3.0) == 3.0 and f(float('nan')) != 0
    assert len(runs) == 2
    assert f(np.array(2.0)) == f(np.float64(2.0)) == 2.0
    assert len(runs) == 3


# Static arguments

def powers(x, n, m=1, *, scale=2.0):
    return x ** n * m * scale


STATIC = {
    'position': dict(static_argnums=1), 'tuple': dict(static_argnums=(1,)),
    'list': dict(static_argnums=[1]), 'negative': dict(static_argnums=-3),
    'name': dict(static_argnames='n'), 'names': dict(static_argnames=('n',)),
    'both': dict(static_argnums=1, static_argnames='n'),
}


def test_static_arguments_can_be_passed_by_position_or_name():
    for options in STATIC.values():
        seen = []

        def f(x, n, m=1, *, scale=2.0):
            seen.append(n)
            return powers(x, n, m, scale=scale)

        g = ad.jit(f, **options)
        for _ in range(2):
            assert g(3.0, 2) == g(3.0, n=2) == g(x=3.0, n=2) == 18.0
            assert g(3.0, 3) == 54.0
            assert g(3.0, 2, 4.0) == g(3.0, 2, m=4.0) == 72.0
            assert g(3.0, 2, scale=1.0) == g(3.0, n=2, scale=1.0) == 9.0
        assert {*map(type, seen)} == {int} and len(seen) == 8, options


def test_equal_static_values_with_different_results_are_kept_apart():
    f, runs = counted(lambda x, n: x * n, static_argnums=1)
    for n in (1, 1.0, True, np.float32(1), np.int8(1), 0.0, -0.0, 1 + 0j):
        for _ in range(2):
            assert_same(f(np.int16(3), n), np.int16(3) * n)
            assert np.signbit(f(1, n).real) == np.signbit((1 * n).real)
    assert len(runs) == 2 * 8


def test_equal_containers_of_different_static_values_are_kept_apart():
    """A set of 1 equals a set of 1.0, and used to run its program."""
    @dataclass(frozen=True)
    class Box:
        value: Any
        name: str = ''

    makers = (lambda n: (n,), lambda n: frozenset([n]), Box,
              lambda n: Box(frozenset([(n,)])), lambda n: (Box(n), 'a'),
              lambda n: Pair(n, n))
    for make in makers:
        f, runs = counted(lambda x, n: x * first_number(n), static_argnums=1)
        for n in (1, 1.0, True, np.float32(1), 1 + 0j):
            for _ in range(2):
                assert_same(f(np.int16(3), make(n)), np.int16(3) * n)
        assert len(runs) == 5
    f, runs = counted(lambda x, r: x * r.step, static_argnums=1)
    assert [f(2, range(0, 3, 3)), f(2, range(0, 3, 5))] == [6, 10]


@pytest.mark.parametrize('x', [True, 2, 1.5, 1j, np.int8(3), np.ones(2)])
def test_a_plus_sign_means_what_it_means_in_python(x):
    """+True is 1, and it was True."""
    y, z = +x, ad.jit(lambda x: +x)(x)
    assert type(z) is type(y) and np.all(z == y)


@pytest.mark.parametrize('x', [-1, 300, -1.0])
def test_a_python_number_that_a_dtype_cannot_hold_is_an_error(x):
    """It was converted to int64 first, and then wrapped around."""
    f = lambda x: np.asarray(x, dtype=np.uint8)
    for g in f, ad.jit(f), ad.jit(lambda x: ad.cond(True, f, f, x)):
        with pytest.raises(OverflowError, match='out of bounds for uint8'):
            g(x)


def first_number(x):
    """Return the number in nested containers."""
    while not isinstance(x, numbers.Number):
        x = x.value if hasattr(x, 'value') else next(iter(x))
    return x


def test_a_static_argument_without_a_hash_is_a_value_error():
    """The error names the function and the argument."""
    def stretch(x, sizes):
        return x

    f = ad.jit(stretch, 1)
    for value, fix in (([1], 'Pass a tuple'), (C, 'Do not make it static'),
                       (set(), 'Def')):
        words = (f'Non-hashable static arguments.*{{}} of .*stretch.*'
                 f'{type(value).__name__}. ({fix})')
        with pytest.raises(ValueError, match=words.format('argument 1')):
            f(1.0, value)
        with pytest.raises(ValueError, match=words.format('argument sizes')):
            f(1.0, sizes=value)


def test_errors_name_static_arguments_as_the_caller_counts_them():
    with pytest.raises(TypeError, match=r'args\[1\]: .*type str'):
        ad.jit(powers, static_argnums=0)(2, 'a')
    for options, name in (dict(static_argnames='k'), "'k'"), (
            dict(static_argnums=4), '4'):
        with pytest.raises(ValueError,
                           match=f'powers has no argument {name}'):
            ad.jit(powers, **options)


# Results belong to the caller

@pytest.mark.parametrize('name', RETURNED)
def test_jitted_results_belong_to_the_caller(name):
    f, x = ad.jit(RETURNED[name]), np.arange(4.0) + 1
    expected = ad.tree_map(np.copy, f(x))
    arrays = [y for y in ad.tree_leaves(f(x)) if isinstance(y, np.ndarray)]
    for i, y in enumerate(arrays):
        assert y.flags.writeable and y.flags.owndata
        for other in [x, KEPT, *arrays[:i]]:
            assert not np.shares_memory(y, other)
    for y in arrays:
        y[...] = -1.0
    assert_trees(ad.tree_map(np.copy, f(x)), expected)


# Caches

def test_the_number_of_cached_programs_is_bounded(monkeypatch):
    """Every new shape, batch, or static value kept a program forever."""
    monkeypatch.setattr('autodiff_mini.calls.programs.REMEMBERED', 5)
    f = ad.jit(lambda x, n: np.sin(x) * n, static_argnums=1)
    for n in (*range(10), 3, 8, 8):
        np.testing.assert_array_equal(f(C, n), np.sin(C) * n)
        assert len(f.staged) <= 5
    g = ad.jit(np.sin)
    g(1.0)
    [(jaxpr, *_)] = g.staged.values()
    for size in (*range(1, 10), 2, 9):
        np.testing.assert_array_equal(ad.vmap(g)(np.ones(size)),
                                      np.sin(np.ones(size)))
        assert len(g.last.cache) <= 5 and len(jaxpr.cache) <= 5


# Source

@needs('fast')
def test_source_belongs_to_the_last_call():
    f = ad.jit(lambda x: np.sin(x) * 2)
    line = inspect.currentframe().f_lineno - 1
    with pytest.raises(AttributeError, match=(
            'lambda.* has not been called yet, so it has no compiled program. '
            'Call it first')):
        f.source
    assert not hasattr(f, 'source')
    f(C)
    assert f.source == (
        'const_1 = np.array(2.0)\n\n\ndef program(a):\n'
        f'    b = np.sin(a)                   # line {line}\n'
        '    c = b * const_1\n    return [c]')
    f(1.0)
    assert 'return careful(a)' in f.source
    f(C)
    with pytest.raises(TypeError):
        f('text')
    assert 'np.sin(a)' in f.source


# Error states

def quiet(x):
    with np.errstate(over='ignore', invalid='ignore'):
        return 1 / (1 + np.exp(-x))


FAR = np.array([-800.0, 1.0])
INSIDE = {
    'jit': ad.jit(quiet), 'jit of jit': ad.jit(lambda x: ad.jit(quiet)(x)),
    'vmap of jit': ad.vmap(ad.jit(quiet)),
    'jit of vmap': ad.jit(ad.vmap(quiet)),
    'jvp of jit': lambda x: ad.jvp(ad.jit(quiet), (x,), (x * 0,))[0],
    'vjp of jit': lambda x: ad.vjp(ad.jit(quiet), x)[0],
    'checkpoint': ad.jit(ad.checkpoint(quiet)),
    'scan': lambda x: ad.scan(lambda c, x: (c, quiet(x)), 0.0, x)[1],
    'cond': ad.vmap(lambda x: ad.cond(x < 2, quiet, np.sin, x)),
    'while': lambda x: ad.while_loop(
        lambda s: s[0] < 1, lambda s: (s[0] + 1, quiet(s[1])), (0, x))[1],
    'custom_jvp': ad.jit(custom(quiet, lambda p, t: (quiet(*p), t[0]))),
}


def test_an_error_state_inside_is_kept():
    """It used to apply while f was recorded, but not when the program ran."""
    for f in INSIDE.values():
        for _ in range(2):
            assert_same(f(FAR), quiet(FAR))     # a warning would be an error
    small = Lowered(ad.make_jaxpr(quiet)(FAR))
    assert_same(small(FAR)[0], quiet(FAR))
    for source in INSIDE['jit'].source, small.source:
        assert "np.errstate(invalid='ignore', over='ignore')(part_" in source


def test_derivatives_pass_through_an_error_state():
    def total(x):
        return np.sum(quiet(quiet(x) * 2))

    for change in ad.grad, lambda f: ad.jacfwd(ad.grad(f)):
        for f in change(ad.jit(total)), ad.jit(change(ad.jit(total))):
            assert_close(f(X), change(total)(X))


def unused_log(x):
    with np.errstate(divide='raise'):
        np.log(x - x)
    return x * x


def log_of_which_the_slope_is_needed(x):
    with np.errstate(divide='raise'):
        return np.log(x - 1)


STRICT = [
    unused_log, log_of_which_the_slope_is_needed,
    lambda x: ad.scan(lambda c, _: (unused_log(c), None), x, np.ones(2))[0],
    lambda x: ad.cond(x > 0.5, unused_log, np.sin, x)]
FORWARD_ONLY = [
    lambda x: ad.while_loop(lambda x: x < 9, lambda x: unused_log(x + 1), x)]
ASKED = {
    'itself': lambda f: f, 'jit': ad.jit,
    'jit_grad': lambda f: ad.jit(ad.grad(f)),
    'grad_jit': lambda f: ad.grad(ad.jit(f)),
    'jit_hessian': lambda f: ad.jit(ad.grad(ad.grad(f))),
    'jit_jvp': lambda f: ad.jit(lambda x: ad.jvp(f, (x,), (x,))),
    'jit_vmap': lambda f: lambda x: ad.jit(ad.vmap(f))(np.stack([x, x])),
    'checkpoint': lambda f: ad.jit(ad.grad(ad.checkpoint(f))),
}


@pytest.mark.parametrize('name', ASKED)
def test_an_error_state_raises_for_unused_operations(name):
    """`jit` dropped the operation and returned a number."""
    backwards = {'grad', 'hessian', 'checkpoint'} & {*name.split('_')}
    for f in STRICT if backwards else STRICT + FORWARD_ONLY:
        g = ASKED[name](f)
        for _ in range(2):
            with pytest.raises(FloatingPointError, match='divide by zero'):
                g(np.float64(1.0))


# Functions of every kind

def test_jit_keeps_name_docstring_and_signature():
    @ad.jit
    def area(width, height=1.0, *, scale: float = 2.0):
        """Return the area."""
        return width * height * scale

    assert area.__name__ == 'area' and area.__doc__ == 'Return the area.'
    assert area.__module__ == __name__ and callable(area.__wrapped__)
    assert str(inspect.signature(area)) == \
        '(width, height=1.0, *, scale: float = 2.0)'
    with pytest.raises(TypeError, match="unexpected.*'depth'"):
        area(1.0, depth=2.0)


# Mistakes

def test_an_argument_that_is_not_an_array_is_named():
    def shift(x, by):
        return x + by

    with pytest.raises(TypeError, match=(
            "jit of .*shift: .*by.*type str cannot be traced")):
        ad.jit(shift)(1.0, by='text')
    with pytest.raises(TypeError, match='jit of .*args.1.*object'):
        ad.jit(shift)(1.0, np.array([None]))
    with pytest.raises(TypeError, match='jit of .*: output.*str'):
        ad.jit(lambda x: {'a': 'text'})(1.0)
    assert current_trace() is Trace.base


def test_a_mistake_at_run_time_quotes_the_users_line():
    def solve(a, b):
        c = a * 1.0
        return np.linalg.solve(c, b)

    place = f'{__file__}:{solve.__code__.co_firstlineno + 2}'
    for g in ad.jit(solve), ad.jit(ad.jit(solve)), ad.checkpoint(solve):
        for _ in range(2):
            with pytest.raises(np.linalg.LinAlgError) as info:
                g(np.zeros((2, 2)), np.ones(2))
            assert place in ''.join(info.value.__notes__)


def test_numpys_errstate_applies_when_the_program_runs():
    f = ad.jit(lambda x: np.log(x) * 2)
    with np.errstate(all='ignore'):
        assert f(0.0) == -np.inf    # a warning would be an error
    with np.errstate(divide='warn'), pytest.warns(RuntimeWarning,
                                                  match='divide by zero'):
        f(0.0)
    with np.errstate(divide='raise'):
        with pytest.raises(FloatingPointError):
            f(0.0)
        ad.make_jaxpr(f)(0.0)       # nothing is computed by tracing


# Threads, tasks, recursion

def test_eight_threads_share_a_jitted_function():
    f = lambda x: np.sum(np.sin(x)) * x.shape[0]
    g, changes = ad.jit(f), [lambda f: f, ad.grad, d, ad.vmap]

    def work(i):
        x, change = np.full((3, i + 1), 0.5), changes[i % 4]
        for _ in range(50):
            assert_close(change(g)(x), change(f)(x))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(8) as pool:
            [*pool.map(work, range(8))]
    finally:
        sys.setswitchinterval(interval)


# Programs

def test_transforms_of_jit_are_compiled():
    f = ad.jit(lambda x: np.sin(x) * x)
    for g in (ad.vmap(f), d(f), ad.vmap(d(f)), d(ad.vmap(f)), ad.jit(f)):
        assert {e.primitive for e in ad.make_jaxpr(g)(X).eqns} <= {jit_p}
    _, f_jvp = ad.linearize(f, X)
    assert [e.primitive for e in f_jvp.program.jaxpr.eqns] == [jit_p]
    _, counts = spied(f, X)
    assert counts == {jit_p: 1}


def test_residuals_that_are_arguments_are_not_copied():
    f = ad.jit(lambda x, y: x * y)
    x = np.ones(100)
    _, f_vjp = ad.vjp(lambda x: f(f(x, x), x), x)
    assert len(ad.tree_leaves(f_vjp)) <= 3
