"""Lowering: which Python comes out, to the letter, and what it computes."""

import ast
import builtins
import keyword
import re
import tracemalloc
from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core import Primitive, Trace, current_trace
from autodiff_mini.higher_order.call import call
from autodiff_mini.interpreters.abstract import abstract_rules
from autodiff_mini.interpreters.jaxpr import (
    Equation,
    Jaxpr,
    Literal,
    Var,
    check_jaxpr,
)
from autodiff_mini.interpreters.lowering import (
    LARGE,
    OPERATORS,
    Emitter,
    drop_dead,
    inline,
    last_uses,
    lower,
    lowering_rules,
)
from autodiff_mini.primitives import add_p, mul_p, sin_p
from tests.custom_programs import CUSTOM_PROGRAMS
from tests.numerical import python_type
from tests.programs import PROGRAMS
from tests.test_abstract import NOT_STAGED

C, A = np.arange(3.0), np.arange(6.0).reshape(2, 3)


def lowered(f, *args):
    """Returns a program, lowered; of its jaxpr nothing changes."""
    jaxpr = ad.make_jaxpr(f)(*args)
    before = str(jaxpr)
    program = lower(jaxpr)
    assert str(jaxpr) == before
    assert current_trace() is Trace.base
    return program


def source(f, *args):
    return lowered(f, *args).source


def text(*lines):
    """Returns the source of a program with these lines."""
    first, *rest = lines
    return '\n'.join([f'def program({first}):',
                      *[f'    {line}' for line in rest]])


def same_bits(x, y):
    """Asserts that two results are the same, to the bit and the type."""
    assert python_type(x) is python_type(y)
    x, y = np.asarray(x), np.asarray(y)
    assert (x.shape, x.dtype) == (y.shape, y.dtype)
    np.testing.assert_array_equal(x, y)
    if x.dtype.kind == 'f':
        np.testing.assert_array_equal(np.signbit(x), np.signbit(y))


# The text

