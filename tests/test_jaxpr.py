"""Jaxprs: what is written down computes what NumPy computes.

A program of the table is staged, and then run again: by evaluation, and
under the other interpreters.
"""

import re
from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core import typeof
from autodiff_mini.errors import line_text
from autodiff_mini.higher_order.call import call
from autodiff_mini.jaxprs import Equation, Literal, Var
from autodiff_mini.primitives.elementwise import add_p, sin_p
from tests.amount import each
from tests.jaxpr_checks import check_jaxpr
from tests.numerical import assert_close, assert_same, assert_same_type
from tests.programs import is_inexact
from tests.test_abstract import STAGED, each_staged, staged
from tests.test_programs import coarsest, tangents_for
from tests.test_vmap import batched, check_stack
from tests.traces import spied

HERE = re.escape(__file__)
X = np.arange(3.)


def round_trip(f, args):
    """Returns `f`, as a function that runs what was staged once."""
    jaxpr = ad.make_jaxpr(f)(*args)
    return lambda *xs: ad.eval_jaxpr(jaxpr, jaxpr.consts, *xs)[0]


# The table of programs

@each_staged
def test_a_staged_program_computes_what_numpy_computes(program):
    f = partial(program.function, np)
    with np.errstate(all='ignore'):
        assert_same(staged(f, *program.args), f(*program.args),
                    program.ulps)


@each((program for program in STAGED if program.is_smooth),
      composed=True)
def test_a_staged_jvp_is_the_jvp(program):
    tangents = tangents_for(program)
    where = program.perturbed()

    def df(*xs):
        args = list(program.args)
        for i, x in zip(where, xs, strict=True):
            args[i] = x
        return ad.jvp(partial(program.function, np), args, tangents)

    xs = [program.args[i] for i in where]
    y, y_dot = df(*xs)
    jaxpr = ad.make_jaxpr(df)(*xs)
    check_jaxpr(jaxpr)
    assert jaxpr.out_avals == [typeof(y), typeof(y_dot)]
    y2, y_dot2 = ad.eval_jaxpr(jaxpr, jaxpr.consts, *xs)
    assert_same(y2, y, program.ulps)
    assert_same_type(y_dot2, y_dot)
    assert_close(y_dot2, y_dot)


@each(STAGED, composed=True)
def test_vmap_of_a_staged_program_and_a_staged_vmap_are_the_stack(program):
    f, axes = partial(program.function, np), [0] * len(program.args)
    xs = batched(program, axes)
    with np.errstate(all='ignore'):
        check_stack(round_trip(f, program.args), xs, axes)
        expected, actual = ad.vmap(f)(*xs), staged(ad.vmap(f), *xs)
    assert_same_type(actual, expected)
    assert_close(actual, expected,
                 coarsest(program, actual) if is_inexact(actual) else None)


# How jaxprs are printed

def test_printing_aligns_types_and_keeps_parameters():
    def f(x):
        y = x[1:, None, ::2, ...] * 2.5
        return y, np.sum(x, 0), x.astype(np.float32)

    assert str(ad.make_jaxpr(f)(np.ones((3, 4)))) == '''\
{ lambda ; a:float64[3,4] . let
    b:float64[2,1,2] = index[indices=(1:, None, ::2, Ellipsis)] a
    c:float64[2,1,2] = mul b 2.5
    d:float64[4]     = reduce_sum[axis=(0,) keepdims=False] a
    e:float32[3,4]   = astype[dtype=float32 weak_type=False] a
  in (c, d, e) }'''


def test_nested_calls_are_printed_indented():
    @ad.custom_jvp
    def f(x):
        return np.sin(x)

    f.defjvp(lambda primals, tangents: (f(*primals), 3 * tangents[0]))

    def g(x):
        return call(lambda y: f(y) * x, x) + 1

    assert str(ad.make_jaxpr(g)(X)) == '''\
{ lambda ; a:float64[3] . let
    b:float64[3] = call a a
        fun={ lambda ; a:float64[3] b:float64[3] . let
            c:float64[3] = custom_jvp_call[jvp=%s.<lambda>] b
                fun={ lambda ; a:float64[3] . let
                    b:float64[3] = sin a
                  in (b,) }
            d:float64[3] = mul c a
          in (d,) }
    c:float64[3] = add b 1
  in (c,) }''' % 'test_nested_calls_are_printed_indented.<locals>'


