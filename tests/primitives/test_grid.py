"""Guard the grid: each primitive meets each interpreter.

The rows are the library's own tables, so a primitive without a rule fails
here, and so does one that no program of the table exercises.
"""

from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.calls import call, custom_jvp
from autodiff_mini.interpreters import abstract, jvp, vmap
from autodiff_mini.primitives.indexing import OPERAND, add_at_p
from tests.support.amount import each
from tests.support.batches import UNMAPPED, batched
from tests.support.numerical import (
    assert_close, assert_same, assert_same_type)
from tests.support.tangents import cotangent_for, tangents_for
from tests.support.traces import first_order, rows_in, spied
from tests.support.vjp_rules import square
from tests.tables.custom_programs import CUSTOM_PROGRAMS
from tests.tables.programs import (
    NOT_STAGED, PROGRAMS, Program, f64, is_inexact)

ROWS = sorted(first_order() | {call.call_p, custom_jvp.custom_jvp_call_p},
              key=str)

# The call that the transpose of an index makes.
ADDED = Program('add_at_zeros', lambda np, x: add_at_p.bind(
    np.zeros((2, 4, 3)), x, np.array([1, 0, 1]), np.array([0, -1, 0]),
    indices=(OPERAND, np.s_[:], OPERAND)), (f64(3, 4),))
SPIED = [program for program in [*PROGRAMS, *CUSTOM_PROGRAMS, ADDED]
         if program.name != 'call_closure']     # no spy runs there


@each(SPIED, composed=True)
def test_rules_are_made_of_primitives(program):
    """A spy below an interpreter gets them, and computes the same."""
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

    What runs below a call depends on what is above, so it is not a row.
    """
    _, counts = spied(partial(program.function, np), *program.args)
    return {primitive for primitive in counts
            if program not in CUSTOM_PROGRAMS or primitive.is_call}


def primitives(jaxpr):
    """Yield the primitives of `jaxpr`, also those inside an error state."""
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
        assert primitive in in_table, (
            f'no program in tests/tables/programs.py asks for {primitive}')
    for primitive in {*ROWS, *rows_in('calls'), *rows_in('wings.more_numpy'),
                      *rows_in('wings.more_calls')}:
        for interpreter in (jvp, vmap, abstract):
            assert primitive in interpreter.rules, primitive


# The two rows of a function with a reverse rule.  Forward mode has to be an
# error, because only the reverse pass can open an envelope.

def test_only_the_reverse_pass_opens_an_envelope():
    x = np.arange(1.0, 5.0)
    _, envelope = ad.linearize(square, x)   # nothing but custom_lin
    jaxpr = ad.make_jaxpr(envelope)(x)
    staged = lambda x: ad.eval_jaxpr(jaxpr, jaxpr.consts, x)[0]
    for f in (envelope, staged):
        assert_close(ad.linear_transpose(f, x)(x)[0], 3 * x * x)
    mapped = ad.vmap(ad.linearize(square, x[0])[1])
    assert_close(ad.linear_transpose(mapped, x)(x)[0], 3 * x[0] * x)
    for forward in (lambda: ad.jvp(square, (x,), (x,)),
                    lambda: envelope(x), lambda: ad.linearize(envelope, x),
                    lambda: ad.jvp(envelope, (x,), (x,))):
        with pytest.raises(TypeError, match="can't apply forward-mode .*"
                           'square has only a rule for reverse'):
            forward()
