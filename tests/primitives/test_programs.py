"""Guard every program of the table: NumPy's values, and the right tangents."""

from contextlib import contextmanager
from functools import partial

import numpy as np

import autodiff_mini as ad
from autodiff_mini.core.zeros import Zero
from autodiff_mini.interpreters import jvp
from tests.support.amount import each
from tests.support.numerical import (
    along, assert_close, assert_same, assert_same_type, derivative,
    second_derivative)
from tests.support.tangents import coarsest, tangents_for
from tests.tables.programs import PROGRAMS, is_inexact


def of_perturbed(program):
    """Return the program as a function of its differentiable arguments."""
    where = program.perturbed()

    def f(*xs):
        both = dict(zip(where, xs, strict=True))
        args = [both.get(i, x) for i, x in enumerate(program.args)]
        return program.function(np, *args)

    tangents = tangents_for(program)
    return (f, [program.args[i] for i in where], [tangents[i] for i in where])


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
    """Return `x` with the precision of NumPy's linear algebra."""
    narrow = {np.longdouble: np.float64, np.clongdouble: np.complex128}
    dtype = narrow.get(np.result_type(x).type)
    return x if dtype is None else np.asarray(x, dtype)[()]


def check_tangent(program, y, y_dot, directions, differences=derivative):
    """Assert that `y_dot` is the derivative of the program."""
    if not is_inexact(y):
        assert np.shape(y_dot) == np.shape(y)
        assert np.result_type(y_dot) == ad.float0
        return
    assert_same_type(y_dot, y)
    line = along(evaluated(program), program.args, directions)
    assert_close(np.asarray(y_dot, np.clongdouble),
                 differences(line, program.step), coarsest(program, y))


def checked(rule):
    """Return a forward rule that checks the type of its tangents.

    Its caller converts the dtype, which would hide a wrong one.
    """
    def run(*args, **params):
        y, y_dot = rule(*args, **params)
        many = isinstance(y, list)
        for x, t in zip(y if many else [y], y_dot if many else [y_dot]):
            if type(t) is not Zero and not (
                    ad.typeof(t).weak_type or ad.typeof(x).weak_type):
                assert_same_type(t, x)
        return y, y_dot
    return run


@contextmanager
def checked_rules():
    kept = dict(jvp.rules)
    jvp.rules.update({p: checked(rule) for p, rule in kept.items()})
    yield
    jvp.rules.update(kept)


def test_program_names_are_unique():
    names = [program.name for program in PROGRAMS]
    assert len(set(names)) == len(names) >= 80


@each(PROGRAMS)
def test_values_equal_numpys_and_tangents_the_derivative(program):
    f, tangents = partial(program.function, np), tangents_for(program)
    with checked_rules():
        y, y_dot = ad.jvp(f, program.args, tangents)
    assert_same(y, f(*program.args), program.ulps)
    check_tangent(program, y, y_dot,
                  only(program, tangents, program.perturbed()))


@each((program for program in PROGRAMS if len(program.perturbed()) > 1),
      composed=True)
def test_tangents_of_single_arguments_are_right(program):
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
    """Nested twice along one direction, jvp keeps the types."""
    f, xs, x_dots = of_perturbed(program)

    def push(f):
        return lambda *xs: ad.jvp(f, xs, x_dots)

    (y, y_dot), (y_dot2, y_ddot) = push(push(f))(*xs)
    assert_same(y, f(*xs), program.ulps)
    directions = only(program, tangents_for(program), program.perturbed())
    check_tangent(program, y, y_ddot, directions, second_derivative)
    if is_inexact(y):
        assert_same_type(y_dot, y)
        assert_close(y_dot, y_dot2)
        third = lambda *xs: push(push(f))(*xs)[1][1]
        assert_same_type(push(third)(*xs)[1], y)
        assert_same_type(push(push(third))(*xs)[1][1], y)
