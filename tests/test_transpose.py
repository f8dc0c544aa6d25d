"""Transposition: linear programs, run backwards.

The definition is the test: `<J v, w>` is `<v, J^T w>`, for all v and w.
"""

import itertools
import re
from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core import Primitive, TraceTag, typeof
from autodiff_mini.interpreters.abstract import rules as abstract_rules
from autodiff_mini.interpreters.partial_eval import linear_flat
from autodiff_mini.interpreters.transpose import (
    backward_pass, fit_cotangent, rules as transpose_rules, unbroadcast)
from autodiff_mini.primitives.elementwise import (
    add_p, conj_p, imag_p, mul_p, real_p, stop_gradient_p)
from autodiff_mini.primitives.indexing import (
    OPERAND, add_at_p, scatter, scatter_p)
from autodiff_mini.primitives.linalg import matmul_p
from autodiff_mini.jaxprs import Var
from autodiff_mini.zeros import Zero
from tests.amount import each
from tests.custom_programs import CUSTOM_PROGRAMS
from tests.jaxpr_checks import check_jaxpr
from tests.numerical import (
    assert_close,
    assert_same,
    assert_same_type,
    python_type,
    widen,
)
from tests.programs import PROGRAMS, is_inexact
from tests.test_abstract import NOT_STAGED
from tests.test_programs import coarsest, random_tangent, tangents_for
from tests.traces import first_order, spied

HERE = re.escape(__file__)
X = np.arange(3.) + 1
EVERY = PROGRAMS + CUSTOM_PROGRAMS


def inner(xs, ys):
    """Returns the product of two lists of arrays: of complex, its real part.
    """
    return sum((np.sum(np.real(widen(x) * widen(y))) for x, y in zip(xs, ys)
                if is_inexact(x)), np.longdouble(0))


def cotangent_for(y, seed=1):
    """Returns a seeded cotangent for an output."""
    return random_tangent(np.random.default_rng(seed), y)


def check_cotangents(xs, x_bars):
    """Asserts that cotangents have the shapes and dtypes of the primals."""
    for x, x_bar in zip(xs, x_bars, strict=True):
        if is_inexact(x):
            assert python_type(x_bar) is python_type(x)
            assert_same_type(x_bar, x)
        else:
            assert np.result_type(x_bar) == ad.float0
            assert np.shape(x_bar) == np.shape(x)


# The table of programs

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


def inexact_only(program):
    """Returns the program of its inexact arguments alone; these."""
    where = program.perturbed()

    def f(*xs):
        args = list(program.args)
        for i, x in zip(where, xs, strict=True):
            args[i] = x
        return program.function(np, *args)
    return f, [program.args[i] for i in where]


SMOOTH = [program for program in EVERY
          if program.is_smooth and not program.truth]


@each((program for program in SMOOTH if program.name not in NOT_STAGED),
      composed=True)
def test_a_staged_vjp_is_the_vjp(program):
    """Types too: abstract rules of what transposition asks for."""
    f, xs = inexact_only(program)
    ct = cotangent_for(f(*xs))

    def pull(*xs):
        return ad.vjp(f, *xs)[1](ct)

    jaxpr = ad.make_jaxpr(pull)(*xs)
    check_jaxpr(jaxpr)
    x_bars = pull(*xs)
    assert jaxpr.out_avals == list(map(typeof, x_bars))
    for x_bar, again in zip(x_bars, ad.eval_jaxpr(jaxpr, jaxpr.consts, *xs),
                            strict=True):
        assert_same_type(again, x_bar)
        assert_close(again, x_bar)


