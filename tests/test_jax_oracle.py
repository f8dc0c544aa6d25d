"""Real JAX as a second opinion: the same programs, with its numpy.

Run it with `make test-jax`; without JAX it is skipped.
"""

from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from tests.numerical import TOLERANCES, widen
from tests.programs import PROGRAMS, is_inexact
from tests.test_programs import tangents_for

jax = pytest.importorskip(
    'jax', reason='JAX is not installed: `make test-jax` installs it')
jax.config.update('jax_enable_x64', True)

# What JAX cannot run, or does otherwise, is said in the table of programs.
ASKED = [program for program in PROGRAMS if not program.jax]
UNASKED = [program for program in PROGRAMS if program.jax]


def to_jax(x):
    """Returns `x` as an array of JAX's; Python numbers stay weak."""
    return x if isinstance(x, (bool, int, float, complex)) else \
        jax.numpy.asarray(x)


def tangent_to_jax(x, t):
    return to_jax(t) if is_inexact(x) else np.zeros(np.shape(x),
                                                    jax.dtypes.float0)


def compare(ours, theirs, program, slack=1):
    """Compares values; dtypes are NumPy's with us, and theirs with them."""
    theirs = np.asarray(theirs)
    assert np.shape(ours) == theirs.shape
    dtypes = [theirs.dtype, np.result_type(ours),
              *[np.result_type(x) for x in program.args]]
    tolerance = slack * max(TOLERANCES.get(dtype, 0) for dtype in dtypes)
    np.testing.assert_allclose(widen(ours), widen(theirs), tolerance,
                               tolerance)


@pytest.mark.parametrize('program', ASKED, ids=str)
@pytest.mark.filterwarnings('ignore:Explicitly requested dtype')
def test_jax_agrees(program):
    tangents = tangents_for(program)
    y, y_dot = ad.jvp(partial(program.function, np), program.args, tangents)
    their_y, their_y_dot = jax.jvp(
        partial(program.function, jax.numpy),
        tuple(map(to_jax, program.args)),
        tuple(map(tangent_to_jax, program.args, tangents)))
    compare(y, their_y, program)
    if is_inexact(y):
        compare(y_dot, their_y_dot, program)
    else:
        assert their_y_dot.dtype == jax.dtypes.float0


@pytest.mark.parametrize('program', ASKED, ids=str)
def test_jax_agrees_on_second_derivatives(program):
    where = program.perturbed()
    if not where or not is_inexact(program.function(np, *program.args)):
        return
    tangents = tangents_for(program)
    xs = tuple(program.args[i] for i in where)
    x_dots = tuple(tangents[i] for i in where)

    def second(np, jvp, xs, x_dots):
        def f(*xs):
            args = list(program.args)
            for i, x in zip(where, xs, strict=True):
                args[i] = x
            return program.function(np, *args)
        return jvp(lambda *xs: jvp(f, xs, x_dots)[1], xs, x_dots)[1]

    compare(second(np, ad.jvp, xs, x_dots),
            second(jax.numpy, jax.jvp, tuple(map(to_jax, xs)),
                   tuple(map(to_jax, x_dots))), program, slack=10)


def test_most_programs_are_asked():
    assert len(ASKED) > 5 * len(UNASKED)
    for program in UNASKED:
        assert len(program.jax) > 3


# The choices that DESIGN calls conventions.

def test_tie_of_maximum():
    for module, jvp in ((np, ad.jvp), (jax.numpy, jax.jvp)):
        _, y_dot = jvp(lambda x: module.maximum(x, 2.0), (2.0,), (1.0,))
        assert y_dot == 0.5


@pytest.mark.parametrize('y', [0, 1, 2, 1.0, 2.0])
def test_power_of_zero(y):
    """Of 0.0**0.0 JAX says NaN, and we say 0 (tests/test_jvp.py)."""
    ours = ad.jvp(lambda x: x ** y, (0.0,), (1.0,))[1]
    assert ours == jax.jvp(lambda x: x ** y, (0.0,), (1.0,))[1]


# Trees and errors

def test_jvp_of_trees_and_aux():
    def f(np, p):
        return {'s': np.sin(p['x']) * p['y'][0]}, p['x']

    p, p_dot = {'x': 0.5, 'y': [2.0]}, {'x': 1.0, 'y': [3.0]}
    ours = ad.jvp(partial(f, np), (p,), (p_dot,), has_aux=True)
    theirs = jax.jvp(partial(f, jax.numpy), (p,), (p_dot,), has_aux=True)
    assert ad.tree_structure(ours) == ad.tree_structure(theirs)
    np.testing.assert_allclose(ad.tree_leaves(ours), ad.tree_leaves(theirs),
                               rtol=1e-12)


@pytest.mark.parametrize('primals, tangents', [
    ((1.0,), (1.0, 2.0)), ((1.0,), (np.ones(2),)), ((1,), (1,)),
    ((1.0,), (1j,)), (([1.0],), ((1.0,),)), (1.0, 1.0), (('a',), ('a',)),
    ((np.ones(2),), (np.ones(2, np.float32),)),
])
def test_the_same_mistakes_are_errors_of_the_same_kind(primals, tangents):
    with pytest.raises((TypeError, ValueError)):
        jax.jvp(lambda *x: x, primals, tangents)
    with pytest.raises((TypeError, ValueError)):
        ad.jvp(lambda *x: x, primals, tangents)


@pytest.mark.parametrize('name', [
    'ConcretizationTypeError', 'TracerArrayConversionError',
    'TracerBoolConversionError', 'TracerIntegerConversionError',
    'UnexpectedTracerError'])
def test_errors_have_jax_s_names(name):
    assert hasattr(jax.errors, name) and hasattr(ad, name)


@pytest.mark.parametrize('misuse', [
    lambda np, x: np.zeros(3).__setitem__(0, x),
    lambda np, x: float(x), lambda np, x: [1, 2][x],
])
def test_misuse_raises_in_both(misuse):
    """Under jax.jit, where JAX's tracers have no values."""
    with pytest.raises(TypeError):
        jax.jit(partial(misuse, jax.numpy))(1.0)
    with pytest.raises((TypeError, ValueError)):
        ad.jvp(partial(misuse, np), (1.0,), (1.0,))
