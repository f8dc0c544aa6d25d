"""The draft is right, it is short, and what it lacks is an error.

Its pieces are Book One's main line, and the chapters run them one by one.
"""

import ast
import itertools
import re
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini import draft
from autodiff_mini.draft.jit import compiled
from book.tools.mainline import code_lines
from tests.draft.programs import (
    DRAFT, LIBRARY, PROGRAMS, STACKS, as_long_as, cannot, transformed)
from tests.support import amount
from tests.tables.programs import PROGRAMS as TABLE

MODULES = {path.stem: path.read_text()
           for path in Path(draft.__file__).parent.glob('[!_]*.py')}
PIECES = [piece for source in MODULES.values() for piece in
          re.split(r'(?m)^(?=# \d+[a-z]\. )', source)[1:]]


# The draft is short, and so are its parts.

def test_the_draft_has_at_most_a_thousand_lines():
    assert sum(map(code_lines, MODULES.values())) <= 1000


def test_no_module_of_the_draft_is_longer_than_130_lines():
    assert max(map(code_lines, MODULES.values())) <= 130


def test_no_piece_of_the_draft_is_longer_than_22_lines():
    assert len(PIECES) > 50
    assert max(map(code_lines, PIECES)) <= 22


def test_the_draft_imports_only_numpy_and_itself():
    absolute = {node.module.split('.')[0] for source in MODULES.values()
                for node in ast.walk(ast.parse(source))
                if isinstance(node, ast.ImportFrom) and not node.level}
    assert absolute <= {'dataclasses', 'functools', 'math', 'numpy',
                        'operator', 'typing'}


def test_a_chapter_starts_with_the_pieces_of_the_chapters_before_it():
    labels = sorted(int(label) for piece in PIECES
                    for label in re.findall(r'^# (\d+)[a-z]', piece))
    for chapter in {*labels}:
        before, after = {}, {}
        draft.until(chapter, before)
        draft.until(chapter + 1, after)
        assert before.keys() <= after.keys()
    assert callable(after['checkpoint']) and 'checkpoint' not in before


# The draft is right.

@pytest.mark.parametrize('zero', [0.0, -0.0])
def test_a_python_zero_and_a_numpy_zero_have_the_same_slopes(zero):
    """Rules divide, and Python raises an error for `1 / 0.0`."""
    functions = [np.log, lambda x: x ** 0.5, lambda x: x ** -1.0,
                 lambda x: np.divide(x, x), lambda x: 1.0 / x,
                 lambda x: np.divide(2.0, x), lambda x: x ** x]
    numpys = np.float64(zero)
    for f in functions:
        slopes = [
            lambda x: draft.jvp(f, (x,), (1.0,))[1], draft.grad(f),
            lambda x: draft.linearize(f, x)[1](1.0),
            draft.grad(draft.jit(f)), draft.jit(draft.grad(f))]
        with np.errstate(all='ignore'):
            for slope in slopes:
                np.testing.assert_array_equal(slope(zero), slope(numpys))


@pytest.mark.parametrize('program', PROGRAMS, ids=lambda f: f.__name__)
def test_every_stack_of_three_transformations_equals_the_library(program):
    for names in STACKS if amount.WHOLE else STACKS[::3]:
        try:
            y = transformed(DRAFT, program, names)(0.7)
        except TypeError as error:
            assert cannot(program, names), names
            assert re.search('has only a reverse rule', str(error))
            continue
        np.testing.assert_allclose(
            y, transformed(LIBRARY, program, names)(0.7), 1e-9, 1e-12,
            err_msg=' of '.join([*names[::-1], program.__name__]))


def test_every_numpy_program_of_the_draft_equals_the_library():
    """It refuses the others, except for what its docstring says."""
    expressed = 0
    for program in TABLE:
        xs = program.args
        if not program.is_smooth or any(
                type(x) is int or np.result_type(x) != float for x in xs
                ) or program.name == 'stop_gradient':
            continue
        f = partial(program.function, np)
        x_dots = tuple(np.linspace(1, 2, np.size(x)).reshape(
            np.shape(x))[()] for x in xs)
        with np.errstate(all='ignore'):
            try:
                found = draft.jvp(f, xs, x_dots)
            except Exception:
                continue
            expected = ad.jvp(f, xs, x_dots)
        for ours, theirs in zip(found, expected, strict=True):
            assert np.shape(ours) == np.shape(theirs)
            np.testing.assert_allclose(ours, theirs, 1e-6, 1e-6,
                                       err_msg=program.name)
        expressed += 1
    assert expressed > 100


