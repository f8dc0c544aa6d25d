"""Guard programs made of programs: batched, cut in two, transposed."""

import itertools
from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core import Trace, TraceTag, current_trace, typeof
from autodiff_mini.higher_order.programs import (
    close, for_arguments, for_outputs, interleave, nothing, others, partial_eval_jaxpr, picked,
    remembered, run, stage_program, transpose_jaxpr, vmap_jaxpr)
from autodiff_mini.higher_order.loops import fixpoint, hoist
from tests.amount import each
from tests.custom_programs import CUSTOM_PROGRAMS
from tests.jaxpr_checks import check_jaxpr
from tests.numerical import (
    assert_same,
)
from tests.programs import PROGRAMS
from tests.test_abstract import NOT_STAGED
from tests.test_vmap import UNMAPPED

EVERY = [program for program in PROGRAMS + CUSTOM_PROGRAMS
         if program.name not in NOT_STAGED.keys() | UNMAPPED.keys()]
each_program = each(EVERY, composed=True)
C = np.arange(3.0)


def staged(f, *args):
    """Return a program that closes over arrays only."""
    jaxpr, traced = close(ad.make_jaxpr(f)(*args))
    assert traced == []
    return jaxpr


def program_of(program):
    return staged(partial(program.function, np), *program.args)


def masks(count):
    """Return every way to mark some of so many things."""
    return list(itertools.product((False, True), repeat=count))


def checked(jaxpr, *args):
    """Return what a program returns, which must make sense."""
    check_jaxpr(jaxpr)
    assert current_trace() is Trace.base
    with np.errstate(all='ignore'):
        outs = run(jaxpr, *args)
    for y, aval in zip(outs, jaxpr.out_avals, strict=True):
        assert (typeof(y).shape, typeof(y).dtype) == (aval.shape, aval.dtype)
    return outs


# vmap_jaxpr


def test_vmap_jaxpr_says_which_outputs_are_mapped():
    jaxpr = staged(lambda x, y: (x * 2, np.sin(y), x * y, C), C, C)
    many, _, mapped = vmap_jaxpr(jaxpr, (True, False), nothing(jaxpr), 4)
    assert mapped == [True, False, True, False]
    assert [a.shape for a in many.out_avals] == [(4, 3), (3,), (4, 3), (3,)]
    for wanted in masks(4):
        many, _, mapped = vmap_jaxpr(jaxpr, (False, True), wanted, 4)
        natural = [False, True, True, False]
        assert mapped == [a or b for a, b in zip(wanted, natural)]
        x, y = C, np.arange(12.0).reshape(4, 3)
        for out, expected, has in zip(checked(many, x, y),
                                      (2 * x, np.sin(y), x * y, C), mapped):
            expected = np.broadcast_to(expected, (4, 3)) if has else expected
            assert_same(out, expected)


# partial_eval_jaxpr

@each_program
def test_a_program_cut_in_two_is_the_program(program):
    jaxpr, args = program_of(program), program.args
    with np.errstate(all='ignore'):
        (expected,) = run(jaxpr, *args)
    for unknown in masks(len(args)):
        for wanted in masks(1):
            known, later, out_unknown = partial_eval_jaxpr(jaxpr, unknown,
                                                           wanted)
            outs = checked(known, *others(args, unknown))
            n = out_unknown.count(False)
            late = checked(later, *outs[n:], *picked(args, unknown))
            (y,) = interleave(out_unknown, late, outs[:n])
            assert_same(y, expected, program.ulps)
            assert out_unknown[0] >= wanted[0]


def test_what_is_known_is_done_and_what_is_not_is_left():
    jaxpr = staged(lambda x, y: (np.sin(x) * np.exp(y), np.cos(x) + C, y, x),
                   C, C)
    known, later, out_unknown = partial_eval_jaxpr(jaxpr, (False, True),
                                                   nothing(jaxpr))
    assert out_unknown == [True, False, True, False]
    assert [e.primitive.name for e in known.eqns] == ['sin', 'cos', 'add']
    assert [e.primitive.name for e in later.eqns] == ['exp', 'mul']
    # two known outputs, and one residual, sin x
    assert len(known.outvars) == 3 and len(later.invars) == 2
    # what is wanted late is a residual now
    known, later, out_unknown = partial_eval_jaxpr(
        jaxpr, (False, True), (False, True, False, False))
    assert out_unknown == [True, True, True, False]
    assert [e.primitive.name for e in later.eqns] == ['exp', 'mul']
    assert len(known.outvars) == 3 and len(later.invars) == 3


