"""The draft is right: it computes what the library does, and is short.

Its pieces are the chapters' main line; the chapters run them one by one.
"""

import ast
import itertools
import re
from pathlib import Path

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini import draft
from book.tools.mainline import code_lines
from tests import amount
from tests.draft_programs import (
    DRAFT, LIBRARY, PROGRAMS, STACKS, as_long_as, cannot, ruled, transformed)
from tests.programs import PROGRAMS as TABLE
from tests.programs import is_inexact

SOURCE = Path(draft.__file__).read_text()
PIECES = re.split(r'(?m)^(?=# \d+[a-z]\. )', SOURCE)


# Short.

def test_the_whole_system_has_six_hundred_lines():
    assert code_lines(SOURCE) <= 600


def test_no_piece_is_longer_than_twenty():
    assert len(PIECES) > 50
    assert max(map(code_lines, PIECES)) <= 20


def test_it_needs_nothing_of_the_library():
    assert {name.split('.')[0] for node in ast.walk(ast.parse(SOURCE))
            if isinstance(node, ast.ImportFrom)
            for name in [node.module]} <= {'dataclasses', 'functools',
                                           'numpy', 'typing'}


# Right.

@pytest.mark.parametrize('program', PROGRAMS, ids=lambda f: f.__name__)
def test_under_every_stack_of_three_it_is_the_library(program):
    for names in STACKS if amount.WHOLE else STACKS[::3]:
        try:
            y = transformed(DRAFT, program, names)(0.7)
        except TypeError as error:
            assert cannot(program, names), names
            assert re.search('way back only|for custom_lin', str(error))
            continue
        np.testing.assert_allclose(
            y, transformed(LIBRARY, program, names)(0.7), 1e-9, 1e-12,
            err_msg=' of '.join([*names[::-1], program.__name__]))


def test_every_numpy_program_that_it_can_express_is_the_librarys():
    """What it cannot, it refuses; but for what its docstring says."""
    expressed = []
    with np.errstate(all='ignore'):
        for program in TABLE:
            if program.is_smooth and all(map(is_float, program.args)):
                expressed += compared(program)
    assert len(expressed) > 300


def is_float(x):
    return (not isinstance(x, (bool, int)) and is_inexact(x)
            and np.result_type(x).kind == 'f')


def compared(program):
    """Returns the program in a list, or none if the draft refuses it."""
    if program.name in ('index_true', 'index_false', 'stop_gradient'):
        return []

    def f(*xs):
        return program.function(np, *xs)
    x_dots = tuple(np.cos(np.arange(np.size(x))).reshape(np.shape(x)).astype(
        np.result_type(x)) for x in program.args)
    try:
        y, y_dot = draft.jvp(f, program.args, x_dots)
    except Exception:
        return []
    results = ad.jvp(f, program.args, x_dots)
    narrow = min(np.result_type(x).itemsize
                 for x in (*program.args, *results))
    tolerance = {2: 1e-2, 4: 1e-5}.get(narrow, 1e-9)
    for ours, theirs in zip([y, y_dot], results):
        np.testing.assert_equal(np.shape(ours), np.shape(theirs))
        np.testing.assert_allclose(
            np.asarray(ours, float), np.asarray(theirs, float), tolerance,
            tolerance, err_msg=program.name)
    return [program]


def test_while_loops_go_forwards():
    for names in (['jvp'], ['jvp', 'jvp'], ['jit', 'jvp'], ['jvp', 'jit']):
        np.testing.assert_allclose(
            transformed(DRAFT, as_long_as, names)(0.7),
            transformed(LIBRARY, as_long_as, names)(0.7))


# The rule survives.

WRAPPERS = {
    'call': lambda f: lambda x: draft.call_p.bind(x, fun=f),
    'jit': draft.jit,
    'checkpoint': draft.checkpoint,
    'vmap': lambda f: lambda x: draft.vmap(f)(x * np.ones(2))[1],
    'scan': lambda f: lambda x: draft.scan(
        lambda c, a: (c, f(a)), 0.0, x * np.ones(2))[1][1],
    'carry': lambda f: lambda x: draft.scan(
        lambda c, _: (f(c), None), x, None, length=1)[0],
    'cond': lambda f: lambda x: draft.cond(x > 0, f, lambda x: 0.0 * x, x),
    'staged': lambda f: lambda x: draft.make_jaxpr(f)(x)(x)[0],
}
DERIVATIVES = {
    'jvp': lambda f: lambda x: draft.jvp(f, (x,), (1.0,))[1],
    'grad': draft.grad,
    'linearize': lambda f: lambda x: draft.linearize(f, x)[1](1.0)}


@pytest.mark.parametrize('derivative', DERIVATIVES.values(), ids=DERIVATIVES)
def test_the_dye_is_three_in_every_order(derivative):
    dye = draft.custom_jvp(lambda x: 2 * x)
    dye.defjvp(lambda p, t: (dye(*p), 3 * t[0]))
    for names in itertools.product(WRAPPERS, repeat=2):
        for place in range(3):
            f = dye
            for name in names[:place]:
                f = WRAPPERS[name](f)
            f = derivative(f)
            for name in names[place:]:
                f = WRAPPERS[name](f)
            assert f(1.0) == 3, (names, place)


def test_hard_case_1_the_wrong_number_of_jax():
    f = ruled(DRAFT)
    three = lambda x: draft.scan(lambda c, _: (f(c), None), x, None, 3)[0]
    for g in (three, draft.jit(three), draft.checkpoint(three)):
        np.testing.assert_allclose(draft.grad(draft.grad(g))(1.0),
                                   -10805.46137749049, 1e-12)


def test_a_staged_rule_that_calls_its_function_ends():
    jaxpr = draft.make_jaxpr(ruled(DRAFT))(1.0)
    again = draft.make_jaxpr(lambda x: jaxpr(x)[0])(1.0)
    slope = draft.grad(draft.grad(lambda x: again(x)[0]))(1.0)
    np.testing.assert_allclose(slope, -100 * np.sin(1.0) / 10)


# What it does not do, it says.

@pytest.mark.parametrize('words, program', [
    ('nothing here for', lambda: draft.grad(np.arcsin)(0.5)),
    ('nothing here for while_loop',
     lambda: draft.grad(as_long_as(DRAFT))(0.5)),
    ('nothing here for while_loop',
     lambda: draft.vmap(as_long_as(DRAFT))(np.ones(2))),
    ('a real number', lambda: draft.grad(np.sin)(np.ones(2))),
    ('no value to branch on',
     lambda: draft.vmap(lambda x: x if x > 0 else -x)(np.ones(2))),
    ('left its transformation', lambda: draft.grad(closing_over)(1.0)),
    ('range indices', lambda: draft.grad(lambda x: x[0, 1])(np.ones((2, 2)))),
])
def test_what_it_does_not_do_is_an_error(words, program):
    with pytest.raises(TypeError, match=words):
        program()


def closing_over(x):
    f = draft.custom_jvp(lambda y: x * y)
    f.defjvp(lambda p, t: (f(*p), 5 * t[0]))
    return f(1.0)