@each(SMOOTH, composed=True)
def test_the_ways_to_second_derivatives_agree(program):
    """jvp of vjp, vjp of vjp, and vjp of jvp."""
    f, xs = inexact_only(program)
    y = f(*xs)
    dtype = coarsest(program, y)
    ct, rng = cotangent_for(y), np.random.default_rng(2)
    x_dots = tuple(random_tangent(rng, x) for x in xs)

    def pull(*xs):
        return ad.vjp(f, *xs)[1](ct)

    def push(*xs):
        return ad.jvp(f, xs, x_dots)[1]

    jvp_of_vjp = ad.jvp(pull, xs, x_dots)[1]
    vjp_of_vjp = ad.vjp(pull, *xs)[1](x_dots)
    vjp_of_jvp = ad.vjp(push, *xs)[1](ct)
    for x, a, b, c in zip(xs, jvp_of_vjp, vjp_of_vjp, vjp_of_jvp,
                          strict=True):
        for t in (a, b, c):
            assert_same_type(t, x)
        with np.errstate(all='ignore'):
            size = float(1 + np.max(np.abs(a), initial=0))
        assert_close(b / size, a / size, dtype)
        assert_close(c / size, a / size, dtype)


# linear_transpose

REFUSALS = '|'.join([
    'the program is not linear', 'Transpose rule for',
    'Attempted boolean conversion', 'The numpy.ndarray conversion'])


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
        except IndexError as error:
            assert 'must be concrete' in str(error)
        else:
            check_cotangents([x], [x_bar])
            v = random_tangent(np.random.default_rng(3), x)
            difference = widen(f(v)) - widen(f(0 * v))
            assert_close(inner([ct], [difference]), inner([v], [x_bar]),
                         coarsest(program, y))


IN_THE_FIRST = {
    'neg_array', 'add_array_array', 'sub_float_array', 'mul_array_int',
    'div_array_float', 'where', 'sum_(0, 2)', 'reshape_-1_F', 'T_single',
    'broadcast_to_column', 'matmul_broadcast', 'stack_-1',
    'astype_single', 'index_apart', 'index_grid', 'cumsum_0',
    'concatenate_axis_matrices', 'conj_real',
    'einsum_ij,jk->ik', 'pad_wrap', 'mean_1', 'tril', 'roll_axes'}
IN_THE_LAST = {'solve', 'interp'}


@pytest.mark.parametrize('program', [
    program for program in EVERY
    if program.name in IN_THE_FIRST | IN_THE_LAST], ids=str)
def test_what_is_linear_in_an_argument_is_not_refused(program):
    some = list(one_argument(program))
    i, f = some[0 if program.name in IN_THE_FIRST else -1]
    x = program.args[i]
    check_cotangents([x], ad.linear_transpose(f, x)(cotangent_for(f(x))))


def test_linear_transpose_takes_types_and_returns_a_tree():
    f_transpose = ad.linear_transpose(
        lambda p: [p['a'] * 2, p['b'] @ np.ones((3, 2))],
        {'a': typeof(1.0), 'b': typeof(X)})
    (p_bar,) = f_transpose([1.5, np.array([1., 2.])])
    assert p_bar.keys() == {'a', 'b'}
    assert_same(p_bar['a'], 3.0)
    assert_same(p_bar['b'], np.full(3, 3.0))


def test_linear_transpose_is_its_own_inverse():
    A = np.arange(6.).reshape(2, 3)
    f_t = ad.linear_transpose(lambda x: A @ x, X)
    (y,) = ad.linear_transpose(lambda ct: f_t(ct)[0], np.ones(2))(X)
    assert_same(y, A @ X)


NONLINEAR = {
    'product': lambda x: x * x,
    'ratio': lambda x: 1 / x,
    'sin': np.sin,
    'condition': lambda x: np.where(x > 0, x, 0),
    'matmul': lambda x: x @ x,
    'sort': np.sort,
    'solve': lambda x: np.linalg.solve(x[:, None] * np.eye(3), x),
    'power': lambda x: x ** 2,
    'argmax': lambda x: x[np.argmax(x)],
    'max': np.max,
    'scatter': lambda x: add_at_p.bind(
        np.zeros(3), x, np.argsort(x), indices=(OPERAND,)),
}


@pytest.mark.parametrize('name', NONLINEAR)
def test_nonlinear_programs_are_refused_and_the_line_quoted(name):
    def f(x):
        return np.sum(NONLINEAR[name](x))

    with pytest.raises((TypeError, NotImplementedError), match='linear') as e:
        ad.linear_transpose(f, X)(1.0)
    (note,) = e.value.__notes__
    assert re.match(rf"in the operation '\w+', asked for at {HERE}:\d+", note)


