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
from autodiff_mini.higher_order import call, custom_jvp
from autodiff_mini.interpreters import jvp, vmap
from tests.custom_programs import CUSTOM_PROGRAMS
from tests.numerical import (
    assert_close,
    assert_same,
    assert_same_type,
    python_type,
)
from tests.programs import PROGRAMS
from tests.test_programs import check_tangent, only, tangents_for
from tests.test_vmap import UNMAPPED, batched, elements
from tests.traces import spied

ROWS = list({p for module in (primitives, jvp, call, custom_jvp)
             for p in vars(module).values() if isinstance(p, Primitive)})
ROWS.sort(key=str)


@cache
def programs_by_primitive():
    """Returns which programs ask the current trace about a primitive."""
    table = {}
    for program in PROGRAMS + CUSTOM_PROGRAMS:
        try:
            _, counts = spied(partial(program.function, np), *program.args)
        except Exception:   # one broken program is test_programs' to report
            continue
        for primitive in counts:
            if program in CUSTOM_PROGRAMS and not primitive.is_call:
                continue    # what is below a call depends on what is above
            table.setdefault(primitive, []).append(program)
    return table


def evaluate(primitive, program):
    y, counts = spied(partial(program.function, np), *program.args)
    assert counts[primitive]
    assert_same(y, program.function(np, *program.args), program.ulps)


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
    assert_same(y, program.function(np, *program.args), program.ulps)
    check_tangent(program, y, y_dot,
                  only(program, tangents, program.perturbed()))


def vmap_of_spy(primitive, program):
    """A spy below vmap: its rules, too, are made of primitives."""
    def vmapped(*args):
        return ad.vmap(partial(program.function, np))(*args)

    check_vmap(program, lambda *args: spied(vmapped, *args)[0])


def spy_of_vmap(primitive, program):
    """A spy above vmap sees the primitive, for all elements at once."""
    def f(*args):
        y, counts = spied(partial(program.function, np), *args)
        assert counts[primitive] or weak
        return y

    # An element is no Python number, which some would have converted.
    weak = any(map(python_type, program.args))
    check_vmap(program, ad.vmap(f))


def check_vmap(program, f):
    """Asserts that `f` returns the stack of what the program returns."""
    if program.name in UNMAPPED:
        return
    axes = [0] * len(program.args)
    args = batched(program, axes)
    with np.errstate(all='ignore'):
        ys = f(*args)
        expected = np.stack(elements(partial(program.function, np), args,
                                     axes))
    assert_same_type(ys, expected)
    assert_close(ys, expected)


COLUMNS = [evaluate, jvp_of_spy, spy_of_jvp, vmap_of_spy, spy_of_vmap]


@pytest.mark.parametrize('column', COLUMNS, ids=lambda f: f.__name__)
@pytest.mark.parametrize('primitive', ROWS, ids=str)
def test_each_primitive_meets_each_interpreter(primitive, column):
    programs = programs_by_primitive().get(primitive)
    assert programs, f'no program in tests/programs.py exercises {primitive}'
    assert primitive.impl and primitive in jvp.jvp_rules
    assert primitive in vmap.vmap_rules
    for program in programs:
        column(primitive, program)


def test_primitives_have_different_names():
    assert len({p.name for p in ROWS}) == len(ROWS) >= 29