def test_printing_more_than_26_names():
    def f(x):
        for _ in range(27 * 26 + 1):
            x = -x
        return x

    lines = str(ad.make_jaxpr(f)(1)).splitlines()
    assert lines[1] == '    b:int   = neg a'
    assert lines[25:28] == ['    z:int   = neg y', '    aa:int  = neg z',
                            '    ab:int  = neg aa']
    assert lines[27 * 26:] == [
        '    aaa:int = neg zz', '    aab:int = neg aaa', '  in (aab,) }']


def test_programs_without_equations_are_printed_short():
    jaxpr = ad.make_jaxpr
    assert str(jaxpr(lambda: ())()) == '{ lambda ; . let\n  in () }'
    assert str(jaxpr(lambda x: 3)(1j)) == (
        '{ lambda ; a:complex . let\n  in (3,) }')
    assert str(jaxpr(lambda x: x)(True)) == (
        '{ lambda ; a:bool . let\n  in (a,) }')
    assert str(jaxpr(lambda x: x[:, -1])(np.ones((2, 2), np.int8))) == (
        '{ lambda ; a:int8[2,2] . let\n'
        '    b:int8[2] = index[indices=(:, -1)] a\n  in (b,) }')


# check_jaxpr

FLOATS = typeof(X)


def planted(make):
    """Returns a jaxpr of `sin` and `add`, with an error that `make` makes."""
    def f(x):
        y = np.sin(x)    # planted here
        return y + x

    jaxpr = ad.make_jaxpr(f)(X)
    check_jaxpr(jaxpr)
    make(jaxpr, *jaxpr.eqns)
    return jaxpr


def use_before(jaxpr, sin, add):
    jaxpr.eqns = [Equation(sin.primitive, [add.outvars[0]], {}, sin.outvars,
                           sin.line), add]


def use_undefined(jaxpr, sin, add):
    sin.invars = [Var(FLOATS)]


def define_twice(jaxpr, sin, add):
    sin.outvars = list(jaxpr.invars)


def define_again(jaxpr, sin, add):
    jaxpr.eqns = [add, sin]
    add.invars, add.outvars = list(jaxpr.invars) * 2, sin.outvars


def wrong_shape(jaxpr, sin, add):
    sin.outvars = [Var(ad.ShapedArray((2,), FLOATS.dtype))]


def wrong_dtype(jaxpr, sin, add):
    sin.outvars = [Var(ad.ShapedArray((3,), np.dtype(np.float32)))]


def wrong_weakness(jaxpr, sin, add):
    sin.outvars = [Var(ad.ShapedArray((3,), FLOATS.dtype, weak_type=True))]


PLANTED = {
    use_before: 'used before it is defined',
    use_undefined: r'a variable of type float64\[3\] is used before',
    define_twice: r'a variable of type float64\[3\] is defined twice',
    define_again: 'defined twice',
    wrong_shape: r"the result of 'sin' is declared as float64\[2\], "
                 r'but is float64\[3\]',
    wrong_dtype: r'declared as float32\[3\], but is float64\[3\]',
    wrong_weakness: "the result of 'sin' is declared as",
}


@pytest.mark.parametrize('make', PLANTED, ids=lambda f: f.__name__)
def test_planted_errors_are_found_and_the_line_quoted(make):
    jaxpr = planted(make)
    with pytest.raises(TypeError, match='no jaxpr: .*' + PLANTED[make]) as e:
        check_jaxpr(jaxpr)
    (note,) = e.value.__notes__
    where = re.search(f"operation '(sin|add)', asked for at {HERE}:(\\d+)",
                      note)
    with open(__file__) as file:
        line = file.read().splitlines()[int(where[2]) - 1]
    assert ('# planted here' in line) == (where[1] == 'sin')


# eval_jaxpr

def test_every_equation_knows_its_line():
    def f(x):
        y = np.tanh(x)
        return np.sum(y,
                      axis=0) * 2

    first = f.__code__.co_firstlineno
    numbers = [int(line_text(eqn.line).rpartition(':')[2]) - first
               for eqn in ad.make_jaxpr(f)(X).eqns]
    assert numbers == [1, 2, 2]
    # also where a rule of jvp asked for the operation
    jaxpr = ad.make_jaxpr(lambda x: ad.jvp(f, (x,), (x,)))(X)
    lines = [line_text(eqn.line) for eqn in jaxpr.eqns]
    assert {line.rpartition(':')[0] for line in lines} == {__file__}
    assert {int(line.rpartition(':')[2]) - first for line in lines} == {1, 2}


