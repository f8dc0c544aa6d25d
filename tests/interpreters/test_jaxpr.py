"""Guard jaxprs: what they hold, how they are printed, checked and run."""

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.calls.call import call
from autodiff_mini.core.jaxprs import Literal, Var
from autodiff_mini.core.lines import line_text
from autodiff_mini.core.types import typeof
from tests.support.jaxpr_checks import check_jaxpr
from tests.support.numerical import assert_same

X = np.arange(3.)


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


def test_names_after_the_26th_have_two_letters():
    def f(x):
        for _ in range(27 * 26 + 1):
            x = -x
        return x

    lines = str(ad.make_jaxpr(f)(1)).splitlines()
    assert lines[26] == '    aa:int  = neg z'
    assert lines[-2:] == ['    aab:int = neg aaa', '  in (aab,) }']


def test_planted_errors_are_found_and_the_line_quoted():
    def use_before(sin, add):
        sin.invars = add.outvars

    def define_twice(sin, add):
        sin.outvars = sin.invars

    def wrong_shape(sin, add):
        sin.outvars = [Var(ad.ShapedArray((2,), typeof(X).dtype))]

    for plant, words in (
            (use_before, 'used before it is defined'),
            (define_twice, r'type float64\[3\] is defined twice'),
            (wrong_shape, r"'sin' is declared as float64\[2\], but is")):
        jaxpr = ad.make_jaxpr(lambda x: np.sin(x) + x)(X)
        plant(*jaxpr.eqns)
        with pytest.raises(TypeError, match='no jaxpr: .*' + words) as e:
            check_jaxpr(jaxpr)
        [note] = e.value.__notes__
        assert f"in the operation 'sin', called at {__file__}:" in note


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


def test_number_of_arguments_is_checked_and_the_program_shown():
    jaxpr = ad.make_jaxpr(lambda x: x + X)(X)
    for consts, args, words in (
            ((X,), (), 'arguments: expected 1, but got 0'),
            ((X, X), (X,), 'constants: expected 1, but got 2')):
        with pytest.raises(TypeError, match=words) as e:
            ad.eval_jaxpr(jaxpr, consts, *args)
        assert str(jaxpr) in str(e.value)


def test_outputs_can_be_inputs_literals_and_constants():
    jaxpr = ad.make_jaxpr(lambda x, y: [y, 2, X, x, y, np.float32(1)])(1., X)
    assert jaxpr.eqns == [] and len(jaxpr.consts) == 1
    outs = ad.eval_jaxpr(jaxpr, jaxpr.consts, 5., X + 1)
    for out, expected in zip(outs, [X + 1, 2, X, 5., X + 1, np.float32(1)],
                             strict=True):
        assert_same(out, expected)


def test_a_program_ignores_later_changes_of_a_constant():
    c = np.arange(3.)

    def f(x):
        y = x + c * 2
        c[:] = 100.     # while it is traced
        return y + c

    jaxpr = ad.make_jaxpr(f)(X)
    c[:] = 7.           # and afterwards
    assert_same(ad.eval_jaxpr(jaxpr, jaxpr.consts, X)[0], X + X * 2 + 100)


def test_one_array_is_one_constant_and_numbers_are_literals():
    c = np.arange(3.)
    jaxpr = ad.make_jaxpr(lambda x: (x + c) * c - c + np.float64(1))(X)
    assert len(jaxpr.consts) == 1
    [literal] = [v.val for eqn in jaxpr.eqns for v in eqn.invars
                 if type(v) is Literal]
    assert_same(literal, np.float64(1))


def test_an_outer_tracer_is_a_constant():
    def f(x):
        jaxpr = ad.make_jaxpr(lambda y: y * x + x)(X)
        assert len(jaxpr.consts) == 1
        (y,) = ad.eval_jaxpr(jaxpr, jaxpr.consts, X)
        return y

    ad.tree_map(assert_same, ad.jvp(f, (2.,), (1.,)), (X * 2 + 2, X + 1))
    assert_same(ad.vmap(f)(X), X[:, None] * X + X[:, None])


def test_arguments_can_be_trees_keywords_and_types():
    def f(p, *, k, n=2):
        """Add them up."""
        return {'y': [p['x'] * k, n], 'none': None}

    jaxpr = ad.make_jaxpr(f)({'x': typeof(X)}, k=np.float32(2))
    assert list(map(str, jaxpr.in_avals)) == ['float64[3]', 'float32[]']
    assert list(map(str, jaxpr.out_avals)) == ['float64[3]', 'int64[]']
    assert_same(ad.eval_jaxpr(jaxpr, [], X, np.float32(3))[0], X * 3)
    assert ad.make_jaxpr(f).__doc__ == 'Add them up.'


def test_eval_shape_returns_a_tree_of_types():
    def f(p, *, k):
        return {'sum': (p[0] @ p[1] * k).sum(), 'k': [k, None]}

    p = typeof(np.ones((2, 3), np.float32)), np.ones(3)
    shapes = ad.eval_shape(f, p, k=2)
    assert shapes == {'sum': typeof(np.float64(1)), 'k': [typeof(2), None]}
    assert shapes['k'][0].weak_type
