"""Guard programs made of programs: batched, cut in two, transposed."""

import itertools
from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core import Trace, TraceTag, current_trace, typeof
from autodiff_mini.higher_order.programs import (
    close, for_arguments, for_outputs, forward, interleave, jvp_jaxpr,
    known_jaxpr, nothing, others, partial_eval_jaxpr, picked,
    remembered, run, stage_program, transpose_jaxpr, vmap_jaxpr)
from autodiff_mini.higher_order.loops import fixpoint, hoist
from tests.amount import each
from tests.custom_programs import CUSTOM_PROGRAMS
from tests.jaxpr_checks import check_jaxpr
from tests.numerical import (
    assert_close,
    assert_same,
    assert_same_type,
    python_type,
)
from tests.programs import PROGRAMS, is_inexact
from tests.test_abstract import NOT_STAGED
from tests.test_programs import coarsest, random_tangent
from tests.test_transpose import inexact_only
from tests.test_vmap import INDEXED, SIZE, UNMAPPED, batched

EVERY = [program for program in PROGRAMS + CUSTOM_PROGRAMS
         if program.name not in NOT_STAGED.keys() | UNMAPPED.keys()]
each_program = each(EVERY, composed=True)
C = np.arange(3.0)


def staged(f, *args):
    """Returns a program that closes over arrays only."""
    jaxpr, traced = close(ad.make_jaxpr(f)(*args))
    assert traced == []
    return jaxpr


def program_of(program):
    return staged(partial(program.function, np), *program.args)


def masks(count):
    """Returns every way to mark some of so many things."""
    return list(itertools.product((False, True), repeat=count))


def checked(jaxpr, *args):
    """Returns what a program returns, which must make sense."""
    check_jaxpr(jaxpr)
    assert current_trace() is Trace.base
    with np.errstate(all='ignore'):
        outs = run(jaxpr, *args)
    for y, aval in zip(outs, jaxpr.out_avals, strict=True):
        assert (typeof(y).shape, typeof(y).dtype) == (aval.shape, aval.dtype)
    return outs


# vmap_jaxpr

@each((program for program in EVERY if program.name not in INDEXED),
      composed=True)
def test_vmap_jaxpr_is_the_vmap(program):
    jaxpr, f = program_of(program), partial(program.function, np)
    _, *some_mapped = masks(len(program.args))
    for mapped in some_mapped:
        axes = tuple(0 if here else None for here in mapped)
        args = batched(program, axes)
        many, _, has = vmap_jaxpr(jaxpr, mapped, (False,), SIZE)
        (ys,) = checked(many, *args)
        with np.errstate(all='ignore'):
            expected = ad.vmap(f, axes)(*args)
        if not has[0]:
            ys = np.stack([ys] * SIZE)
        # Mapped, a Python number is one no more; the program's types stay.
        assert np.shape(ys) == np.shape(expected)
        assert np.result_type(ys) == jaxpr.out_avals[0].dtype
        assert_close(ys, expected, coarsest(program, ys)
                     if is_inexact(ys) else None)
        if not any(map(python_type, picked(program.args, mapped))):
            assert_same_type(ys, expected)


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

@each((program for program in EVERY if program.is_smooth),
      composed=True)
def test_transpose_jaxpr_is_the_vjp(program):
    """jvp, cut in two, and the second half run backwards."""
    f, xs = inexact_only(program)
    jaxpr = staged(f, *xs)
    moved, moves = jvp_jaxpr(jaxpr, (True,) * len(xs), (True,))
    unknown = (False,) * len(xs) + (True,) * len(xs)
    known, later, out_unknown = partial_eval_jaxpr(moved, unknown,
                                                   (False, True))
    assert moves == [True] and out_unknown == [False, True]
    y, *residuals = checked(known, *xs)
    linear = (False,) * len(residuals) + (True,) * len(xs)
    ct = random_tangent(np.random.default_rng(1), y)
    backwards = transpose_jaxpr(later, linear, (True,))
    x_bars = checked(backwards, *residuals, ct)
    for x, x_bar, expected in zip(xs, x_bars, ad.vjp(f, *xs)[1](ct),
                                  strict=True):
        assert np.shape(x_bar) == np.shape(x)
        assert_close(x_bar, expected, coarsest(program, y))
    # without a cotangent there is nothing to gather
    for x, x_bar in zip(xs, checked(
            transpose_jaxpr(later, linear, (False,)), *residuals)):
        assert np.shape(x_bar) == np.shape(x) and not np.any(x_bar)


