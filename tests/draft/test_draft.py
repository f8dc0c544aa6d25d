"""The draft is right, it is short, and what it lacks is an error.

Its pieces are Book One's main line, and the chapters run them one by one.
"""

import ast
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini import draft
from autodiff_mini.draft.jit import compiled
from autodiff_mini.notebook import drafting
from book.tools.mainline import code_lines
from tests import amount
from tests.draft.programs import (
    DRAFT, LIBRARY, PROGRAMS, STACKS, as_long_as, cannot, transformed)
from tests.programs import PROGRAMS as TABLE

MODULES = {path.stem: path.read_text()
           for path in Path(draft.__file__).parent.glob('*.py')}
PIECES = [piece for source in MODULES.values() for piece in
          re.split(r'(?m)^(?=# \d+[a-z]\. )', source)[1:]]


# The draft is short.

def test_the_draft_has_at_most_eight_hundred_lines():
    assert sum(map(code_lines, MODULES.values())) <= 800


def test_no_piece_of_the_draft_is_longer_than_twenty_lines():
    assert len(PIECES) > 50
    assert max(map(code_lines, PIECES)) <= 20


def test_the_draft_imports_only_numpy_and_itself():
    absolute = {node.module.split('.')[0] for source in MODULES.values()
                for node in ast.walk(ast.parse(source))
                if isinstance(node, ast.ImportFrom) and not node.level}
    assert absolute <= {'dataclasses', 'functools', 'numpy', 'operator',
                        'typing'}


def test_a_chapter_starts_with_the_pieces_of_the_chapters_before_it():
    labels = sorted(int(label) for piece in PIECES
                    for label in re.findall(r'^# (\d+)[a-z]', piece))
    for chapter in {*labels}:
        before, after = {}, {}
        drafting.until(chapter, before)
        drafting.until(chapter + 1, after)
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
])
def test_what_the_draft_lacks_is_an_error(words, program):
    with pytest.raises(TypeError, match=words):
        program()
    assert draft.grad(np.sin)(0.0) == 1     # and it still works afterwards