half = ad.jit(lambda x: x / 2)
SOURCES = {
    'identity': (lambda x: x, [1.0], ('a', 'return [a]')),
    'nothing': (lambda: (), [], ('', 'return []')),
    'a_literal': (lambda x: 3, [1.0], ('a', 'return [3]')),
    'no_arguments': (lambda: (2.5, np.sin(1.5)), [], (
        '', 'return [2.5, const_1]')),
    'twice_the_same': (lambda x, y: (y, x, y), [1.0, 2.0],
                       ('a, b', 'return [b, a, b]')),
    'a_chain': (lambda x, y: np.sin(x) * y + x, [1.0, C], (
        'a, b', 'c = np.sin(a)', 'd = c * b', 'e = d + a', 'return [e]')),
    'operators': (lambda x, n: (
        -x, abs(x), x - 1, 1 - x, x / n, x // n, x % n, x ** n, n ** x,
        ~n, n & 1, n | 1, n ^ 1, n << 1, n >> 1), [C, 2], (
        'a, b', 'c = -a', 'd = abs(a)', 'e = a - 1', 'f = 1 - a',
        'g = a / b', 'h = a // b', 'i = a % b', 'j = a ** b', 'k = b ** a',
        'l = ~b', 'm = b & 1', 'n = b | 1', 'o = b ^ 1', 'p = b << 1',
        'q = b >> 1',
        'return [c, d, e, f, g, h, i, j, k, l, m, n, o, p, q]')),
    'comparisons': (lambda x, y: (x < y, x <= y, x > y, x >= y, x == y,
                                  x != y), [C, C], (
        'a, b', 'c = a < b', 'd = a <= b', 'e = a > b', 'f = a >= b',
        'g = a == b', 'h = a != b', 'return [c, d, e, f, g, h]')),
    'functions': (lambda x: (np.cos(x), np.maximum(x, 0), np.arctan2(1, x),
                             np.conj(x), np.where(x > 0, x, 1.0)), [C], (
        'a', 'b = np.cos(a)', 'c = np.maximum(a, 0)',
        'd = np.arctan2(1, a)', 'e = np.conjugate(a)', 'f = a > 0',
        'g = np.where(f, a, 1.0)', 'return [b, c, d, e, g]')),
    'parameters': (lambda x: (np.sum(x, 0), np.cumsum(x, 1), x.T,
                              np.reshape(x, 6)), [A], (
        'a', 'b = np.sum(a, axis=(0,), keepdims=False)',
        'c = np.cumsum(a, axis=1)', 'd = np.transpose(a, axes=(1, 0))',
        'e = np.reshape(a, shape=(6,))', 'return [b, c, d, e]')),
    'products': (lambda x, y: (x @ y, np.linalg.inv(x @ x.T)), [A, C], (
        'a, b', 'c = a @ b', 'd = np.transpose(a, axes=(1, 0))', 'e = a @ d',
        'f = np.linalg.solve(e, const_1)', 'return [c, f]')),
    'several_results': (lambda a: tuple(np.linalg.slogdet(a)), [np.eye(2)], (
        'a', '[b, c] = np.linalg.slogdet(a)', 'return [b, c]')),
    'joins': (lambda x: (np.stack([x, x], 1), np.concatenate([x, x])), [C], (
        'a', 'b = np.stack([a, a], 1)', 'c = np.concatenate([a, a], 0)',
        'return [b, c]')),
    'negative': (lambda x: (x * -1, -2.5 - x, x ** -1, -1 ** x), [1.0], (
        'a', 'b = a * (-1)', 'c = (-2.5) - a', 'd = a ** (-1)', 'e = 1 ** a',
        'f = -e', 'return [b, c, d, f]')),
    'negative_base': (lambda x: ((-2) ** x, (-0.5) ** x, -x ** 2), [1.0], (
        'a', 'b = (-2) ** a', 'c = (-0.5) ** a', 'd = a ** 2', 'e = -d',
        'return [b, c, e]')),
    'not_finite': (lambda x: (x + np.nan, x - np.inf, x + -np.inf, x * -0.0,
                              x < 1e400, x + 1e300, x * 5e-324), [1.0], (
        'a', 'b = a + np.nan', 'c = a - np.inf', 'd = a + (-np.inf)',
        'e = a * (-0.0)', 'f = a < np.inf', 'g = a + 1e+300',
        'h = a * 5e-324', 'return [b, c, d, e, f, g, h]')),
    'booleans': (lambda b: (b & True, False | b), [True], (
        'a', 'b = a & True', 'c = False | a', 'return [b, c]')),
    'constants': (lambda x: x * C + C - A[0], [C], (
        'a', 'b = a * const_1', 'c = b + const_1', 'd = c - const_2',
        'return [d]')),
    'scalars': (lambda x: (x * np.float32(2), x * 2j), [C], (
        'a', 'b = a * const_1', 'c = a * const_2', 'return [b, c]')),
    'dtypes': (lambda x: (x.astype(np.float32), x.astype(np.int8)), [C], (
        'a', 'b = astype_impl(a, dtype=float32_dtype, weak_type=False)',
        'c = astype_impl(a, dtype=int8_dtype, weak_type=False)',
        'return [b, c]')),
    'dead_code': (lambda x: [np.cos(x), np.sin(np.cos(x) * A[0]), x * 2][2],
                  [C], ('a', 'b = a * 2', 'return [b]')),
    'half_dead': (lambda a: np.linalg.slogdet(a)[1], [np.eye(2)], (
        'a', '[b, c] = np.linalg.slogdet(a)', 'return [c]')),
    'inlined_twice': (lambda x: half(half(x) + 1), [1.0], (
        'a', 'b = a / 2', 'c = b + 1', 'd = c / 2', 'return [d]')),
    'inlined_in_inlined': (ad.jit(lambda x: half(x) * half(x)), [1.0], (
        'a', 'b = a / 2', 'c = a / 2', 'd = b * c', 'return [d]')),
    'inlined_nothing': (lambda x: ad.jit(lambda x, y: (y, 2.0, x, C))(x, x),
                        [1.0], ('a', 'return [a, 2.0, a, const_1]')),
    'inlined_literal': (lambda x: ad.jit(lambda x, y: x * y)(x, -2.0), [1.0],
                        ('a', 'b = a * (-2.0)', 'return [b]')),
}


@pytest.mark.parametrize('name', SOURCES)
def test_exactly_this_source(name):
    f, args, lines = SOURCES[name]
    assert source(f, *args) == text(*lines)


@pytest.mark.parametrize('name', SOURCES)
def test_the_source_computes_what_the_program_does(name):
    f, args, _ = SOURCES[name]
    for y, expected in zip(lowered(f, *args).function(*args),
                           ad.tree_leaves(f(*args)), strict=True):
        same_bits(y, expected)