# What NumPy would do.

A, B, C = np.ones((2, 3)), np.arange(6.0).reshape(3, 2), np.arange(3.0)


@pytest.mark.parametrize('f, x', [
    (np.sqrt, C), (np.abs, C - 1), (np.mean, A), (lambda x: x.sum(), B),
    (lambda x: x.sum(0), B), (lambda x: np.mean(x, 1), B),
    (lambda x: np.mean(x, (0, -1)), B), (lambda x: np.dot(A, x), B),
    (lambda x: np.dot(x, C), A), (lambda x: np.dot(x, x), C),
    (lambda x: np.mean(x) * x, np.float32(A))])
def test_a_function_that_a_reader_writes_first_is_in_the_table(f, x):
    with np.errstate(divide='ignore'):      # the slope of a root at 0
        f_jvp = draft.jvp(f, (x,), (np.ones_like(x),))
        np.testing.assert_array_equal(f_jvp[0], f(x))
        assert f_jvp[0].dtype == f_jvp[1].dtype == f(x).dtype
        np.testing.assert_allclose(
            f_jvp[1], ad.jvp(f, (x,), (np.ones_like(x),))[1], 1e-6)
    np.testing.assert_allclose(
        draft.vmap(f)(np.stack([x, x]))[1], f(x), 1e-6)



DERIVATIVES = [
    lambda f: lambda x: draft.jvp(f, (x,), (1.0,))[1], draft.grad,
    lambda f: lambda x: draft.linearize(f, x)[1](1.0)]


def in_place(x):
    y = x
    y += x * x
    return x * y


def test_a_slope_is_right_where_the_last_edition_was_wrong():
    for program, x, slope in [
            (lambda x: 2.0 ** x, 3.0, 8 * np.log(2)),
            (lambda x: x ** 0, 0.0, 0.0),
            (lambda x: draft.jit(lambda x, n: x ** n)(x, 3), 2.0, 12.0),
            (lambda x: draft.cond(x > 0, np.exp, np.cos, x), 0.0, 0.0),
            (lambda x: np.maximum(x, 1.0), 1.0, 0.5),
            (lambda x: np.minimum(x, x), 1.0, 1.0),
            (in_place, 2.0, 2 * 2 + 3 * 4)]:
        for derivative in DERIVATIVES:
            np.testing.assert_allclose(derivative(program)(x), slope)
        np.testing.assert_allclose(
            draft.vmap(draft.grad(program))(np.array([x, x])), slope)


def test_a_compiled_program_keeps_the_dtype_of_a_number():
    x = np.float16(2.0)
    for number in (np.float32(0.1), np.bool_(True), np.complex64(1j),
                   np.float32(np.inf)):
        for legacy in '1.25', False:
            with np.printoptions(legacy=legacy):
                program = compiled(draft.make_jaxpr(lambda x: x * number)(x))
            y = program(x)[0]
            assert y == x * number and y.dtype == (x * number).dtype


# Programs inside operations.

def energy(x):
    return np.sum(np.sin(x) * x)


def held(program, primitive):
    """Return the parameters of a primitive in a program."""
    return [eqn.params for eqn in program.eqns
            if eqn.primitive.name == primitive]


def test_a_derivative_of_jit_holds_two_programs():
    both = draft.make_jaxpr(lambda x: draft.jvp(
        draft.jit(energy), (x,), (x,)))(C)
    assert [eqn.primitive.name for eqn in both.eqns] == ['jit', 'linear']
    assert all(type(eqn.params['fun']) is type(both) for eqn in both.eqns)


def test_a_batch_of_jit_and_its_gradients_holds_programs():
    fast = draft.jit(energy)
    [params] = held(draft.make_jaxpr(draft.vmap(fast))(A), 'jit')
    assert len(params['fun'].invars) == 1
    for f in draft.vmap(draft.grad(fast)), draft.grad(
            lambda x: np.sum(draft.vmap(fast)(x))):
        program = draft.make_jaxpr(f)(A)
        assert held(program, 'jit') and held(program, 'linear')
        np.testing.assert_allclose(f(A), np.sin(A) + np.cos(A) * A)