@pytest.mark.parametrize('consts, args, words', [
    ((X,), (), 'has 1 arguments, but 0 were given'),
    ((X,), (X, X), 'has 1 arguments, but 2 were given'),
    ((), (X,), 'has 1 constants, but 0 were given'),
    ((X, X), (X,), 'has 1 constants, but 2 were given'),
])
def test_number_of_arguments_is_checked_and_the_program_shown(
        consts, args, words):
    jaxpr = ad.make_jaxpr(lambda x: x + X)(X)
    with pytest.raises(TypeError, match=words) as e:
        ad.eval_jaxpr(jaxpr, consts, *args)
    assert str(jaxpr) in str(e.value)


def test_the_program_is_run_once_and_then_no_more():
    runs = []

    def f(x):
        runs.append(x)
        return np.sin(x) + x

    g = round_trip(f, (X,))
    _, counts = spied(lambda x: g(x) + g(x), X)
    assert len(runs) == 1
    assert counts == {sin_p: 2, add_p: 3}


def test_outputs_may_be_inputs_literals_and_constants():
    jaxpr = ad.make_jaxpr(lambda x, y: [y, 2, X, x, y, np.float32(1)])(1., X)
    assert jaxpr.eqns == [] and len(jaxpr.consts) == 1
    outs = ad.eval_jaxpr(jaxpr, jaxpr.consts, 5., X + 1)
    for out, expected in zip(outs, [X + 1, 2, X, 5., X + 1, np.float32(1)],
                             strict=True):
        assert_same(out, expected)


# Constants

def test_later_changes_of_a_constant_do_not_show():
    c = np.arange(3.)
    expected = X + c * 2

    def f(x):
        y = x + c * 2
        c[:] = 100.     # while it is traced
        return y

    def g(x):
        return x * c

    jaxpr = ad.make_jaxpr(f)(X)
    assert_same(ad.eval_jaxpr(jaxpr, jaxpr.consts, X)[0], expected)
    jaxpr = ad.make_jaxpr(g)(X)
    c[:] = 7.           # and afterwards
    assert_same(ad.eval_jaxpr(jaxpr, jaxpr.consts, X)[0], X * 100)


def test_an_array_that_changes_while_it_is_traced_is_two_constants():
    c = np.arange(3.)

    def f(x):
        y = x + c
        c[0] = 50.
        return y * c

    jaxpr = ad.make_jaxpr(f)(X)
    assert len(jaxpr.consts) == 2
    expected = (X + X) * [50., 1, 2]
    assert_same(ad.eval_jaxpr(jaxpr, jaxpr.consts, X)[0], expected)


def test_one_array_is_one_constant_and_numbers_are_none():
    c = np.arange(3.)
    jaxpr = ad.make_jaxpr(lambda x: (x + c) * c - c + np.float64(1))(X)
    assert len(jaxpr.consts) == 1
    literals = [v.val for eqn in jaxpr.eqns for v in eqn.invars
                if type(v) is Literal]
    assert literals == [1.0] and type(literals[0]) is np.float64


def test_an_outer_tracer_is_a_constant():
    def f(x):
        jaxpr = ad.make_jaxpr(lambda y: y * x + x)(X)
        assert len(jaxpr.consts) == 1
        (y,) = ad.eval_jaxpr(jaxpr, jaxpr.consts, X)
        return y

    y, y_dot = ad.jvp(f, (2.,), (1.,))
    assert_same(y, X * 2 + 2)
    assert_same(y_dot, X + 1)
    assert_same(ad.vmap(f)(X), X[:, None] * X + X[:, None])
    assert_same(ad.vmap(ad.grad(lambda x: f(x).sum()))(X), 0 * X + 6)


# Tracers that do not belong there

def test_a_tracer_that_escaped_is_unexpected():
    leaked = []
    ad.make_jaxpr(lambda x: leaked.append(np.sin(x)))(1.)
    (x,) = leaked
    uses = [lambda: x * 2, lambda: ad.make_jaxpr(lambda y: y * x)(1.),
            lambda: ad.make_jaxpr(lambda y: x)(1.),
            lambda: ad.linearize(lambda y: y * x, 1.),
            lambda: ad.grad(lambda y: y * x)(1.),
            lambda: ad.eval_shape(lambda y: y + x, 1.)]
    for use in uses:
        with pytest.raises(ad.UnexpectedTracerError,
                           match=f'{HERE}.* has returned'):
            use()