PLACES = {
    'np.s_[0]': '0', 'np.s_[-1]': '-1', 'np.s_[:]': ':', 'np.s_[1:]': '1:',
    'np.s_[:2]': ':2', 'np.s_[::-1]': '::-1', 'np.s_[-1:-3:-1]': '-1:-3:-1',
    'np.s_[1, 0:2]': '1, 0:2', 'np.s_[...]': '...', 'np.s_[()]': '()',
    'np.s_[None]': 'None', 'np.s_[..., None, 0]': '..., None, 0',
    'np.s_[:, None]': ':, None',
    'np.s_[[0, 1]]': 'const_1', 'np.s_[[0, 1], 1]': 'const_1, 1',
    'np.s_[:, [0, 1]]': ':, const_1',
    'np.s_[[0, 1], [1, 0]]': 'const_1, const_2',
    'np.s_[np.int64(1)]': '1', 'np.s_[np.int8(0):np.int64(1)]': '0:1',
}


@pytest.mark.parametrize('index', PLACES)
def test_an_index_is_written_as_users_do(index):
    place = eval(index)
    program = lowered(lambda x: x[place], A)
    lines = program.source.split('\n')
    assert lines[-2:] == [f'    b = a[{PLACES[index]}]', '    return [b]']
    same_bits(program.function(A)[0], A[place])


def test_a_traced_index_is_a_variable():
    program = lowered(lambda x, i: x[i, ..., i, None], A, 1)
    *_, last, end = program.source.split('\n')
    assert (last, end) == ('    e = a[c, ..., d, None]', '    return [e]')
    same_bits(program.function(A, 1)[0], A[1, ..., 1, None])


def test_every_operator_has_the_primitive_that_it_stands_for():
    implementations = {p.impl for p in abstract_rules
                       if isinstance(p, Primitive)}
    assert OPERATORS.keys() <= implementations
    assert len(set(OPERATORS.values())) == len(OPERATORS) == 22


# Literals

LITERALS = [
    True, False, 0, 3, -3, 10**18, 0.0, -0.0, 1.5, -1.5, 1e22, -1e-300,
    0.1, 1 / 3, float('nan'), float('inf'), -float('inf'), 2j, -0.0 + 1j,
    *[np.dtype(code).type(2) for code in
      '?' + np.typecodes['AllInteger'] + np.typecodes['AllFloat']],
    np.float64('nan'), np.float32(-0.0), np.float16('-inf'), np.int8(-128),
    np.uint64(2**64 - 1), np.longdouble(1) / 3, np.complex64(-0.0)]


@pytest.mark.parametrize('x', LITERALS, ids=lambda x:
                         f'{type(x).__name__}-{x}')
def test_a_literal_keeps_its_type_and_its_bits(x):
    (y,) = lowered(lambda a: x, 1.0).function(1.0)
    assert type(y) is type(x)
    same_bits(y, x)
    z, w = (f(2.0) for f in (lowered(lambda a: a + x, 1.0).function,
                             lambda a: [a + x]))
    same_bits(z[0], w[0])
    for a in (np.float32(3), np.ones(2, np.float16)):
        f = lambda a: (a * x, x * a)
        with np.errstate(all='ignore'):
            results = lowered(f, a).function(a)
            for y, expected in zip(results, f(a), strict=True):
                same_bits(y, expected)


@pytest.mark.parametrize('dtype', ['>f8', '<f8', 'f4', '>i2', '?', 'c8'])
def test_dtypes_of_one_name_are_kept_apart(dtype):
    wide = np.dtype(dtype)
    f = lambda x: (x.astype(wide), x.astype(wide.newbyteorder()))
    for y, expected in zip(lowered(f, C).function(C), f(C), strict=True):
        same_bits(y, expected)


# Names

def names_in(program):
    """Returns the names that a source assigns, and those that it reads."""
    names = [node for node in ast.walk(ast.parse(program))
             if isinstance(node, ast.Name)]
    return ([node.id for node in names if isinstance(node.ctx, ast.Store)],
            {node.id for node in names if isinstance(node.ctx, ast.Load)})


