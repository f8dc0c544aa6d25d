"""Guard lowering: a program is written as Python, and computes the same.

The tests run each compiler, the small one and the one that a wing adds.
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.calls.call import call
from autodiff_mini.core import seams
from autodiff_mini.core.jaxprs import drop_dead
from autodiff_mini.core.trace import Trace, current_trace
from autodiff_mini.interpreters.lowering import Lowered
from tests.support.identical import same_bits
from tests.support.sources import text, without_lines
from tests.tables.custom_programs import CUSTOM_PROGRAMS
from tests.tables.programs import NOT_STAGED, PROGRAMS

C, A = np.arange(3.0), np.arange(6.0).reshape(2, 3)


@pytest.fixture(params=[Lowered, seams.lower.taken or Lowered],
                ids=lambda compiler: compiler.__name__)
def lowered(request):
    """A function that lowers a program, whose jaxpr must not change."""
    def lowered(f, *args):
        jaxpr = ad.make_jaxpr(f)(*args)
        before = str(jaxpr)
        program = request.param(jaxpr)
        assert str(jaxpr) == before
        assert current_trace() is Trace.base
        return program
    return lowered


def source(f, *args):
    """Return what the small compiler writes."""
    return Lowered(ad.make_jaxpr(f)(*args)).source


half = ad.jit(lambda x: x / 2)
SOURCES = {
    'operators': (lambda x, n: (
        -x, abs(x), x - 1, 1 - x, x / n, x // n, x % n, x ** n, n ** x,
        ~n, n & 1, n | 1, n ^ 1, n << 1, n >> 1), [C, 2], (
        'a, b', 'c = -a', 'd = abs(a)', 'e = a - 1', 'f = 1 - a',
        'g = a / b', 'h = a // b', 'i = a % b', 'j = pow_impl_1(a, b)',
        'k = pow_impl_1(b, a)', 'l = ~b', 'm = b & 1', 'n = b | 1',
        'o = b ^ 1', 'p = b << 1', 'q = b >> 1',
        'return [c, d, e, f, g, h, i, j, k, l, m, n, o, p, q]')),
    'functions': (lambda x: [np.maximum(x, 0), np.where(x > 0, x, 1)], [C], (
        'a', 'b = np.maximum(a, 0)', 'c = a > 0', 'd = np.where(c, a, 1)',
        'return [b, d]')),
    'parameters': (lambda x: (np.sum(x, 0), np.cumsum(x, 1), x.T,
                              np.reshape(x, 6)), [A], (
        'a', 'b = np.sum(a, axis=(0,), keepdims=False)',
        'c = np.cumsum(a, axis=1)', 'd = np.transpose(a, axes=(1, 0))',
        'e = np.reshape(a, shape=(6,))', 'return [b, c, d, e]')),
    'negative': (lambda x: (x * -1, -2.5 - x, x ** -1, -1 ** x), [1.0], (
        'a', 'b = a * (-1)', 'c = (-2.5) - a', 'd = pow_impl_1(a, (-1))',
        'e = pow_impl_1(1, a)', 'f = -e', 'return [b, c, d, f]')),
    'not_finite': (lambda x: (x + np.nan, x + -np.inf, x * -0.0), [1.0], (
        'a', 'b = a + nan', 'c = a + (-inf)', 'd = a * (-0.0)',
        'return [b, c, d]')),
    'constants': (lambda x: x * C + C - A[0], [C], (
        'a', 'b = a * const_1', 'c = b + const_1', 'd = c - const_2',
        'return [d]')),
    'dtypes': (lambda x: x.astype(np.float32), [C], (
        'a', 'b = astype_impl_1(a)', 'return [b]')),
    'half_dead': (lambda a: np.linalg.slogdet(a)[1], [np.eye(2)], (
        'a', '[b, c] = np.linalg.slogdet(a)', 'return [c]')),
}


def test_the_small_compiler_writes_exactly_this():
    for f, args, lines in SOURCES.values():
        assert source(f, *args) == text(*lines)


def test_a_source_computes_the_program(lowered):
    for f, args, _ in SOURCES.values():
        outs = lowered(f, *args)(*args)
        for y, expected in zip(outs, ad.tree_leaves(f(*args)), strict=True):
            same_bits(y, expected)


def test_a_program_in_a_parameter_is_a_function():
    f = lambda x, ys: ad.scan(
        lambda c, y: (c * y + x, half(c)), x, ys, reverse=True)
    assert source(f, 1.5, C).startswith('''\
def body_3(a, b, c):
    d = b * c
    e = d + a
    f = b / 2
    return [e, f]

def program(a, b):
    c = astype_impl_1(a)
    [d, e] = loop_scan_2(body_3, a, c, b, length=3, reverse=True,''')


PLACES = {
    'np.s_[0]': '0', 'np.s_[:]': ':', 'np.s_[-1:-3:-1]': '-1:-3:-1',
    'np.s_[1, 0:2]': '1, 0:2', 'np.s_[...]': '...', 'np.s_[None]': 'None',
    'np.s_[..., None, 0]': '..., None, 0', 'np.s_[[0, 1]]': 'const_1',
    'np.s_[:, [0, 1]]': ':, const_1',
    'np.s_[[0, 1], [1, 0]]': 'const_1, const_2',
    'np.s_[np.int64(1)]': '1', 'np.s_[np.int8(0):np.int64(1)]': '0:1',
}


def test_an_index_is_written_as_users_write_it(lowered):
    for index, text in PLACES.items():
        place = eval(index)
        program = lowered(lambda x: x[place], A)
        lines = without_lines(program.source).split('\n')
        assert lines[-2:] == [f'    b = a[{text}]', '    return [b]']
        same_bits(program(A)[0], A[place])


LITERALS = [
    True, False, 0, 3, -3, 10**18, 0.0, -0.0, 1.5, -1.5, 1e22, -1e-300,
    0.1, 1 / 3, float('nan'), float('inf'), -float('inf'), 2j, -0.0 + 1j,
    *[np.dtype(code).type(2) for code in
      '?' + np.typecodes['AllInteger'] + np.typecodes['AllFloat']],
    np.float64('nan'), np.float32(-0.0), np.float16('-inf'), np.int8(-128),
    np.uint64(2**64 - 1), np.longdouble(1) / 3, np.complex64(-0.0)]


def test_a_literal_keeps_its_type_and_its_bits(lowered):
    for x in LITERALS:
        (y,) = lowered(lambda a: x, 1.0)(1.0)
        assert type(y) is type(x)
        same_bits(y, x)
        f = lambda a: (a + x, a * x, x * a)
        for a in (2.0, np.float32(3), np.ones(2, np.float16)):
            with np.errstate(all='ignore'):
                for y, expected in zip(lowered(f, a)(a), f(a), strict=True):
                    same_bits(y, expected)


def test_python_keywords_do_not_name_arguments(lowered):
    program = lowered(lambda *xs: sum(xs), *range(1000))    # `as`, `if`, ...
    assert program(*range(1000)) == [499_500]


NASTY = ['a b', 'my-scale', '1st', 'if', 'np', 'x); import os', '', 'λ', "'",
         '"""', 'a\nb', 'const_1', '{}', 'program', 'sin',
         'µ', 'ﬁ', 'x²', 'ℌ']     # Python reads the last four otherwise


