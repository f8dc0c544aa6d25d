"""Guard transposition: linear programs, run backwards.

The definition is the test: `<J v, w>` is `<v, J^T w>`, for all v and w.
"""

import re
from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core.trace import Primitive
from autodiff_mini.core.types import typeof
from autodiff_mini.interpreters.abstract import rules as abstract_rules
from autodiff_mini.interpreters.transpose import fit_cotangent
from autodiff_mini.interpreters.transpose import rules as transpose_rules
from autodiff_mini.primitives.elementwise import add_p, mul_p
from autodiff_mini.primitives.indexing import OPERAND, add_at_p
from tests.support.amount import each
from tests.support.jaxpr_checks import check_jaxpr
from tests.support.numerical import (
    assert_close, assert_same, assert_same_type, python_type, widen)
from tests.support.tangents import (
    coarsest, cotangent_for, inexact_only, random_tangent, tangents_for)
from tests.support.traces import spied
from tests.tables.custom_programs import CUSTOM_PROGRAMS
from tests.tables.programs import NOT_STAGED, PROGRAMS, is_inexact

HERE = re.escape(__file__)
X = np.arange(3.) + 1
EVERY = PROGRAMS + CUSTOM_PROGRAMS


def inner(xs, ys):
    """Return the inner product of two lists of arrays, or its real part.
    """
    return sum((np.sum(np.real(widen(x) * widen(y))) for x, y in zip(xs, ys)
                if is_inexact(x)), np.longdouble(0))


def check_cotangents(xs, x_bars):
    """Assert that cotangents have the shapes and dtypes of the primals."""
    for x, x_bar in zip(xs, x_bars, strict=True):
        if is_inexact(x):
            assert python_type(x_bar) is python_type(x)
            assert_same_type(x_bar, x)
        else:
            assert np.result_type(x_bar) == ad.float0
            assert np.shape(x_bar) == np.shape(x)


@each(EVERY)
def test_vjp_is_the_transpose_of_jvp(program):
    f, tangents = partial(program.function, np), tangents_for(program)
    y, f_vjp = ad.vjp(f, *program.args)
    assert_same(y, f(*program.args), program.ulps)
    ct = cotangent_for(y)
    x_bars = f_vjp(ct)
    check_cotangents(program.args, x_bars)
    if is_inexact(y):
        _, y_dot = ad.jvp(f, program.args, tangents)
        assert_close(inner([ct], [y_dot]), inner(tangents, x_bars),
                     coarsest(program, y))


SMOOTH = [program for program in EVERY
          if program.is_smooth and not program.truth]


@each(SMOOTH, composed=True)
def test_all_modes_of_second_derivatives_agree(program):
    """jvp of vjp, vjp of vjp, and vjp of jvp; and a staged vjp is the vjp."""
    f, xs = inexact_only(program)
    y = f(*xs)
    ct, rng = cotangent_for(y), np.random.default_rng(2)
    x_dots = tuple(random_tangent(rng, x) for x in xs)

    def pull(*xs):
        return ad.vjp(f, *xs)[1](ct)

    if program.name not in NOT_STAGED:
        jaxpr = ad.make_jaxpr(pull)(*xs)
        check_jaxpr(jaxpr)
        ad.tree_map(assert_close, ad.eval_jaxpr(jaxpr, jaxpr.consts, *xs),
                    list(pull(*xs)))
    ways = (ad.jvp(pull, xs, x_dots)[1], ad.vjp(pull, *xs)[1](x_dots),
            ad.vjp(lambda *xs: ad.jvp(f, xs, x_dots)[1], *xs)[1](ct))
    for x, first, *others in zip(xs, *ways, strict=True):
        assert_same_type(first, x)
        with np.errstate(all='ignore'):
            size = float(1 + np.max(np.abs(first), initial=0))
        for t in others:
            assert_same_type(t, x)
            assert_close(t / size, first / size, coarsest(program, y))


REFUSALS = '|'.join([
    'the program is not linear', 'Transpose rule for',
    'Attempted boolean conversion', 'The numpy.ndarray conversion',
    'Array boolean indices must be concrete'])


def one_argument(program):
    for i in program.perturbed():
        yield i, lambda x, i=i: program.function(
            np, *program.args[:i], x, *program.args[i + 1:])


@each((program for program in EVERY if program.is_smooth), composed=True)
def test_linear_programs_are_transposed_and_others_refused(program):
    """A constant term does not matter: x + 3 is transposed as x is."""
    for i, f in one_argument(program):
        x = program.args[i]
        y = f(x)
        try:
            (x_bar,) = ad.linear_transpose(f, x)(ct := cotangent_for(y))
        except (TypeError, NotImplementedError) as error:
            assert re.match(REFUSALS, str(error))
        else:
            check_cotangents([x], [x_bar])
            v = random_tangent(np.random.default_rng(3), x)
            difference = widen(f(v)) - widen(f(0 * v))
            assert_close(inner([ct], [difference]), inner([v], [x_bar]),
                         coarsest(program, y))


def test_linear_transpose_takes_types_and_returns_a_tree():
    f_transpose = ad.linear_transpose(
        lambda p: [p['a'] * 2, p['b'] @ np.ones((3, 2))],
        {'a': typeof(1.0), 'b': typeof(X)})
    (p_bar,) = f_transpose([1.5, np.array([1., 2.])])
    assert p_bar.keys() == {'a', 'b'}
    assert_same(p_bar['a'], 3.0)
    assert_same(p_bar['b'], np.full(3, 3.0))