def test_no_variable_has_a_name_that_python_or_the_source_needs():
    """Of 19,000: those of two letters, and some of three."""
    def f(x):
        for _ in range(19_000):
            x = np.abs(x + 1) if _ % 1000 == 0 else x + 1
        return x

    program = lowered(f, 0)
    assigned, _ = names_in(program.source)
    assert len(set(assigned)) == len(assigned) == 19_020
    taken = {*keyword.kwlist, *dir(builtins), 'np'}
    assert not taken & set(assigned)
    passed_by = [name for name in ('if', 'in', 'as', 'is', 'or', 'np', 'id',
                                   'abs', 'and', 'def', 'for', 'not')]
    assert set(passed_by) <= taken
    assert {'it', 'ir', 'aw', 'nq', 'fox', 'nou'} <= set(assigned)
    assert program.function(0) == [19_000]


def test_keywords_are_no_names_of_arguments_either():
    program = lowered(lambda *xs: sum(xs), *range(1000))
    arguments = ast.parse(program.source).body[0].args.args
    assert len({a.arg for a in arguments}) == 1000
    assert program.function(*range(1000)) == [499_500]


def user_primitive(name):
    p = ad.Primitive(name)
    p.def_impl(lambda x, **params: x * len(params))
    p.def_abstract_eval(lambda x, **params: x)
    return p


NASTY = ['a b', 'my-scale', '1st', 'if', 'np', 'x); import os', '', 'λ', "'",
         '"""', 'a\nb', 'const_1', '{}', 'program', 'sin']


@pytest.mark.parametrize('name', NASTY)
def test_a_primitive_may_have_any_name(name):
    p = user_primitive(name)
    program = lowered(lambda x: p.bind(x, k=1, n=2) + C, C)
    same_bits(program.function(C)[0], 2 * C + C)
    assert 'import' not in program.source


@pytest.mark.parametrize('key', NASTY)
def test_a_parameter_may_have_any_name(key):
    p = user_primitive('p')
    program = lowered(lambda x: p.bind(x, **{key: 1, 'n': 2}), C)
    same_bits(program.function(C)[0], 2 * C)


@pytest.mark.parametrize('value', [
    "'", '"""', '\\', "'); import os  #", 'a\nb', '{}', None, (), (1,),
    ('a', (None, -2.5), [3]), slice(1, None), np.dtype('f4'), {'a': 1},
    (np.float32, 'f4'), np.sin, float('nan'), -1, 2j, np.array([1, 2])])
def test_a_parameter_arrives_as_it_was(value):
    got = []
    p = ad.Primitive('p')
    p.def_impl(lambda x, value: got.append(value) or x)
    p.def_abstract_eval(lambda x, value: x)
    lowered(lambda x: p.bind(x, value=value), 1.0).function(1.0)
    (arrived,) = got
    assert arrived is value or repr(arrived) == repr(value)
    assert type(arrived) is type(value)


def test_no_word_of_the_user_s_is_in_the_source():
    @ad.custom_jvp
    def secret_function(secret_argument):
        """A secret docstring."""
        secret_local = secret_argument * 2.0 * C
        return ad.jit(lambda secret: np.sin(secret))(secret_local)

    secret_function.defjvps(lambda secret_tangent, y, x: secret_tangent)
    program = source(lambda secret: {'secret': secret_function(**secret)},
                     {'secret_argument': C})
    assert 'secret' not in program.lower()
    assigned, read = names_in(program)
    assert all(re.fullmatch('[a-z]+', name) for name in assigned)
    assert read - set(assigned) - {'a'} <= {'np', 'const_1', 'const_2'}


# What the scope holds

def test_one_constant_has_one_name():
    d = C.copy()
    program = lowered(lambda x: (x * C, x + C, x * d), C)
    kept = [x for name, x in program.function.__globals__.items()
            if name.startswith('const')]
    assert len(kept) == 2
    assert not any(x is C or x is d for x in kept)      # but copies of them


def test_constants_of_dead_code_are_not_kept():
    big = np.ones(1000)
    program = lowered(lambda x: (np.sin(x + big), x)[1], 1.0)
    assert set(program.function.__globals__) <= {'np', 'program',
                                                 '__builtins__'}


def test_each_program_has_a_scope_of_its_own():
    f, g = lowered(lambda x: x * C, C), lowered(lambda x: x * A, C)
    assert f.source == g.source
    same_bits(f.function(C)[0], C * C)
    same_bits(g.function(C)[0], C * A)


