"""Guard every program of the table: NumPy's values, and the right tangents."""

from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from tests.amount import each
from tests.numerical import (
    along,
    assert_close,
    assert_same,
    assert_same_type,
    derivative,
    second_derivative,
)
from tests.programs import PROGRAMS, is_inexact

each_program = each(PROGRAMS)
SMOOTH = [program for program in PROGRAMS if program.is_smooth]


def tangents_for(program, seed=0):
    """Return a seeded tangent for each argument: float0 for integers."""
    rng = np.random.default_rng(seed)
    return [random_tangent(rng, x) for x in program.args]


def random_tangent(rng, x):
    shape, dtype = np.shape(x), np.result_type(x)
    if not is_inexact(x):
        return np.zeros(shape, ad.float0)
    t = rng.uniform(0.5, 1.5, shape)
    if dtype.kind == 'c':
        t = t + 1j * rng.uniform(0.5, 1.5, shape)
    return type(x)(t) if isinstance(x, (float, complex)) else \
        np.asarray(t, dtype)[()]


def only(program, tangents, positions):
    """Return the tangents at these positions, and None for the others."""
    return [t if i in positions else None for i, t in enumerate(tangents)]


def evaluated(program):
    """Return the program to be differentiated numerically."""
    f = partial(program.truth or program.function, np)
    if program.double:
        return lambda *args: f(*map(double, args))
    return f


def double(x):
    """Return `x`, with the precision that linear algebra has."""
    narrow = {np.longdouble: np.float64, np.clongdouble: np.complex128}
    dtype = narrow.get(np.result_type(x).type)
    return x if dtype is None else np.asarray(x, dtype)[()]


def check_tangent(program, y, y_dot, directions):
    """Assert that `y_dot` is the derivative of the program."""
    if not is_inexact(y):
        assert np.shape(y_dot) == np.shape(y)
        assert np.result_type(y_dot) == ad.float0
        return
    assert_same_type(y_dot, y)
    line = along(evaluated(program), program.args, directions)
    expected = derivative(line, program.step)
    assert_close(np.asarray(y_dot, np.clongdouble), expected,
                 coarsest(program, y))


def coarsest(program, y):
    """Return the dtype of least precision that the numbers go through."""
    narrow = [x for x in (y, *program.args) if is_inexact(x)]
    kinds = [np.result_type(x) for x in narrow]
    if program.step != 1e-3:
        kinds.append(np.dtype(np.float32))
    return min(kinds, key=lambda dtype: np.finfo(dtype).precision)


def test_program_names_are_unique():
    names = [program.name for program in PROGRAMS]
    assert len(set(names)) == len(names) >= 80


@each_program
def test_jvp_computes_what_numpy_computes(program):
    f = partial(program.function, np)
    y, _ = ad.jvp(f, program.args, tangents_for(program))
    assert_same(y, f(*program.args), program.ulps)


@each_program
def test_tangent_is_the_derivative(program):
    tangents = tangents_for(program)
    y, y_dot = ad.jvp(partial(program.function, np), program.args, tangents)
    check_tangent(program, y, y_dot,
                  only(program, tangents, program.perturbed()))


@each((program for program in PROGRAMS if len(program.perturbed()) > 1),
      composed=True)
def test_tangent_of_one_argument_at_a_time(program):
    tangents = tangents_for(program)
    for i in program.perturbed():
        def f(x, i=i):
            args = [*program.args[:i], x, *program.args[i + 1:]]
            return program.function(np, *args)
        y, y_dot = ad.jvp(f, (program.args[i],), (tangents[i],))
        assert_same(y, f(program.args[i]), program.ulps)
        check_tangent(program, y, y_dot, only(program, tangents, [i]))


@each((program for program in PROGRAMS
      if program.perturbed() and not program.truth),
      composed=True)
def test_nested_jvp_is_the_second_derivative(program):
    """The same direction twice, so the second derivative along it."""
    tangents = tangents_for(program)
    where = program.perturbed()

    def f(*xs):
        args = list(program.args)
        for i, x in zip(where, xs, strict=True):
            args[i] = x
        return program.function(np, *args)

    xs = tuple(program.args[i] for i in where)
    x_dots = tuple(tangents[i] for i in where)

    def first(*xs):
        return ad.jvp(f, xs, x_dots)

    (y, y_dot), (y_dot2, y_ddot) = ad.jvp(first, xs, x_dots)
    assert_same(y, f(*xs), program.ulps)
    if not is_inexact(y):
        assert np.result_type(y_ddot) == ad.float0
        return
    for t in (y_dot, y_dot2, y_ddot):
        assert_same_type(t, y)
    assert_close(y_dot, y_dot2)
    line = along(evaluated(program), program.args,
                 only(program, tangents, where))
    expected = second_derivative(line, program.step)
    assert_close(np.asarray(y_ddot, np.clongdouble), expected,
                 coarsest(program, y))


@pytest.mark.parametrize('order', [3, 4])
@each((program for program in SMOOTH if len(program.perturbed()) == 1),
      composed=True)
def test_deeper_jvp_keeps_types(program, order):
    """Whatever the depth, values and tangents have NumPy's dtypes."""
    (i,) = program.perturbed()
    x, x_dot = program.args[i], tangents_for(program)[i]

    def f(x):
        args = [*program.args[:i], x, *program.args[i + 1:]]
        return program.function(np, *args)

    expected = f(x)
    nested = f
    for _ in range(order):
        nested = partial(tangent_of, nested, x_dot)
    assert_same_type(nested(x), expected)


def tangent_of(f, x_dot, x):
    return ad.jvp(f, (x,), (x_dot,))[1]