def test_a_primitive_can_have_any_name(lowered):
    for name in NASTY:
        p = ad.Primitive(name)
        p.def_impl(lambda x, **params: x * len(params))
        p.def_abstract_eval(lambda x, **params: x)
        program = lowered(lambda x: p.bind(x, k=1, n=2) + C, C)
        same_bits(program(C)[0], 2 * C + C)
        assert 'import' not in program.source


def with_jvp(f):
    g = ad.custom_jvp(f)
    g.defjvp(lambda p, t: (p[0], t[0]))
    return g


def with_vjp(f):
    g = ad.custom_vjp(f)
    g.defvjp(lambda x: (x, None), lambda r, ct: (ct,))
    return g


CARRIERS = {
    'custom_jvp': with_jvp, 'custom_vjp': with_vjp, 'jit': ad.jit,
    'call': lambda f: partial(call, f),
    'twice': lambda f: with_vjp(with_jvp(ad.jit(f))),
}


@pytest.mark.asks('D5')
@pytest.mark.parametrize('name', CARRIERS)
def test_lowering_drops_the_rules_of_calls(name):
    """lower(custom_jvp_call(f, f_jvp)) == lower(f)"""
    f = lambda x: np.sin(x) * x + 2.0
    g = CARRIERS[name](f)
    assert source(g, C) == source(f, C)
    assert source(lambda x: g(g(x)) * g(x), C) == \
        source(lambda x: f(f(x)) * f(x), C)
    assert source(ad.vmap(g), A) == source(ad.vmap(f), A)
    # A constant becomes an operand of a custom call, and back.
    h = lambda x: f(x) * A
    assert source(CARRIERS[name](h), C) == source(h, C)


def test_only_dead_code_is_dropped():
    def f(x):
        y = np.sin(x)
        np.cos(y * A) + x
        return y, 2, C, x

    jaxpr = ad.make_jaxpr(f)(1.0)
    small = drop_dead(jaxpr)
    assert small.eqns == jaxpr.eqns[:1] and len(jaxpr.eqns) == 4
    assert small.outvars == jaxpr.outvars and small.invars == jaxpr.invars
    assert len(small.consts) == 1 and len(jaxpr.consts) == 2


@pytest.mark.filterwarnings('ignore:.* because a Python loop is unrolled')
def test_a_long_program_compiles_at_recursion_limit_300(lowered):
    def f(x):
        y = x
        for _ in range(1000):
            y = y * 0.999 + x
        return y

    def work():
        sys.setrecursionlimit(300)
        return lowered(f, 1.5)(1.5)[0]

    limit = sys.getrecursionlimit()
    try:
        with ThreadPoolExecutor(1) as pool:     # where the stack is empty
            assert pool.submit(work).result() == f(1.5)
    finally:
        sys.setrecursionlimit(limit)


TABLE = [program for i, program in enumerate(PROGRAMS + CUSTOM_PROGRAMS)
         if program.name not in NOT_STAGED
         and (i % 20 == 0 or program in CUSTOM_PROGRAMS)]


def test_a_lowered_program_is_the_program_run_line_by_line(lowered):
    for program in TABLE:
        f = partial(program.function, np)
        jaxpr = ad.make_jaxpr(f)(*program.args)
        with np.errstate(all='ignore'):
            expected = ad.eval_jaxpr(jaxpr, jaxpr.consts, *program.args)
            found = lowered(f, *program.args)(*program.args)
        for y, z in zip(found, expected, strict=True):
            same_bits(y, z)


def fails(x):
    y = x + 1
    return np.log(y * 2)    # here


@pytest.mark.parametrize('x', [C - 1, np.float64(-1)])
def test_an_error_quotes_its_line(x, lowered):
    line = fails.__code__.co_firstlineno + 2
    program = lowered(lambda x: half(fails(x)), x)
    with np.errstate(all='raise'), pytest.raises(FloatingPointError) as e:
        program(x)
    assert e.value.__notes__ == [
        f"in the operation 'log', called at {__file__}:{line}"]