# Arguments and results

def test_arguments_may_be_trees_keywords_and_types():
    def f(p, *, k, n=2):
        """Adds them up."""
        return {'y': [p['x'] * k, n], 'none': None}

    jaxpr = ad.make_jaxpr(f)({'x': typeof(X)}, k=np.float32(2))
    assert list(map(str, jaxpr.in_avals)) == ['float64[3]', 'float32[]']
    assert list(map(str, jaxpr.out_avals)) == ['float64[3]', 'int64[]']
    assert_same(ad.eval_jaxpr(jaxpr, [], X, np.float32(3))[0], X * 3)
    staged_f = ad.make_jaxpr(f)
    assert staged_f.__wrapped__ is f and staged_f.__doc__ == 'Adds them up.'


def test_static_arguments_are_not_traced():
    """Each is what it is: by position, from the end, and by keyword."""
    def f(x, mode, n):
        return x ** n if mode == 'power' else x * n

    for static in ((1, 2), [1, -1]):
        make = ad.make_jaxpr(f, static_argnums=static)
        for jaxpr in (make(X, 'power', 2), make(X, n=2, mode='power')):
            assert [aval.shape for aval in jaxpr.in_avals] == [(3,)]
            assert_same(ad.eval_jaxpr(jaxpr, [], X)[0], X ** 2)
    jaxpr = ad.make_jaxpr(f, 1)(X, 'times', np.arange(3.))
    assert len(jaxpr.in_avals) == 2
    unhashable = ad.make_jaxpr(lambda a, x: x[a[0]], static_argnums=0)
    assert_same(ad.eval_jaxpr(unhashable([1], X), [], X)[0], X[1])
    with pytest.raises(ValueError, match='no argument 3 in .*f, whose'):
        ad.make_jaxpr(f, static_argnums=3)
    with pytest.raises(TypeError, match=r'args\[2\].*type str'):
        ad.make_jaxpr(f, static_argnums=1)(X, 'power', 'a')


class Described:
    """As jax.ShapeDtypeStruct: a shape and a dtype, and no array."""

    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, dtype


def test_whatever_has_shape_and_dtype_stands_for_an_array():
    """In eval_shape, make_jaxpr and linear_transpose, as in JAX."""
    f = lambda p: p['x'] * 2
    for dtype in (np.float32, 'f4', np.dtype('f4')):
        x = {'x': Described([3, 2], dtype)}
        assert ad.eval_shape(f, x) == ad.ShapedArray((3, 2), np.dtype('f4'))
        assert ad.make_jaxpr(f)(x).in_avals == [ad.eval_shape(f, x)]
        (back,) = ad.linear_transpose(f, x)(np.ones((3, 2), 'f'))
        assert_same(back['x'], np.full((3, 2), 2, 'f'))
    for wrong in (Described(3, float), Described((3,), 'U1'), np.float64,
                  Described(('a',), float)):
        for transform in (ad.eval_shape, ad.linear_transpose):
            with pytest.raises(TypeError, match=(
                    r'\[0\]: a value of type \w+ cannot be traced')):
                transform(np.sin, wrong)
    with pytest.raises(TypeError, match='type Described'):
        ad.grad(np.sum)(Described((3,), float))


def test_eval_shape_returns_a_tree_of_types():
    def f(p, *, k):
        return {'sum': (p[0] @ p[1] * k).sum(), 'k': [k, None]}

    p = typeof(np.ones((2, 3), np.float32)), np.ones(3)
    shapes = ad.eval_shape(f, p, k=2)
    assert shapes == {'sum': typeof(np.float64(1)), 'k': [typeof(2), None]}
    assert shapes['k'][0].weak_type


@pytest.mark.parametrize('transform', [
    ad.make_jaxpr, lambda f: partial(ad.eval_shape, f)])
def test_what_is_no_array_is_named(transform):
    name = 'test_what_is_no_array_is_named.<locals>.<lambda>'
    with pytest.raises(TypeError, match=re.escape(
            f'of {name}: args[0][1]: a value of type str')):
        transform(lambda p: 1)((1., 'a'))
    with pytest.raises(TypeError, match=r"kwargs\['k'\].*type object"):
        transform(lambda k: 1)(k=object())
    with pytest.raises(TypeError, match=re.escape(
            f"of {name}: output['y']: a value of type str")):
        transform(lambda x: {'y': 'a'})(1.)