def test_a_missing_rule_is_named():
    """P4."""
    unknown = Primitive('unknown', lambda x: x)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(abstract_rules, unknown, lambda x: x)
        with pytest.raises(NotImplementedError,
                           match="Transpose rule for 'unknown'.*define "
                                 r'transpose.rules\[primitive\]') as e:
            ad.linear_transpose(unknown.bind, X)(X)
    assert f'{__file__}:' in e.value.__notes__[0]


# The backward pass

def linear(f, *xs):
    """Returns the linear function `f`, at such arguments, as a jaxpr."""
    return linear_flat(lambda *xs: [f(*xs)], list(map(typeof, xs)),
                       TraceTag('test', f))


def test_cotangents_of_a_value_that_is_used_twice_are_added():
    """Assigned, in place of added, the last one would win."""
    cases = {
        'sum': (lambda x: x + x, 2.0),
        'one operation': (lambda x: x * 2 + x * 3 - x, 4.0),
        'output': (lambda x: np.sum(np.stack([x, x, x])), 3.0),
        'concatenate': (lambda x: np.concatenate([x, x * 4]).sum(), 5.0),
        'before': (lambda x: (lambda y: y * 5 + np.sum(y) * 0 + y)(x * 2),
                   12.0),
    }
    for name, (f, slope) in cases.items():
        (x_bar,) = ad.linear_transpose(f, X)(np.ones_like(f(X)))
        assert_close(x_bar, np.full(3, slope)), name


def test_an_output_that_is_there_twice_and_is_an_input():
    y, f_vjp = ad.vjp(lambda x: [x, x * 2, x], X)
    (x_bar,) = f_vjp([X, X, 10 * X])
    assert_same(x_bar, 13 * X)


def test_cotangents_of_unused_inputs_and_outputs_are_zeros():
    jaxpr = linear(lambda x, y: x * 2, X, X)
    x_bar, y_bar = backward_pass(jaxpr, jaxpr.consts, [X])
    assert_same(x_bar, 2 * X)
    assert type(y_bar) is Zero and y_bar.aval == typeof(X)
    zero, zero2 = backward_pass(jaxpr, jaxpr.consts, [Zero(X)])
    assert type(zero) is type(zero2) is Zero


def test_what_no_output_depends_on_is_not_run_backwards():
    def f(x):
        np.sin(x)               # would have no rule
        return [x * 2, x * X]

    jaxpr = linear_flat(f, [typeof(X)], TraceTag('test', f))
    (x_bar,), counts = spied(
        lambda ct: backward_pass(jaxpr, jaxpr.consts, [ct, Zero(X)]), X)
    assert counts == {mul_p: 1}
    assert_same(x_bar, 2 * X)


def test_a_cotangent_is_gathered_before_it_goes_on():
    """Each operation runs backwards once, however often it is used."""
    def f(x):
        for _ in range(20):
            x = x + x
        return x

    jaxpr = linear(f, 1.0)
    (x_bar,), counts = spied(
        lambda ct: backward_pass(jaxpr, [], [ct]), 1.0)
    assert x_bar == 2.0 ** 20
    assert counts == {add_p: 20}