NONLINEAR = {
    'product': lambda x: x * x,
    'condition': lambda x: np.where(x > 0, x, 0),
    'scatter': lambda x: add_at_p.bind(
        np.zeros(3), x, np.argsort(x), indices=(OPERAND,)),
}


def test_nonlinear_programs_are_refused_and_the_line_quoted():
    for nonlinear in NONLINEAR.values():
        with pytest.raises((TypeError, NotImplementedError),
                           match='linear') as e:
            ad.linear_transpose(lambda x: np.sum(nonlinear(x)), X)(1.0)
        [note] = e.value.__notes__
        assert re.match(rf"in the operation '\w+', called at {HERE}:\d+",
                        note)


def test_a_missing_rule_is_named(monkeypatch):
    """P4."""
    unknown = Primitive('unknown', lambda x: x)
    monkeypatch.setitem(abstract_rules, unknown, lambda x: x)
    with pytest.raises(NotImplementedError,
                       match="Transpose rule for 'unknown'.*define "
                             r'transpose.rules\[primitive\]'):
        ad.linear_transpose(unknown.bind, X)(X)


def test_cotangents_of_a_value_that_is_used_twice_are_added():
    """If they were assigned instead of added, the last one would win."""
    for f, slope in (
            (lambda x: x + x, 2.0),
            (lambda x: x * 2 + x * 3 - x, 4.0),
            (lambda x: np.sum(np.stack([x, x, x])), 3.0),
            (lambda x: np.concatenate([x, x * 4]).sum(), 5.0)):
        (x_bar,) = ad.linear_transpose(f, X)(np.ones_like(f(X)))
        assert_close(x_bar, np.full(3, slope))


def test_cotangents_of_unused_inputs_and_outputs_are_zeros():
    x_bar, y_bar = ad.linear_transpose(lambda x, y: x * 2, X, X)(X)
    assert_same(x_bar, 2 * X)
    assert_same(y_bar, 0 * X)


def test_unused_equations_are_not_transposed():
    def f(x):
        np.sin(x)               # would have no rule
        return x * 2

    (x_bar,), counts = spied(ad.linear_transpose(f, X), X)
    assert counts == {mul_p: 1}
    assert_same(x_bar, 2 * X)


def test_cotangents_are_summed_before_they_are_passed_on():
    """Each operation is transposed once, no matter how often it is used."""
    def f(x):
        for _ in range(20):
            x = x + x
        return x

    (x_bar,), counts = spied(ad.linear_transpose(f, 1.0), 1.0)
    assert x_bar == 2.0 ** 20
    assert counts == {add_p: 20}


def test_a_primitive_of_several_results_gets_all_their_cotangents(
        monkeypatch):
    """That of a result that no output depends on is a Zero."""
    both = Primitive('both', lambda x: [2 * x, 3 * x], multiple_results=True)
    seen = []

    def transpose(cts, x):
        zero = [isinstance(ct, ad.Zero) for ct in cts]
        seen.append(zero)
        return [sum(n * ct for n, ct, z in zip((2, 3), cts, zero) if not z)]

    monkeypatch.setitem(abstract_rules, both, lambda x: [x, x])
    monkeypatch.setitem(transpose_rules, both, transpose)
    (x_bar,) = ad.linear_transpose(both.bind, X)([X, X])
    assert_same(x_bar, 5 * X)
    (x_bar,) = ad.linear_transpose(lambda x: both.bind(x)[1], X)(X)
    assert_same(x_bar, 3 * X)
    assert seen == [[False, False], [True, False]]


def test_errors_in_the_backward_pass_carry_the_line():
    """The line is the program's, not the pullback's."""
    def f(x):
        y = x @ np.ones((3, 2))
        return y + 1

    _, f_vjp = ad.vjp(f, X)
    f_vjp.residuals[0] = np.ones((4, 5))
    with pytest.raises(ValueError) as e:
        f_vjp(np.ones(2))
    line = f.__code__.co_firstlineno + 1
    assert e.value.__notes__ == [
        f"in the operation 'matmul', called at {__file__}:{line}"]


def test_a_cotangent_is_converted_to_its_operand():
    """This also happens between two operations, where no user sees it."""
    for ct, like, expected in (
            (np.stack([X, X]), np.ones(3, np.float32), np.float32([2, 4, 6])),
            (X, 1.0, np.float64(6)), (2.0, 1.0, 2.0),
            (2.0, np.float64(2), np.float64(2)),
            (X * 1j + X, X, X), (X, X * 1j, X + 0j)):
        assert_same(fit_cotangent(ct, typeof(like)), expected)


def test_cotangents_come_back_in_the_dtype_of_each_operand():
    """In a product of two precisions, each cotangent has its operand's."""
    x, y = np.ones((2, 3), np.float32), np.ones(3)
    for f in (np.add, np.subtract, np.multiply, np.divide, np.matmul,
              lambda x, y: np.where(x > 5, x, y),
              lambda x, y: np.stack([x[0], y]),
              lambda x, y: np.concatenate([x[0], y])):
        z, f_vjp = ad.vjp(f, x, y)
        ad.tree_map(assert_same_type, f_vjp(np.ones_like(z)), (x, y))