def test_what_a_linear_program_is_linear_in():
    jaxpr = staged(lambda a, x, b, y: (a * x, b * y + x), C, C, 2.0, C)
    linear = (False, True, False, True)
    both = transpose_jaxpr(jaxpr, linear, (True, True))
    assert len(both.invars) == 4
    x_bar, y_bar = checked(both, C, 3.0, C + 1, C + 2)
    assert_same(x_bar, C * (C + 1) + C + 2)
    assert_same(y_bar, 3.0 * (C + 2))
    first = transpose_jaxpr(jaxpr, linear, (True, False))
    x_bar, y_bar = checked(first, C, 3.0, C + 1)
    assert_same(x_bar, C * (C + 1))
    assert_same(y_bar, 0 * C)


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


def test_what_failed_is_not_remembered():
    tries = []

    @remembered
    def fail_once(jaxpr):
        tries.append(1)
        if len(tries) == 1:
            raise KeyError
        return 'done'

    jaxpr = staged(np.sin, 1.0)
    with pytest.raises(KeyError):
        fail_once(jaxpr)
    assert fail_once(jaxpr) == fail_once(jaxpr) == 'done'
    assert tries == [1, 1]


# forward, for_outputs

def test_outputs_that_are_arguments_are_passed():
    jaxpr = staged(lambda x, y: (y, x + y, x, 2.0, C, y), C, C)
    short, passed = forward(jaxpr)
    assert passed == [1, None, 0, None, None, 1]
    total, two, constant = checked(short, C, C + 1)
    assert_same(total, C + C + 1)
    assert two == 2.0
    assert_same(constant, C)
    args, outs = (C, C + 1), iter([total, two, constant])
    for y, expected in zip(
            [next(outs) if p is None else args[p] for p in passed],
            run(jaxpr, *args), strict=True):
        assert_same(y, expected)
    unchanged, passed = forward(staged(np.sin, 1.0))
    assert passed == [None] and len(unchanged.outvars) == 1


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


def test_which_outputs_are_known_and_what_they_are():
    jaxpr = staged(lambda x, y, z: (
        x * 2, np.sin(x) + y, z, 3.0, C, tuple(np.linalg.slogdet(
            x[:, None] * y))[1]), C, C, 2.0)
    expected = {
        (True, False, False): [True, True, False, False, False, True],
        (False, True, False): [False, True, False, False, False, True],
        (False, False, True): [False, False, True, False, False, False],
        (False, False, False): [False] * 6}
    outs = run(jaxpr, C, C, 2.0)
    for unknown, out_unknown in expected.items():
        known, found = known_jaxpr(jaxpr, unknown, nothing(jaxpr))
        assert found == out_unknown
        for y, z in zip(checked(known, *others([C, C, 2.0], unknown)),
                        others(outs, found), strict=True):
            assert_same(y, z)


def test_a_call_is_known_as_far_as_its_program_is():
    inner = ad.jit(lambda x, y: (np.sin(x), x * y))
    jaxpr = staged(lambda x, y: inner(x, y), 1.0, 2.0)
    known, out_unknown = known_jaxpr(jaxpr, (False, True), (False, False))
    assert out_unknown == [False, True]
    assert checked(known, 1.0) == [np.sin(1.0)]


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

def test_what_is_traced_becomes_an_argument():
    found = []

    def f(x):
        jaxpr = ad.make_jaxpr(lambda y: (y * x + C, np.sin(x)))(C)
        assert len(jaxpr.consts) == 2
        closed, traced = close(jaxpr)
        check_jaxpr(closed)
        assert traced == [x] or traced[0] is x
        assert [type(c) for c in closed.consts] == [np.ndarray]
        assert len(closed.invars) == 2
        found.append(closed)
        return run(closed, *traced, C)[0]

    y, y_dot = ad.jvp(f, (2.0,), (1.0,))
    assert_same(y, C * 2.0 + C)
    assert_same(y_dot, C)
    assert_same(ad.vmap(f)(np.array([2.0, 3.0]))[1], C * 3.0 + C)
    assert_same(run(found[0], 5.0, C)[0], C * 5.0 + C)


def test_a_program_may_close_over_nothing_traced():
    with pytest.raises(TypeError, match=(
            'jvp of .*sin.*: a rule closes over JVPTracer<float.*>.*none of '
            'the arguments of its function: pass it as an argument')):
        ad.jvp(lambda x: stage_program(
            lambda y: [x * y], [typeof(1.0)], TraceTag('jvp', np.sin)),
            (1.0,), (1.0,))
    assert current_trace() is Trace.base
    jaxpr = stage_program(lambda y: [y * C], [typeof(C)],
                          TraceTag('jvp', np.sin))
    assert_same(checked(jaxpr, C)[0], C * C)