# transpose_jaxpr


def test_what_is_not_linear_is_told_so():
    jaxpr = staged(lambda x: np.sin(x), C)
    with pytest.raises(NotImplementedError, match="Transpose rule for 'sin'"):
        transpose_jaxpr(jaxpr, (True,), (True,))
    assert current_trace() is Trace.base
    assert not any(key[0].__name__ == 'transpose_jaxpr'
                   for key in jaxpr.cache)


# Once for each program


def test_what_is_remembered_is_kept_with_the_program():
    runs = []

    @remembered
    def shout(jaxpr, *args):
        """Counts."""
        runs.append(args)
        return [jaxpr, *args]

    a, b = staged(np.sin, 1.0), staged(np.sin, 1.0)
    assert shout(a, 1, (2, 3)) is shout(a, 1, (2, 3))
    assert shout(a, 1, (2, 4)) is not shout(a, 1, (2, 3))
    assert shout(b, 1, (2, 3)) is not shout(a, 1, (2, 3))
    assert runs == [(1, (2, 3)), (1, (2, 4)), (1, (2, 3))]
    assert shout.__doc__ == 'Counts.' and len(b.cache) == 1

    @remembered
    def whisper(jaxpr, *args):
        return [jaxpr, *args]

    assert whisper(a, 1) is not shout(a, 1)


# forward, for_outputs


def test_a_program_for_some_outputs_and_the_arguments_that_matter():
    jaxpr = staged(lambda x, y: (np.sin(x) * C, np.cos(y), x), C, C)
    some, read = for_outputs(jaxpr, (True, False, False))
    assert [e.primitive.name for e in some.eqns] == ['sin', 'mul']
    assert read == (True, False)
    (y,) = checked(some, C, C + 1)
    assert_same(y, np.sin(C) * C)
    (y,) = checked(for_arguments(some, read), C)
    assert_same(y, np.sin(C) * C)
    none, read = for_outputs(jaxpr, (False, False, False))
    assert none.eqns == [] and none.consts == [] and read == (False, False)
    assert checked(for_arguments(none, read)) == []
    assert len(jaxpr.eqns) == 3 and len(jaxpr.consts) == 1


# hoist, known_jaxpr

def test_what_the_first_arguments_are_enough_for_is_done_first():
    jaxpr = staged(lambda a, x: (
        a, np.sin(np.cos(a * 2)) + x, ad.jit(np.exp)(a), np.tan(a), C), C, C)
    jaxpr.outvars.pop(-2)       # a value that is not needed
    first, rest = hoist(jaxpr, 1)
    assert [e.primitive.name for e in first.eqns] == [
        'mul', 'cos', 'sin', 'jit', 'tan']
    assert [e.primitive.name for e in rest.eqns] == ['add']
    values = checked(first, C)
    assert len(values) == 2
    for y, expected in zip(checked(rest, C, *values, C + 1),
                           run(jaxpr, C, C + 1), strict=True):
        assert_same(y, expected)


# fixpoint

def test_a_fixpoint_is_reached_one_step_at_a_time():
    asked = []

    def step(marks):
        """Each mark comes from the place before."""
        asked.append(marks)
        return (False, *marks[:-1])

    assert fixpoint(step, (True, False, False)) == (True, True, True)
    assert asked == [(True, False, False), (True, True, False),
                     (True, True, True)]


# close, stage_program


def test_a_program_may_close_over_nothing_traced():
    with pytest.raises(TypeError, match=(
            'jvp of .*sin.*: a rule closes over JVPTracer<float.*>.*not '
            'an argument of its function: pass it as an argument')):
        ad.jvp(lambda x: stage_program(
            lambda y: [x * y], [typeof(1.0)], TraceTag('jvp', np.sin)),
            (1.0,), (1.0,))
    assert current_trace() is Trace.base
    jaxpr = stage_program(lambda y: [y * C], [typeof(C)],
                          TraceTag('jvp', np.sin))
    assert_same(checked(jaxpr, C)[0], C * C)
