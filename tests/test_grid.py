"""The grid: each primitive meets each interpreter.

The rows are the library's own tables, so a primitive without a rule fails
here, and so does one that no program of the table exercises.
"""

from functools import cache, partial
from importlib.util import find_spec

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core import Primitive, typeof
from autodiff_mini.higher_order import (
    call, cond, custom_jvp, custom_vjp, jit, loops)
from autodiff_mini.higher_order.custom_vjp import (
    custom_lin_p, custom_vjp_call_p)
from autodiff_mini.interpreters import abstract, jvp, transpose, vmap
from autodiff_mini.more.calls import checkpoint, custom_vmap
from autodiff_mini.more.calls.optimize_remat import forward_p
from tests.amount import each
from tests.custom_programs import CUSTOM_PROGRAMS
from tests.jaxpr_checks import check_jaxpr
from tests.numerical import (
    assert_close, assert_same, assert_same_type)
from tests.programs import PROGRAMS, Program, f64, is_inexact
from tests.test_abstract import NOT_STAGED
from tests.test_programs import check_tangent, coarsest, only, tangents_for
from tests.test_transpose import (
    bind_scatter, check_cotangents, cotangent_for, inner)
from tests.test_vmap import UNMAPPED, batched, elements
from tests.traces import first_order, spied

ROWS = sorted(first_order() | {call.call_p, custom_jvp.custom_jvp_call_p},
              key=str)

# As transposition of an index asks for it.
PLACE = np.array([1, 0, 1]), np.s_[:], np.array([0, -1, 0])
SCATTERS = [Program('add_at_zeros', lambda np, x: bind_scatter(
    x, PLACE, (2, 4, 3)), (f64(3, 4),))]
TABLE = PROGRAMS + CUSTOM_PROGRAMS + SCATTERS


SPIED = [program for program in TABLE
         if program.name != 'call_closure']     # no spy is at work there
STAGED = [program for program in SPIED if program.name not in NOT_STAGED]
MAPPED = [program for program in SPIED if program.name not in UNMAPPED]


def asked(program, f, *args):
    """Return what `f` returns, and the rows that it asks a spy above for.

    What is below a call depends on what is above, and is no row of its own.
    """
    y, counts = spied(f, *args)
    return y, {primitive for primitive in counts
               if program not in CUSTOM_PROGRAMS or primitive.is_call}


def rows(program):
    return asked(program, partial(program.function, np), *program.args)[1]


@each(SPIED, composed=True)
def test_rules_of_jvp_are_made_of_primitives(program):
    """They are asked for by a spy below."""
    tangents = tangents_for(program)

    def f(*args):
        return ad.jvp(partial(program.function, np), args, tangents)[1]

    y = program.function(np, *program.args)
    y_dot, _ = spied(f, *program.args)
    check_tangent(program, y, y_dot,
                  only(program, tangents, program.perturbed()))


@each(MAPPED, composed=True)
def test_rules_of_vmap_are_made_of_primitives(program):
    """They are asked for by a spy below."""
    def f(*args):
        return ad.vmap(partial(program.function, np))(*args)

    check_vmap(program, lambda *args: spied(f, *args)[0])


def check_vmap(program, f):
    """Assert that `f` returns the stack of what the program returns."""
    axes = [0] * len(program.args)
    args = batched(program, axes)
    with np.errstate(all='ignore'):
        ys = f(*args)
        expected = np.stack(elements(partial(program.function, np), args,
                                     axes))
    assert_same_type(ys, expected)
    assert_close(ys, expected)


def primitives(jaxpr):
    """Yield those of `jaxpr`, and of what stands in an error state."""
    for eqn in jaxpr.eqns:
        yield eqn.primitive
        if eqn.params.get('name') == 'errstate':
            yield from primitives(eqn.params['jaxpr'])


@each(STAGED, composed=True)
def test_a_jaxpr_has_the_same_primitives_and_binds_them_again(program):
    f = partial(program.function, np)
    staged = ad.make_jaxpr(f)(*program.args)
    check_jaxpr(staged)
    written = set(primitives(staged))
    assert all(p.is_call or p in written for p in rows(program))
    with np.errstate(all='ignore'):
        y = f(*program.args)
        (out,), _ = spied(partial(ad.eval_jaxpr, staged, staged.consts),
                          *program.args)
    assert staged.out_avals == [typeof(y)]
    assert_same(out, y, program.ulps)