def test_what_is_not_numpy_s_is_called_by_its_implementation():
    def impl(x, n):
        return x * n

    p = Primitive('p', impl)
    abstract_rules[p] = lambda x, n: x
    try:
        program = lowered(lambda x: p.bind(x, n=3), 2.0)
        assert program.source == text('a', 'b = p_impl(a, n=3)',
                                      'return [b]')
        assert program.function.__globals__['p_impl'] is impl
        assert program.function(2.0) == [6.0]
        # a function of that name, but not NumPy's
        impl.__name__ = 'sin'
        assert lowered(lambda x: p.bind(x, n=3), 2.0).function(2.0) == [6.0]
    finally:
        del abstract_rules[p]


def test_a_rule_of_its_own_is_asked():
    p = user_primitive('p')
    seen = []

    @p.def_lowering
    def p_lowering(emitter, x, *, n):
        seen.append((type(emitter), x, n))
        return f'{x} + {emitter.constant("shift", C)} * {emitter.value(n)}'

    program = lowered(lambda x: p.bind(np.sin(x), n=-2) * 2, C)
    assert program.source == text(
        'a', 'b = np.sin(a)', 'c = b + shift * (-2)', 'd = c * 2',
        'return [d]')
    assert seen == [(Emitter, 'b', -2)]
    same_bits(program.function(C)[0], (np.sin(C) + C * -2) * 2)
    del lowering_rules[p]


# Inlining

def rule(p, t):
    return p[0], t[0]


def with_jvp(f):
    g = ad.custom_jvp(f)
    g.defjvp(rule)
    return g


def with_vjp(f):
    g = ad.custom_vjp(f)
    g.defvjp(lambda x: (x, None), lambda r, ct: (ct,))
    return g


CARRIERS = {
    'custom_jvp': with_jvp, 'custom_vjp': with_vjp, 'jit': ad.jit,
    'checkpoint': ad.checkpoint, 'call': lambda f: partial(call, f),
    'jit_of_custom_jvp': lambda f: ad.jit(with_jvp(f)),
    'custom_jvp_of_jit': lambda f: with_jvp(ad.jit(f)),
    'twice': lambda f: with_vjp(with_jvp(ad.checkpoint(f))),
}


@pytest.mark.parametrize('name', CARRIERS)
def test_d5_lowering_forgets_what_carries_a_function(name):
    """lower(custom_jvp_call(f, f_jvp)) == lower(f)"""
    f = lambda x: np.sin(x) * x + 2.0
    g = CARRIERS[name](f)
    assert source(g, C) == source(f, C)
    assert source(lambda x: g(g(x)) * g(x), C) == \
        source(lambda x: f(f(x)) * f(x), C)
    assert source(ad.vmap(g), A) == source(ad.vmap(f), A)
    # a constant becomes an operand of a custom call, and back
    h = lambda x: f(x) * A
    assert source(CARRIERS[name](h), C) == source(h, C)


@pytest.mark.parametrize('name', CARRIERS)
def test_an_inlined_program_is_a_program(name):
    g = CARRIERS[name](lambda x: np.sin(x) * C)
    jaxpr = ad.make_jaxpr(lambda x: g(g(x)) + g(x * 2))(C)
    flat = inline(jaxpr)
    check_jaxpr(flat)
    assert [eqn.primitive.name for eqn in flat.eqns] == [
        'sin', 'mul', 'sin', 'mul', 'mul', 'sin', 'mul', 'add']
    same_bits(ad.eval_jaxpr(flat, flat.consts, C)[0],
              ad.eval_jaxpr(jaxpr, jaxpr.consts, C)[0])


def test_one_and_the_same_program_is_inlined_many_times():
    inner = ad.jit(lambda x, y: (y, np.sin(x), 2.0))

    def f(x):
        y, z = x, x
        for _ in range(3):
            y, z, _ = inner(y, z)
        return y + z

    jaxpr = ad.make_jaxpr(f)(np.float64(1))
    programs = {id(eqn.params['jaxpr']) for eqn in jaxpr.eqns[:3]}
    assert len(programs) == 1
    check_jaxpr(inline(jaxpr))
    same_bits(lower(jaxpr).function(np.float64(0.5))[0],
              f(np.float64(0.5)))


def test_what_is_inlined_remembers_the_user_s_lines():
    inner = ad.jit(lambda x: np.sin(x))
    (eqn,) = inline(ad.make_jaxpr(inner)(1.0)).eqns
    assert eqn.primitive is sin_p and eqn.line[0].co_filename == __file__


