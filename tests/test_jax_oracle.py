"""Real JAX as a second opinion: the same programs, with its numpy.

Run it with `make test-jax`; without JAX it is skipped.
"""

from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from tests.numerical import TOLERANCES, widen
from tests.custom_programs import CUSTOM_PROGRAMS
from tests.programs import PROGRAMS, is_inexact
from tests.test_programs import tangents_for
from tests.test_vmap import batched, layouts

jax = pytest.importorskip(
    'jax', reason='JAX is not installed: `make test-jax` installs it')
jax.config.update('jax_enable_x64', True)

# What JAX cannot run, or does otherwise, is said in the table of programs.
ASKED = [program for program in PROGRAMS + CUSTOM_PROGRAMS
         if not program.jax]
UNASKED = [program for program in PROGRAMS + CUSTOM_PROGRAMS if program.jax]


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


@pytest.mark.parametrize('program', ASKED, ids=str)
@pytest.mark.filterwarnings('ignore:Explicitly requested dtype')
def test_jax_agrees_on_vmap(program):
    """All arguments together, over the last axis; custom ones in all."""
    places = [[-1] * len(program.args)]
    if program in CUSTOM_PROGRAMS:
        places = list(layouts(program))
    for axes in map(tuple, places):
        args = batched(program, axes)
        with np.errstate(all='ignore'):
            ours = ad.vmap(partial(program.function, np), axes)(*args)
        theirs = jax.vmap(partial(program.function, jax.numpy), axes)(
            *map(to_jax, args))
        compare(ours, theirs, program)


@pytest.mark.parametrize('program', [
    program for program in CUSTOM_PROGRAMS if not program.jax], ids=str)
@pytest.mark.parametrize('order', ['jvp_of_vmap', 'vmap_of_jvp'])
def test_jax_agrees_on_custom_rules_under_vmap(program, order):
    """Once more differentiated, in both."""
    where, axes = program.perturbed(), [0] * len(program.args)
    xs = batched(program, axes)

    def transformed(np, system, xs):
        def f(*some):
            args = list(program.args)
            for i, x in zip(where, some, strict=True):
                args[i] = x
            return program.function(np, *args)

        def d(f):
            return lambda *xs: system.jvp(
                f, xs, tuple(x * 0.5 + 1 for x in xs))[1]

        f = d(system.vmap(f)) if order == 'jvp_of_vmap' else \
            system.vmap(d(f))
        return d(f)(*[xs[i] for i in where])

    compare(transformed(np, ad, xs),
            transformed(jax.numpy, jax, list(map(to_jax, xs))), program,
            slack=10)


VMAP_MISTAKES = [
    (2, (np.ones(3),)), (-3, (np.ones(3),)),
    ((0, 0), (np.ones(3),)), ((0,), (np.ones(3), np.ones(3))),
    (0, (np.ones(3), np.ones(2))), (None, (np.ones(3),)),
    (({'a': 0},), ({'b': np.ones(3)},)), (0, (1.0,)), (0, ('a',)),
    ((0, None), (np.ones(3), 'a')), ('a', (np.ones(3),)),
]


@pytest.mark.parametrize('in_axes, args', VMAP_MISTAKES)
def test_mistakes_of_vmap_are_errors_of_the_same_kind(in_axes, args):
    with pytest.raises((TypeError, ValueError)) as theirs:
        jax.vmap(lambda *x: x, in_axes)(*args)
    with pytest.raises((TypeError, ValueError)) as ours:
        ad.vmap(lambda *x: x, in_axes)(*args)
    assert isinstance(ours.value, theirs.type)


RULES = {
    'none': lambda p, t: None, 'triple': lambda p, t: (p[0], t[0], t[0]),
    'tree': lambda p, t: (p[0], t), 'shape': lambda p, t: (p[0], np.ones(2)),
    'dtype': lambda p, t: (p[0], t[0].astype(np.float32)),
    'no_rule': None,
}


@pytest.mark.parametrize('name', RULES)
def test_mistakes_of_rules_are_said_in_the_same_words(name):
    """The type of the error, and the first words of its message."""
    messages = []
    for system in (jax, ad):
        def loss(x):
            return x

        f = system.custom_jvp(loss)
        if RULES[name]:
            rule = RULES[name]
            f.defjvp(lambda p, t: rule(p, t))
        with pytest.raises(Exception) as info:
            x = np.ones(3)
            system.jvp(f, (x,), (x,))
        messages.append((info.type, str(info.value)))
    (theirs, their_words), (ours, our_words) = messages
    assert ours is theirs or issubclass(ours, ValueError)
    same = COMMON[name]
    assert same in their_words and same in our_words


COMMON = {
    'none': 'must produce a pair (list or tuple of length two) '
            'representing primal and tangent outputs',
    'triple': 'must produce a pair (list or tuple of length two) '
              'representing primal and tangent outputs',
    'tree': 'must produce primal and tangent outputs with equal container '
            '(pytree) structures, but got ',
    'shape': 'must produce primal and tangent outputs with corresponding '
             'shapes and dtypes',
    'dtype': 'must produce primal and tangent outputs with corresponding '
             'shapes and dtypes',
    'no_rule': 'No JVP defined for custom_jvp function ',
}


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