@each(STAGED, composed=True)
def test_rules_of_transposition_are_made_of_primitives(program):
    """They are asked for by a spy below."""
    f, tangents = partial(program.function, np), tangents_for(program)
    y = f(*program.args)
    ct = cotangent_for(y)
    x_bars, _ = spied(lambda *args: ad.vjp(f, *args)[1](ct), *program.args)
    check_cotangents(program.args, x_bars)
    if is_inexact(y):
        _, y_dot = ad.jvp(f, program.args, tangents)
        assert_close(inner([ct], [y_dot]), inner(tangents, x_bars),
                     coarsest(program, y))


@cache
def rows_of_the_table():
    return set().union(*map(rows, SPIED))


@pytest.mark.parametrize('primitive', ROWS, ids=str)
def test_each_primitive_has_its_rules_and_a_program(primitive):
    assert primitive.impl and primitive in jvp.rules
    assert primitive in vmap.rules
    assert primitive in abstract.rules
    assert primitive in rows_of_the_table(), (
        f'no program in tests/programs.py asks for {primitive}')


def test_primitives_have_different_names():
    assert len({p.name for p in ROWS}) == len(ROWS) >= 29


# What can be run backwards: that in which tangents are linear.  A rule of
# jvp must be made of these, as far as the tangent goes.
TRANSPOSED = {
    'neg', 'deg2rad', 'rad2deg', 'add', 'sub', 'mul', 'div', 'matmul',
    'solve', 'where', 'reduce_sum', 'cumsum', 'reshape', 'transpose', 'broadcast_to', 'stack',
    'concatenate', 'index', 'scatter', 'add_at', 'astype', 'real', 'imag', 'conj',
    'stop_gradient', 'custom_jvp_call', 'custom_vjp_call', 'custom_lin',
    'custom_vmap_call',
    'jit', 'scan', 'cond', 'while', 'checkpoint', 'forward',
}
if find_spec('autodiff_mini.more'):
    TRANSPOSED |= {'fft', 'ifft', 'rfft', 'irfft', 'ldexp', 'over_gap',
                   'errstate'}


def test_primitives_with_a_transpose_rule():
    rules = {p for p in transpose.rules
             if type(p) is Primitive}   # and not one of another test's
    assert set(map(str, rules)) == TRANSPOSED
    rest = rules - {*ROWS, *REVERSE_RULES, *PROGRAM_ROWS}
    assert {*map(str, rest)} <= {'errstate'}    # see test_jit.py


@each(TABLE, composed=True)
def test_jvp_rules_are_linear_in_the_tangent(program):
    """No equation is left without a rule, of first or second derivatives."""
    f, tangents = partial(program.function, np), tangents_for(program)

    def push(*args):
        return ad.jvp(f, args, tangents)[1]

    for g in (f, push) if is_inexact(f(*program.args)) else (f,):
        _, f_jvp = ad.linearize(g, *program.args)
        left = {eqn.primitive for eqn in f_jvp.program.jaxpr.eqns}
        assert left <= transpose.rules.keys()


# The rows that carry programs.  Each computes x^3, somehow.

def step(x, y):
    return x * y


def by_forward(x):
    jaxpr = ad.make_jaxpr(lambda x: step(x, step(x, x)))(x)
    return forward_p.bind(x, jaxpr=jaxpr, fun=jaxpr, name='')[0]


PROGRAM_ROWS = {
    jit.jit_p: ad.jit(lambda x: step(x, step(x, x))),
    checkpoint.checkpoint_p: ad.checkpoint(lambda x: step(x, step(x, x))),
    forward_p: by_forward,
    custom_vmap.custom_vmap_call_p: ad.custom_vmap(
        lambda x: step(x, step(x, x))),
    cond.cond_p: lambda x: ad.cond(
        np.sum(x) > 5, lambda x: step(x, step(x, x)), lambda x: x ** 3, x),
    loops.scan_p: lambda x: ad.scan(
        lambda y, _: (step(x, y), None), x, length=2)[0],
    loops.while_p: lambda x: ad.while_loop(
        lambda c: c[0] < 2, lambda c: (c[0] + 1, step(x, c[1])), (0, x))[1],
}
COLUMNS = {
    'evaluate': lambda f: (f, lambda x: x ** 3),
    'jvp': lambda f: (lambda x: ad.jvp(f, (x,), (x,))[1],
                      lambda x: 3 * x ** 3),
    'vmap': lambda f: (ad.vmap(f), lambda x: x ** 3),
    'abstract': lambda f: (partial(by_checked_jaxpr, f), lambda x: x ** 3),
    'partial_eval': lambda f: (lambda x: ad.linearize(f, x)[1](x),
                               lambda x: 3 * x ** 3),
    'transpose': lambda f: (lambda x: ad.vjp(f, x)[1](x)[0],
                            lambda x: 3 * x ** 3),
    'lowering': lambda f: (ad.jit(f), lambda x: x ** 3),
}
PROGRAM_ROWS[custom_vmap.custom_vmap_call_p].def_vmap(
    lambda axis_size, in_batched, x: (step(x, step(x, x)), True))
