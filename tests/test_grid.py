"""The grid: each primitive meets each interpreter.

The rows are the library's own tables, so a primitive without a rule fails
here, and so does one that no program of the table exercises.
"""

from functools import cache, partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini import primitives
from autodiff_mini.core import Primitive
from autodiff_mini.interpreters import jvp
from tests.numerical import assert_same
from tests.programs import PROGRAMS
from tests.test_programs import check_tangent, only, tangents_for
from tests.traces import spied

ROWS = list({p for module in (primitives, jvp)
             for p in vars(module).values() if isinstance(p, Primitive)})
ROWS.sort(key=str)


@cache
def programs_by_primitive():
    """Returns which programs ask the current trace about a primitive."""
    table = {}
    for program in PROGRAMS:
        _, counts = spied(partial(program.function, np), *program.args)
        for primitive in counts:
            table.setdefault(primitive, []).append(program)
    return table


def evaluate(primitive, program):
    y, counts = spied(partial(program.function, np), *program.args)
    assert counts[primitive]
    assert_same(y, program.function(np, *program.args))


def jvp_of_spy(primitive, program):
    """A spy below jvp: the rules themselves are made of primitives."""
    tangents = tangents_for(program)

    def f(*args):
        return ad.jvp(partial(program.function, np), args, tangents)[1]

    y = program.function(np, *program.args)
    y_dot, _ = spied(f, *program.args)
    check_tangent(program, y, y_dot,
                  only(program, tangents, program.perturbed()))


def spy_of_jvp(primitive, program):
    """A spy above jvp sees the primitive; what it computes is carried."""
    tangents = tangents_for(program)

    def f(*args):
        y, counts = spied(partial(program.function, np), *args)
        assert counts[primitive]
        return y

    y, y_dot = ad.jvp(f, program.args, tangents)
    assert_same(y, program.function(np, *program.args))
    check_tangent(program, y, y_dot,
                  only(program, tangents, program.perturbed()))


COLUMNS = [evaluate, jvp_of_spy, spy_of_jvp]


@pytest.mark.parametrize('column', COLUMNS, ids=lambda f: f.__name__)
@pytest.mark.parametrize('primitive', ROWS, ids=str)
def test_each_primitive_meets_each_interpreter(primitive, column):
    programs = programs_by_primitive().get(primitive)
    assert programs, f'no program in tests/programs.py exercises {primitive}'
    assert primitive.impl and primitive in jvp.jvp_rules
    for program in programs:
        column(primitive, program)


def test_primitives_have_different_names():
    assert len({p.name for p in ROWS}) == len(ROWS) >= 29
