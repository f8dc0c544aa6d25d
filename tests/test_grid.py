"""Guard the grid: each primitive meets each interpreter.

The rows are the library's own tables, so a primitive without a rule fails
here, and so does one that no program of the table exercises.
"""

from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.higher_order import call, cond, custom_jvp, jit, loops
from autodiff_mini.higher_order.custom_vjp import (
    custom_lin_p, custom_vjp_call_p)
from autodiff_mini.interpreters import abstract, jvp, vmap
from autodiff_mini.more.calls import checkpoint, custom_vmap
from autodiff_mini.more.calls.optimize_remat import forward_p
from autodiff_mini.primitives.indexing import OPERAND, add_at_p
from tests.amount import each
from tests.custom_programs import CUSTOM_PROGRAMS
from tests.jaxpr_checks import check_jaxpr
from tests.numerical import assert_close, assert_same, assert_same_type
from tests.programs import PROGRAMS, Program, f64, is_inexact
from tests.test_abstract import NOT_STAGED
from tests.test_programs import tangents_for
from tests.test_transpose import cotangent_for
from tests.test_vmap import UNMAPPED, batched
from tests.traces import first_order, spied

ROWS = sorted(first_order() | {call.call_p, custom_jvp.custom_jvp_call_p},
              key=str)

# As transposition of an index asks for it.
ADDED = Program('add_at_zeros', lambda np, x: add_at_p.bind(
    np.zeros((2, 4, 3)), x, np.array([1, 0, 1]), np.array([0, -1, 0]),
    indices=(OPERAND, np.s_[:], OPERAND)), (f64(3, 4),))
SPIED = [program for program in [*PROGRAMS, *CUSTOM_PROGRAMS, ADDED]
         if program.name != 'call_closure']     # no spy is at work there


@each(SPIED, composed=True)
def test_rules_are_made_of_primitives(program):
    """A spy below an interpreter is asked for them, and computes the same."""
    f, args = partial(program.function, np), program.args
    tangents, ct = tangents_for(program), cotangent_for(f(*args))
    programs = [(lambda *xs: ad.jvp(f, xs, tangents)[1], args),
                (lambda *xs: ad.vjp(f, *xs)[1](ct), args)]
    if program.name not in UNMAPPED:
        programs.append((ad.vmap(f), batched(program, [0] * len(args))))
    for run, xs in programs:
        with np.errstate(all='ignore'):
            ys, expected = map(ad.tree_leaves, (spied(run, *xs)[0], run(*xs)))
        for y, z in zip(ys, expected, strict=True):
            assert_same_type(y, z)
            if is_inexact(z):
                assert_close(y, z)


def asked(program):
    """Return the rows that a program asks a spy above for.

    What is below a call depends on what is above, and is no row of its own.
    """
    _, counts = spied(partial(program.function, np), *program.args)
    return {primitive for primitive in counts
            if program not in CUSTOM_PROGRAMS or primitive.is_call}


def primitives(jaxpr):
    """Yield those of `jaxpr`, and of what stands in an error state."""
    for eqn in jaxpr.eqns:
        yield eqn.primitive
        if eqn.params.get('name') == 'errstate':
            yield from primitives(eqn.params['jaxpr'])


@each((program for program in SPIED if program.name not in NOT_STAGED),
      composed=True)
def test_a_jaxpr_has_the_primitives_and_binds_them_again(program):
    f = partial(program.function, np)
    staged = ad.make_jaxpr(f)(*program.args)
    written = set(primitives(staged))
    assert all(p.is_call or p in written for p in asked(program))
    with np.errstate(all='ignore'):
        (out,), _ = spied(partial(ad.eval_jaxpr, staged, staged.consts),
                          *program.args)
        assert_same(out, f(*program.args), program.ulps)


def test_each_primitive_has_its_rules_and_a_program():
    in_table = set().union(*map(asked, SPIED))
    assert len({p.name for p in ROWS}) == len(ROWS) >= 29
    for primitive in ROWS:
        assert primitive.impl
        for interpreter in (jvp, vmap, abstract):
            assert primitive in interpreter.rules, primitive
        assert primitive in in_table, (
            f'no program in tests/programs.py asks for {primitive}')


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
def by_checked_jaxpr(f, x):
    jaxpr = ad.make_jaxpr(f)(x)
    check_jaxpr(jaxpr)
    return ad.eval_jaxpr(jaxpr, jaxpr.consts, x)[0]


@pytest.mark.parametrize('primitive', PROGRAM_ROWS, ids=str)
def test_rows_that_carry_programs_meet_each_interpreter(primitive):
    x = np.arange(1.0, 5.0)
    for name, column in COLUMNS.items():
        f, expected = column(PROGRAM_ROWS[primitive])
        if (primitive, name) == (loops.while_p, 'transpose'):
            # Nothing tells how many steps to go back.
            with pytest.raises(TypeError, match='while_loop'):
                f(x)
        else:
            assert_close(f(x), expected(x))


# The two rows of a function with a reverse rule.  Some of their cells have to
# be errors, because only the reverse pass can open an envelope.

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
    (custom_lin_p, 'evaluate'),     # what is in the envelope is not known
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