def test_jit_counts_no_python_call_for_each_operation_of_a_gradient():
    def long(x):
        for _ in range(100):
            x = np.sin(x)
        return x

    def calls(f):
        count, f_of_2 = 0, f(2.0)      # compiles it

        def listen(frame, event, argument):
            nonlocal count
            count += event == 'call'
        sys.setprofile(listen)
        try:
            f(2.0)
        finally:
            sys.setprofile(None)
        return count

    assert calls(draft.grad(draft.jit(long))) < calls(draft.grad(long)) / 5


def test_a_rule_that_calls_its_function_for_a_tangent_is_never_lost():
    """The solver sees no slope at 1, so a lost rule shows in each order."""
    @draft.custom_jvp
    def solve(a, b):
        y = 1.0
        for _ in range(9):
            error = 1 - a * y
            y = np.where(np.abs(error) > 1e-9, y + y * error, y)
        return y * b

    @solve.defjvp
    def solve_jvp(primals, tangents):
        (a, b), (a_dot, b_dot) = primals, tangents
        x = solve(a, b)
        return x, solve(a, b_dot - a_dot * x)

    def forward(f):
        return lambda x: draft.jvp(f, (x,), (1.0,))[1]

    for ways in itertools.product([forward, draft.grad], repeat=3):
        f, slopes = lambda a: solve(a, 1.0), []
        for way in ways:
            f = way(f)
            slopes.append(float(f(1.0)))
        assert slopes == [-1, 2, -6]


def test_a_carry_that_starts_known_does_not_pass_for_a_residual():
    """The tangent of `w` is a known zero before the first step only."""
    def step(w, row):
        x, y = row
        return w - 0.3 * draft.grad(lambda w: (w * x - y) ** 2)(w), None

    def train(rate, xs, ys, loop):
        def scaled(w, row):
            new, out = step(w, row)
            return w + rate * (new - w), out
        return loop(scaled, 0.0, (xs, ys))[0]

    def unrolled(f, carry, rows):
        for row in zip(*rows):
            carry, _ = f(carry, row)
        return carry, None

    xs, ys = np.linspace(-1, 1, 5), np.linspace(0, 2, 5)
    found = draft.grad(lambda rate: train(rate, xs, ys, draft.scan))(0.5)
    expected = draft.grad(lambda rate: train(rate, xs, ys, unrolled))(0.5)
    np.testing.assert_allclose(found, expected)


# The checks of a rule.

def wrong_by_one_percent(x):
    f = draft.custom_jvp(np.sin)
    f.defjvp(lambda p, t: (f(*p), 1.01 * np.cos(p[0]) * t[0]))
    return f(x)


def test_check_jvp_and_check_grads_find_a_wrong_rule():
    args = (np.array([0.3, 0.5]),)
    for check in (draft.check_jvp, draft.check_grads):
        check(np.sin, args)
        check(lambda x: {'a': x[0] * x, 'b': [x[1]]}, args)
        with pytest.raises(AssertionError):
            check(wrong_by_one_percent, args)


def test_defjvp_returns_the_rule():
    f = draft.custom_jvp(np.sin)

    @f.defjvp
    def f_jvp(primals, tangents):
        return f(*primals), 3 * tangents[0]

    assert f_jvp((0.0,), (1.0,)) == (0.0, 3.0)


# What the draft lacks is an error.

def rule_of_wrong_shape(x):
    f = draft.custom_jvp(np.sin)
    f.defjvp(lambda p, t: (f(*p), np.sum(t[0])))
    return f(x)


def bwd_of_wrong_shape(x):
    f = draft.custom_vjp(np.sin)
    f.defvjp(lambda x: (f(x), x), lambda x, ct: (np.sum(ct),))
    return np.sum(f(x))


def closing_over(x):
    f = draft.custom_jvp(lambda y: x * y)
    f.defjvp(lambda p, t: (f(*p), 5 * t[0]))
    return f(1.0)


def adding_in_place(x):
    x += 1
    return np.sum(x)


def growing(x):
    return draft.scan(lambda c, _: (c * np.ones(2), None), x, None, 3)[0]


TWO = np.ones(2)