# Dead code

def test_dead_code_is_dropped_and_nothing_else():
    x, y, z, dead = (Var(ad.typeof(1.0)) for _ in range(4))
    c, unused = Var(ad.typeof(C)), Var(ad.typeof(C))
    eqns = [Equation(sin_p, [x], {}, [y]), Equation(mul_p, [y, y], {}, [z]),
            Equation(add_p, [z, unused], {}, [dead]),
            Equation(add_p, [dead, y], {}, [Var(ad.typeof(C))])]
    jaxpr = Jaxpr([c, unused], [x], eqns, [y, Literal(2), c], [C, A])
    small = drop_dead(jaxpr)
    assert small.eqns == eqns[:1]
    assert small.constvars == [c] and small.consts == [C]
    assert small.invars == [x] and small.outvars == jaxpr.outvars
    assert len(jaxpr.eqns) == 4 and jaxpr.constvars == [c, unused]


def test_arguments_that_nobody_needs_stay_arguments():
    assert source(lambda x, y, z: y * 2, 1.0, 2.0, 3.0) == text(
        'a, b, c', 'd = b * 2', 'return [d]')


# Large arrays go when nobody needs them

BIG = np.ones((LARGE // 32, 32))


def test_large_arrays_are_deleted_after_their_last_use():
    f = lambda x: np.sum(np.cos(np.sin(x)) * np.sin(x[0]))
    assert source(f, BIG) == text(
        'a', 'b = np.sin(a)', 'c = np.cos(b)', 'del b', 'd = a[0]',
        'e = np.sin(d)', 'f = c * e', 'del c',
        'g = np.sum(f, axis=(0, 1), keepdims=False)', 'del f', 'return [g]')


def test_what_is_an_argument_a_constant_or_a_result_stays():
    const = BIG * 2

    def f(x):
        y = x * const
        return y, np.sin(y), y * 3, x

    assert 'del' not in source(f, BIG)
    program = lowered(f, BIG)
    for _ in range(2):
        for y, expected in zip(program.function(BIG), f(BIG), strict=True):
            same_bits(y, expected)


def test_smaller_ones_are_not():
    assert 'del' not in source(lambda x: np.cos(np.sin(x)), BIG[1:])
    assert 'del b' in source(lambda x: np.cos(np.sin(x)), BIG)


def test_results_that_nobody_takes_are_deleted_at_once():
    q = ad.Primitive('q', multiple_results=True)
    q.def_impl(lambda x: [x, x + 1])
    q.def_abstract_eval(lambda x: [x, x])
    lines = source(lambda x: q.bind(x)[1], BIG).split('\n')
    assert lines[1:] == ['    [b, c] = q_impl(a)', '    del b',
                         '    return [c]']


def test_a_value_is_deleted_once_though_used_twice():
    jaxpr = ad.make_jaxpr(lambda x: np.cos(np.sin(x) * np.sin(x)))(BIG)
    sin, again, mul, cos = jaxpr.eqns
    assert last_uses(jaxpr) == [[], [], [*sin.outvars, *again.outvars],
                                mul.outvars]
    square = ad.make_jaxpr(lambda x: (lambda y: np.cos(y * y))(np.sin(x)))(
        BIG)
    assert last_uses(square)[1] == square.eqns[0].outvars


def test_a_long_chain_needs_two_arrays_at_a_time():
    def f(x):
        for _ in range(30):
            x = np.sin(x)
        return x

    x = np.ones(100_000)
    program = lowered(f, x).function
    tracemalloc.start()
    try:
        program(x)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2.5 * x.nbytes


# The whole table

TABLE = [program for i, program in enumerate(PROGRAMS + CUSTOM_PROGRAMS)
         if program.name not in NOT_STAGED
         and (i % 20 == 0 or program in CUSTOM_PROGRAMS)]


@pytest.mark.parametrize('program', TABLE, ids=str)
def test_a_lowered_program_is_the_program_run_line_by_line(program):
    f = partial(program.function, np)
    jaxpr = ad.make_jaxpr(f)(*program.args)
    with np.errstate(all='ignore'):
        ys = lower(jaxpr).function(*program.args)
        expected = ad.eval_jaxpr(jaxpr, jaxpr.consts, *program.args)
    for y, z in zip(ys, expected, strict=True):
        same_bits(y, z)