# Nobody knows how many steps to go back.
NO_PROGRAM_CELL = {(loops.while_p, 'transpose'): 'while_loop'}


def by_checked_jaxpr(f, x):
    jaxpr = ad.make_jaxpr(f)(x)
    check_jaxpr(jaxpr)
    return ad.eval_jaxpr(jaxpr, jaxpr.consts, x)[0]


@pytest.mark.parametrize('name', COLUMNS)
@pytest.mark.parametrize('primitive', PROGRAM_ROWS, ids=str)
def test_rows_that_carry_programs_meet_each_interpreter(primitive, name):
    f, expected = COLUMNS[name](PROGRAM_ROWS[primitive])
    x = np.arange(1.0, 5.0)
    if words := NO_PROGRAM_CELL.get((primitive, name)):
        with pytest.raises(TypeError, match=words):
            f(x)
    else:
        assert_close(f(x), expected(x))


# The two rows of a function with a reverse rule.  Some of their cells have to
# be errors, because only the reverse pass can open an envelope.

REVERSE_RULES = [custom_vjp_call_p, custom_lin_p]
ONLY_BACK = "can't apply forward-mode .*square has only a rule for reverse"


@ad.custom_vjp
def square(x):
    return x * x


square.defvjp(lambda x: (square(x), x), lambda x, ct: (3 * x * ct,))


def envelope(x):
    """Return the linear program that is nothing but custom_lin."""
    return ad.linearize(square, x)[1]


def by_jaxpr(f, x):
    jaxpr = ad.make_jaxpr(f)(x)
    return lambda x: ad.eval_jaxpr(jaxpr, jaxpr.consts, x)[0]


CELLS = {
    (custom_vjp_call_p, 'evaluate'): lambda x: square(x),
    (custom_vjp_call_p, 'vmap'): ad.vmap(square),
    (custom_vjp_call_p, 'jaxpr'): lambda x: by_jaxpr(square, x)(x),
    (custom_vjp_call_p, 'vjp'): lambda x: ad.vjp(square, x)[1](x)[0] / 3,
    (custom_vjp_call_p, 'jvp'): lambda x: ad.jvp(square, (x,), (x,)),
    (custom_lin_p, 'evaluate'): lambda x: envelope(x)(x),
    (custom_lin_p, 'jvp'): lambda x: ad.jvp(envelope(x), (x,), (x,)),
    (custom_lin_p, 'linearize'): lambda x: ad.linearize(envelope(x), x),
    (custom_lin_p, 'vmap'): lambda x: ad.linear_transpose(
        ad.vmap(envelope(x[0])), x)(x * x / x[0])[0] / 3,
    (custom_lin_p, 'jaxpr'): lambda x: ad.linear_transpose(
        by_jaxpr(envelope(x), x), x)(x)[0] / 3,
    (custom_lin_p, 'transpose'): lambda x: ad.linear_transpose(
        envelope(x), x)(x)[0] / 3,
}
MUST_BE_ERRORS = {
    (custom_vjp_call_p, 'jvp'),     # there is no rule for the way out
    (custom_lin_p, 'evaluate'),     # nobody knows what is in the envelope
    (custom_lin_p, 'jvp'),          # nor how that moves
    (custom_lin_p, 'linearize'),    # which is jvp
}


@pytest.mark.parametrize('cell', CELLS, ids=lambda c: f'{c[0]}-{c[1]}')
def test_rows_of_the_way_back_meet_each_interpreter(cell):
    x = np.arange(1.0, 5.0)
    if cell in MUST_BE_ERRORS:
        with pytest.raises(TypeError, match=ONLY_BACK):
            CELLS[cell](x)
    else:
        assert_close(CELLS[cell](x), x * x)


def test_the_rows_of_the_way_back_are_complete():
    for primitive in REVERSE_RULES:
        assert primitive.is_call and primitive.multiple_results
        assert primitive in jvp.rules and primitive in vmap.rules
        assert primitive in abstract.rules
    assert {p for p in vars(custom_vjp).values() if isinstance(p, Primitive)
            } <= {*REVERSE_RULES, *ROWS}