def test_a_primitive_of_several_results_gets_all_their_cotangents():
    """None for those on which nothing depends."""
    both = Primitive('both', lambda x: [2 * x, 3 * x], multiple_results=True)
    seen = []

    def transpose(cts, x):
        seen.append([ct is None for ct in cts])
        return [sum(n * ct for n, ct in zip((2, 3), cts) if ct is not None)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(abstract_rules, both, lambda x: [x, x])
        patch.setitem(transpose_rules, both, transpose)
        for f, slope in ((lambda x: both.bind(x), 5.0),
                         (lambda x: both.bind(x)[1], 3.0)):
            y_bar = [X, X] if slope == 5.0 else X
            (x_bar,) = ad.linear_transpose(f, X)(y_bar)
            assert_same(x_bar, slope * X)
    assert seen == [[False, False], [True, False]]


def test_errors_in_the_backward_pass_carry_the_line():
    """The line is that of the program, not that of the pullback."""
    def f(x):
        y = x @ np.ones((3, 2))
        return y + 1

    _, f_vjp = ad.vjp(f, X)
    f_vjp.residuals[0] = np.ones((4, 5))
    with pytest.raises(ValueError) as e:
        f_vjp(np.ones(2))
    line = f.__code__.co_firstlineno + 1
    assert e.value.__notes__ == [
        f"in the operation 'matmul', asked for at {__file__}:{line}"]


Z = X - 2j + 1j * X[::-1] ** 2
OF_COMPLEX = {      # f(x), and its derivative by x
    'real': (lambda x: np.real((x * 1j) ** 2), lambda x: -2 * x),
    'imag': (lambda x: np.imag(x * Z), lambda x: Z.imag),
    'conj': (lambda x: np.real(np.conj(x * Z) * 1j),
             lambda x: np.real(np.conj(Z) * 1j)),
    'abs': (lambda x: np.abs(x + 1j), lambda x: x / np.abs(x + 1j)),
    'angle': (lambda x: np.angle(x + 1j), lambda x: -1 / (x * x + 1)),
    'astype': (lambda x: x.astype(complex).real, np.ones_like),
    'broadcast': (lambda x: np.real(x[0] * 1j * Z + x),
                  lambda x: np.array([-np.sum(Z.imag) + 1, 1, 1])),
}


@pytest.mark.parametrize('name', OF_COMPLEX)
def test_what_runs_through_complex_numbers_has_a_real_gradient(name):
    f, slope = OF_COMPLEX[name]
    loss = lambda x: f(x).sum()
    for gradient in ad.grad(loss), ad.jit(ad.grad(loss)), ad.jacfwd(loss):
        assert gradient(X).dtype == float
        assert_close(gradient(X), slope(X))
    assert_close(ad.vmap(ad.grad(loss))(np.stack([X, 2 * X])),
                 np.stack([slope(X), slope(2 * X)]))
    assert_close(ad.hessian(loss)(X), ad.jacfwd(ad.jacfwd(loss))(X))


OF_Z = {    # f(z), and the cotangent of z for the cotangent 1: JAX's
    'real': (np.real, lambda z: 1),
    'imag': (np.imag, lambda z: -1j),
    'abs': (np.abs, lambda z: np.conj(z) / abs(z)),
    'square': (lambda z: np.real(z * np.conj(z)), lambda z: 2 * np.conj(z)),
    'exp': (lambda z: np.imag(np.exp(z)), lambda z: -1j * np.exp(z)),
    'float': (lambda z: np.real(z) * 2.0 + np.imag(z).astype('f4'),
              lambda z: 2 - 1j),
}


@pytest.mark.parametrize('name', OF_Z)
def test_the_gradient_by_a_complex_number_is_by_x_less_i_times_by_y(name):
    f, expected = OF_Z[name]
    assert_close(ad.grad(lambda z: np.sum(f(z)))(Z), expected(Z) + 0 * Z)
    assert_close(ad.jacrev(f)(Z), np.diag(expected(Z) + 0 * Z))
    for z in 1 + 2j, np.complex64(1 + 2j):
        gradient = ad.grad(f)(z)
        assert type(gradient) is type(z)
        assert_close(gradient, type(z)(expected(z)))
        by_x, by_y = [ad.jvp(f, (z,), (type(z)(t),))[1] for t in (1, 1j)]
        assert_close(gradient, type(z)(by_x - 1j * by_y))


def test_the_pairing_of_complex_numbers_does_not_conjugate():
    assert ad.vjp(lambda z: z * 2j, 1 + 1j)[1](1 + 3j) == (-6 + 2j,)
    assert ad.vjp(np.conj, 1 + 1j)[1](1 + 3j) == (1 - 3j,)
    assert ad.vjp(lambda x: x * 1j, 1.0)[1](1 + 3j) == (-3.0,)
    assert ad.linear_transpose(np.real, 1j)(2.0) == (2 + 0j,)
    assert ad.linear_transpose(lambda x: np.real(x * 1j), 1.0)(2.0) == (0.0,)


def test_conj_and_real_of_real_numbers_are_transposed():
    assert_same(ad.grad(lambda x: np.sum(np.conj(x) * X))(X), X)
    assert_same(ad.grad(lambda x: np.sum(np.real(x) * X))(X), X)


# Broadcasting

SHAPES = [(), (1,), (3,), (1, 1), (2, 1), (1, 3), (2, 3), (0,), (0, 3),
          (1, 2, 3), (4, 1, 1), (2, 0)]


def broadcasts():
    for old, new in itertools.product(SHAPES, SHAPES):
        try:
            if np.broadcast_shapes(old, new) == new:
                yield old, new
        except ValueError:
            continue


@pytest.mark.parametrize('old, new', list(broadcasts()), ids=str)
def test_unbroadcast_is_the_transpose_of_broadcasting(old, new):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal(old), rng.standard_normal(new)
    x_bar = unbroadcast(y, old)
    assert np.shape(x_bar) == old
    assert_close(np.sum(np.broadcast_to(x, new) * y), np.sum(x * x_bar))
    # and the rules use it
    for f in (lambda x: x + y, lambda x: y - x, lambda x: x * y,
              lambda x: np.where(y > 0, x, y), lambda x: x / (y + 9),
              lambda x: np.broadcast_to(x, new)):
        x_bar = ad.vjp(f, x)[1](y)[0]
        x_dot = rng.standard_normal(old)
        assert_same_type(x_bar, x)
        assert_close(np.sum(ad.jvp(f, (x,), (x_dot,))[1] * y),
                     np.sum(x_dot * x_bar))


def test_unbroadcast_sums_nothing_where_shapes_agree():
    _, counts = spied(lambda ct: unbroadcast(ct, (2, 1)), np.ones((2, 1)))
    assert not counts


# matmul

RANKS = [(3,), (2, 3), (5, 2, 3), (1, 2, 3), (4, 5, 2, 3), (4, 1, 2, 3),
         (0, 3), (0,), (2, 0), (5, 0, 3), (0, 2, 3), (1, 3), (1,)]


def matmuls():
    """Returns shapes of operands: each left with each right that fits."""
    for left in RANKS:
        for shape in RANKS:
            right = (*shape[:-2], *shape[:-3:-1])
            try:
                np.ones(left) @ np.ones(right)
            except ValueError:
                continue
            yield left, right


MATMULS = list(matmuls())


def test_all_pairs_of_ranks_are_there():
    ranks = {(len(left), len(right)) for left, right in MATMULS}
    assert ranks == set(itertools.product(range(1, 5), range(1, 5)))


@pytest.mark.parametrize('left, right', MATMULS, ids=str)
def test_matmul_is_transposed_in_both_operands(left, right):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal(left), rng.standard_normal(right)
    x_dot, y_dot = rng.standard_normal(left), rng.standard_normal(right)
    z, f_vjp = ad.vjp(np.matmul, x, y)
    ct = rng.standard_normal(np.shape(z))[()]
    x_bar, y_bar = f_vjp(ct)
    assert_same_type(x_bar, x)
    assert_same_type(y_bar, y)
    assert_close(np.sum((x_dot @ y) * ct), np.sum(x_dot * x_bar))
    assert_close(np.sum((x @ y_dot) * ct), np.sum(y_dot * y_bar))
    # and the transpose can be differentiated and mapped
    both = ad.jvp(lambda x, y: ad.vjp(np.matmul, x, y)[1](ct), (x, y),
                  (x_dot, y_dot))[1]
    for t, like in zip(both, (x, y), strict=True):
        assert_same_type(t, like)
    assert_close(np.sum(both[0] * x_dot), np.sum((x_dot @ y_dot) * ct))
    cts = np.stack([ct, 2 * ct])
    xs_bar, ys_bar = ad.vmap(f_vjp)(cts)
    assert_close(xs_bar, np.stack([x_bar, 2 * x_bar]))
    assert_close(ys_bar, np.stack([y_bar, 2 * y_bar]))


def test_the_cotangent_of_a_matrix_is_one_product():
    """Not a stack of products, which are then added."""
    x, y = np.ones((5, 2, 3)), np.ones((3, 4))
    for y in y, y[:, 0]:
        z, f_vjp = ad.vjp(lambda y: x @ y, y)
        eqns = ad.make_jaxpr(f_vjp)(z).eqns
        products = [eqn.outvars[0].aval.shape for eqn in eqns
                    if eqn.primitive is matmul_p]
        assert products == [y.shape]


@pytest.mark.parametrize('a, b', [
    ((3, 3), (3,)), ((3, 3), (3, 2)), ((2, 3, 3), (3, 2)),
    ((3, 3), (2, 3, 2)), ((2, 1, 3, 3), (4, 3, 1))], ids=str)
def test_solve_is_transposed_in_both_operands(a, b):
    rng = np.random.default_rng(0)
    a = rng.standard_normal(a) + 3 * np.eye(3)
    b = rng.standard_normal(b)
    x, f_vjp = ad.vjp(np.linalg.solve, a, b)
    ct = rng.standard_normal(x.shape)
    a_bar, b_bar = f_vjp(ct)
    t = rng.standard_normal(a.shape), rng.standard_normal(b.shape)
    _, x_dot = ad.jvp(np.linalg.solve, (a, b), t)
    assert_close(np.sum(x_dot * ct),
                 np.sum(t[0] * a_bar) + np.sum(t[1] * b_bar))
    # not symmetric: what is solved is the transposed system
    if a.ndim == b.ndim == 2:
        assert_close(b_bar, np.linalg.solve(a.T, ct))


# Writing into zeros, the transpose of indexing

def scattered_by_a_loop(x, shape, place):
    """Returns zeros, with the elements of `x` added one after another."""
    numbers = np.arange(int(np.prod(shape))).reshape(shape)[place]
    out = np.zeros(int(np.prod(shape)), x.dtype)
    for number, element in zip(np.ravel(numbers), np.ravel(x), strict=True):
        out[number] += element
    return out.reshape(shape)


CUBE = (2, 3, 4)
PLACES = {
    'int': 1,
    'negative': np.s_[-1, :, -2],
    'slices': np.s_[::-1, 1:, ::2],
    'empty_slice': np.s_[:, 2:1],
    'ellipsis': np.s_[..., 1],
    'newaxis': np.s_[None, 0, :, None],
    'nothing': (),
    'scalar': np.s_[1, 2, 3],
    'repeated': np.array([0, 0, 1, 0]),
    'negative_repeated': np.array([-1, 1, 0, -2]),
    'matrix': np.array([[0, 1], [1, 1]]),
    'middle': np.s_[:, np.array([2, 0, 2])],
    'last': np.s_[..., np.array([3, 3, -1])],
    'pair': np.s_[np.array([0, 1, 0]), np.array([2, 1, 2])],
    'pair_behind': np.s_[:, np.array([2, 0]), np.array([3, 3])],
    'apart': np.s_[np.array([1, 1]), :, np.array([0, 0])],
    'apart_newaxis': np.s_[np.array([1, 0]), None, np.array([0, 0])],
    'apart_by_int': np.s_[0, :, np.array([1, 1, 2])],
    'beside_int': np.s_[:, 1, np.array([1, 1, 2])],
    'broadcast': np.s_[np.array([[0], [1]]), np.array([2, 2])],
    'broadcast_apart': np.s_[np.array([[0], [1]]), :, np.array([2, 2])],
    'three': np.s_[np.array([0, 0]), np.array([1, 1]), np.array([2, 2])],
    'ellipsis_array': np.s_[np.array([1, 0]), ..., np.array([0, 0])],
    'ellipsis_newaxis': np.s_[..., None, np.array([0, 0, 1])],
    'slice_array_slice': np.s_[1:, np.array([2, 2]), :-1],
    'zero_d': np.s_[np.array(1)],
    'zero_d_and_array': np.s_[np.array(1), :, np.array([1, 1])],
    'no_elements': np.zeros(0, int),
    'uints': np.array([1, 1], np.uint8),
}


def bind_scatter(x, place, shape=CUBE, arrays=None):
    """Returns zeros with `x` added at an index, as an operation."""
    place = place if isinstance(place, tuple) else (place,)
    if arrays is None:
        arrays = [i for i in place if isinstance(i, np.ndarray)]
    indices = tuple(OPERAND if isinstance(i, np.ndarray) else i
                    for i in place)
    write = add_at_p if OPERAND in indices else scatter_p
    return write.bind(np.zeros(shape, typeof(x).dtype), x, *arrays,
                      indices=indices)


@pytest.mark.parametrize('name', PLACES)
def test_adding_at_an_index_is_a_loop_under_every_interpreter(name):
    place, rng = PLACES[name], np.random.default_rng(0)
    shape = np.empty(CUBE)[place].shape
    x, t = rng.standard_normal((2, *shape))
    expected = scattered_by_a_loop(x, CUBE, place)

    def f(x):
        return bind_scatter(x, place)

    assert_close(f(x), expected)
    # jvp
    y, y_dot = ad.jvp(f, (x,), (t,))
    assert_close(y, expected)
    assert_close(y_dot, scattered_by_a_loop(t, CUBE, place))
    # a jaxpr
    jaxpr = ad.make_jaxpr(f)(x)
    check_jaxpr(jaxpr)
    assert jaxpr.out_avals == [typeof(expected)]
    assert_close(ad.eval_jaxpr(jaxpr, jaxpr.consts, x)[0], expected)
    # its transpose is indexing, of which it is the transpose
    w = rng.standard_normal(CUBE)
    (x_bar,) = ad.linear_transpose(f, x)(w)
    assert_same(x_bar, w[place])
    (w_bar,) = ad.vjp(lambda w: w[place], w)[1](x)
    assert_close(w_bar, expected)
    assert_same_type(w_bar, w)
    # vmap over the values
    xs = np.stack([x, t, x + 1])
    assert_close(ad.vmap(f)(xs), np.stack([
        scattered_by_a_loop(x, CUBE, place) for x in xs]))
    assert_same_type(ad.vmap(f)(xs), np.zeros((3, *CUBE)))


@pytest.mark.parametrize('values_are_mapped', [True, False])
@pytest.mark.parametrize('name', [
    name for name, place in PLACES.items()
    if any(isinstance(i, np.ndarray) for i in (place if isinstance(
        place, tuple) else (place,)))])
def test_adding_at_an_index_with_mapped_indices_is_a_loop(name, values_are_mapped):
    """One index array after the other is mapped, and all together."""
    place, rng = PLACES[name], np.random.default_rng(0)
    x = rng.standard_normal((3, *np.empty(CUBE)[place].shape))
    place = place if isinstance(place, tuple) else (place,)
    arrays = [i.astype(int) for i in place if isinstance(i, np.ndarray)]
    # other places: -1 is the last, and 0 and 1 are on every axis
    batches = [np.stack([a, np.abs(a) % 2, -1 - a % 2]) for a in arrays]
    *some_mapped, _ = itertools.product([True, False], repeat=len(arrays))
    for mapped in some_mapped:
        def f(x, *arrays):
            return bind_scatter(x, place, arrays=arrays)

        given = [b if m else a
                 for a, b, m in zip(arrays, batches, mapped, strict=True)]
        axes = [0 if m else None for m in mapped]
        x_axis = 0 if values_are_mapped else None
        values = x if values_are_mapped else x[0]
        actual = ad.vmap(f, (x_axis, *axes))(values, *given)
        for k in range(3):
            now = iter([b[k] if m else b
                        for b, m in zip(given, mapped, strict=True)])
            here = tuple(next(now) if isinstance(i, np.ndarray) else i
                         for i in place)
            assert_close(actual[k], scattered_by_a_loop(
                x[k] if values_are_mapped else x[0], CUBE, here))


def test_adding_at_an_index_of_other_dtypes_and_of_numbers():
    place = (np.array([0, 0, 1]),)
    for dtype in (np.float16, np.float32, np.longdouble):
        x = np.ones(3, dtype)
        y = bind_scatter(x, place, (2,))
        assert_same(y, np.array([2, 1], dtype))
    y = scatter(np.zeros(()), np.float64(2.0), indices=())
    assert y == 2.0 and type(y) is np.float64   # as NumPy's scalars are
    assert_same(ad.grad(lambda x: x[()])(2.0 * np.ones(())), np.float64(1))
    assert_same(ad.grad(lambda x: x[2])(np.float32([1, 2, 3])),
                np.float32([0, 0, 1]))


def test_gradient_of_a_masked_sum():
    x = np.array([-1., 2., -3., 4.])
    assert_same(ad.grad(lambda x: np.sum(x[x > 0] ** 2))(x),
                np.array([0., 4., 0., 8.]))


# The rules have the types of their operands

def test_a_cotangent_is_made_to_fit():
    """Also between two operations, where no user sees it."""
    single, weak = typeof(np.ones(3, np.float32)), typeof(1.0)
    assert fit_cotangent(X, typeof(X)) is X
    assert_same(fit_cotangent(np.stack([X, X]), single),
                np.float32([2, 4, 6]))
    assert_same(fit_cotangent(X, weak), np.float64(6))
    assert_same(fit_cotangent(2.0, weak), 2.0)
    assert_same(fit_cotangent(2.0, typeof(np.float64(2))), np.float64(2))
    assert_same(fit_cotangent(X * 1j + X, typeof(X)), X)
    assert_same(fit_cotangent(X, typeof(X * 1j)), X + 0j)


@pytest.mark.parametrize('dtype', [np.float16, np.float32, np.longdouble])
def test_cotangents_come_back_in_the_dtype_of_each_operand(dtype):
    """A product of two precisions: each cotangent in its own."""
    x, y = np.ones((2, 3), dtype), np.ones(3)
    for f in (np.add, np.subtract, np.multiply, np.divide, np.matmul,
              lambda x, y: np.where(x > 5, x, y),
              lambda x, y: np.stack([x[0], y]),
              lambda x, y: np.concatenate([x[0], y])):
        z, f_vjp = ad.vjp(f, x, y)
        x_bar, y_bar = f_vjp(np.ones_like(z))
        assert_same_type(x_bar, x)
        assert_same_type(y_bar, y)


def test_joined_arrays_get_cotangents_in_their_own_dtype():
    """Before the backward pass goes on, not only where it ends."""
    x, y = np.ones(3, np.float32), np.ones(3)
    for join in np.stack, np.concatenate:
        jaxpr = linear(lambda x, y: join([x, y]), x, y)
        cts = backward_pass(jaxpr, [], [np.ones_like(join([x, y]))])
        for ct, like in zip(cts, (x, y), strict=True):
            assert_same(ct, like)


def test_cotangents_of_python_numbers_are_python_numbers():
    y, f_vjp = ad.vjp(lambda x, y: x * y + np.sum(X) * x, 2.0, np.float32(3))
    x_bar, y_bar = f_vjp(np.ones_like(y))
    assert_same(x_bar, 9.0)
    assert_same(y_bar, np.float32(2))


def test_every_transpose_rule_is_used_by_a_program_of_the_table():
    """Of the primitives with a rule, none is there for show."""
    used = set()
    for program in EVERY:
        try:
            _, f_jvp = ad.linearize(partial(program.function, np),
                                    *program.args)
        except TypeError:
            continue
        used |= {e.primitive for e in f_jvp.program.jaxpr.eqns}
    used |= {stop_gradient_p}    # of second derivatives
    assert used & first_order() == transpose_rules.keys() & first_order()