def without_a_rule(x):
    return draft.custom_vjp(np.sin)(x)


def with_rules(fwd, bwd):
    f = draft.custom_vjp(np.sin)
    f.defvjp(fwd, bwd)
    return draft.grad(f)


def tangent_alone(x):
    f = draft.custom_jvp(np.sin)
    f.defjvp(lambda p, t: np.cos(p[0]) * t[0])
    return f(x)


def captured_later(s):
    """The rule of `f` would not know about `s` when it runs."""
    f = draft.custom_jvp(lambda x: s * x)
    f.defjvp(lambda p, t: (f(*p), 3 * t[0]))
    return f(1.0)


def test_a_sum_over_an_axis_that_is_not_there_is_numpys_error():
    with pytest.raises(np.exceptions.AxisError):
        draft.grad(lambda x: np.sum(np.sum(x, 5)))(A)


@pytest.mark.parametrize('words, program', [
    ('no rule for', lambda: draft.grad(np.arcsin)(0.5)),
    ('no rule for while_loop',
     lambda: draft.grad(as_long_as(DRAFT))(0.5)),
    ('no rule for while_loop', lambda: draft.vmap(as_long_as(DRAFT))(TWO)),
    ('real scalar output', lambda: draft.grad(np.sin)(TWO)),
    ('no value to branch on',
     lambda: draft.vmap(lambda x: x if x > 0 else -x)(TWO)),
    ('escaped its transformation', lambda: draft.grad(closing_over)(1.0)),
    ('write x = x [+] 1', lambda: draft.grad(adding_in_place)(TWO)),
    ('index a tracer with integers',
     lambda: draft.grad(lambda x: x[[0, 1]])(TWO)),
    ('the carry that a step returns', lambda: growing(1.0)),
    ('the output of the second branch', lambda: draft.cond(
        True, lambda x: x, lambda x: x * TWO, 1.0)),
    ('the tangent that a JVP rule returns',
     lambda: draft.jvp(rule_of_wrong_shape, (TWO,), (TWO,))),
    ('the cotangents that a bwd rule returns',
     lambda: draft.grad(bwd_of_wrong_shape)(TWO)),
    ('jvp: the tangents', lambda: draft.jvp(np.sin, (TWO,), (1.0,))),
    ('vjp: the cotangent', lambda: draft.vjp(np.sin, TWO)[1](1.0)),
    ('jvp: the tangents', lambda: draft.jvp(np.sin, (TWO,), ())),
    ('write jvp', lambda: draft.jvp(np.sin, 1.0, 1.0)),
    ('sin has no rule yet: give it one with defjvp or defvjp',
     lambda: without_a_rule(1.0)),
    (r'fwd must return \(output, residuals\)',
     lambda: with_rules(np.sin, lambda res, ct: (ct,))(1.0)),
    ('a tuple with one for each argument',
     lambda: with_rules(lambda x: (x, x), lambda res, ct: ct)(1.0)),
    ('a tuple with one for each argument',
     lambda: with_rules(lambda x: (x, x), lambda res, ct: (ct, ct))(1.0)),
    (r'a JVP rule must return \(output, tangent\)',
     lambda: draft.grad(tangent_alone)(1.0)),
    ('write 3.0, not 3', lambda: draft.grad(lambda x: x * x)(3)),
    (r'vmap: expected one length, got \[2, 3\]',
     lambda: draft.vmap(np.add)(TWO, C)),
    (r'scan: expected one length, got \[2, 3\]',
     lambda: draft.scan(lambda c, x: (c, x), 0.0, C, 2)),
    ('at least one step',
     lambda: draft.scan(lambda c, x: (c, x), 0.0, C[:0])),
    ('closes over a tracer',
     lambda: draft.jvp(draft.make_jaxpr(captured_later)(1.0), (1.0,), (1.0,))),
    ('cannot multiply', lambda: draft.grad(
        lambda x: np.sum(x @ np.ones((1, 3))))(A)),
    ('cannot multiply', lambda: draft.grad(
        lambda x: np.sum(np.dot(x, C)))(2.0)),
])
def test_what_the_draft_lacks_is_an_error(words, program):
    with pytest.raises(TypeError, match=words):
        program()
    assert draft.grad(np.sin)(0.0) == 1     # and it still works afterwards
