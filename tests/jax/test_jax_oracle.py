"""Real JAX as a second opinion: the same programs, with its numpy.

`make test-jax` runs it, with all programs; without JAX it is skipped.  A
name with d14 cites a row of the page what_the_documents_ask.
"""

from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from tests.support.amount import each
from tests.support.numerical import TOLERANCES, widen
from tests.support.real_jax import jax
from tests.support.tangents import random_tangent, tangents_for
from tests.tables.custom_programs import CUSTOM_PROGRAMS
from tests.tables.programs import PROGRAMS, is_inexact

pytestmark = pytest.mark.rest

# The table of programs says what JAX cannot run, or where it differs.
ASKED = [program for program in PROGRAMS + CUSTOM_PROGRAMS
         if not program.jax]


def to_jax(x):
    """Return `x` as a JAX array; Python numbers stay weak."""
    return x if isinstance(x, (bool, int, float, complex)) else \
        jax.numpy.asarray(x)


def tangent_to_jax(x, t):
    return to_jax(t) if is_inexact(x) else np.zeros(np.shape(x),
                                                    jax.dtypes.float0)


def compare(ours, theirs, program, slack=1):
    """Compare values; our dtypes are NumPy's, and JAX has its own."""
    theirs = np.asarray(theirs)
    assert np.shape(ours) == theirs.shape
    dtypes = [theirs.dtype, np.result_type(ours),
              *[np.result_type(x) for x in program.args]]
    tolerance = slack * max(TOLERANCES.get(dtype, 0) for dtype in dtypes)
    np.testing.assert_allclose(widen(ours), widen(theirs), tolerance,
                               tolerance)


@each(ASKED)
@pytest.mark.filterwarnings('ignore:Explicitly requested dtype')
def test_jax_agrees_on_jvp(program):
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


def of_inexact(program, np):
    """Return the program as a function of its inexact arguments."""
    def f(*xs):
        args = list(program.args)
        for i, x in zip(program.perturbed(), xs, strict=True):
            args[i] = x
        return program.function(np, *args)
    return f


def second_derivative(program, system, np, convert):
    """Return the second derivative along the tangents of a program."""
    where, tangents = program.perturbed(), tangents_for(program)
    xs = tuple(convert(program.args[i]) for i in where)
    x_dots = tuple(convert(tangents[i]) for i in where)
    f = of_inexact(program, np)
    return system.jvp(
        lambda *xs: system.jvp(f, xs, x_dots)[1], xs, x_dots)[1]


ERFCX = 'special_erfcx', 'special_erfcx_far'


@each(program for program in ASKED
      if program.is_smooth and program.name not in ERFCX)
def test_jax_agrees_on_second_derivatives(program):
    compare(second_derivative(program, ad, np, lambda x: x),
            second_derivative(program, jax, jax.numpy, to_jax),
            program, slack=10)


# Reverse mode

with np.errstate(all='ignore'):
    SMOOTH = [program for program in ASKED if program.is_smooth]


@each(SMOOTH, composed=True)
def test_jax_agrees_on_vjp(program):
    xs = [program.args[i] for i in program.perturbed()]
    y, f_vjp = ad.vjp(of_inexact(program, np), *xs)
    their_y, their_vjp = jax.vjp(of_inexact(program, jax.numpy),
                                 *map(to_jax, xs))
    compare(y, their_y, program)
    ct = random_tangent(np.random.default_rng(1), y)
    theirs = their_vjp(jax.numpy.asarray(ct, np.asarray(their_y).dtype))
    for x_bar, their_bar in zip(f_vjp(ct), theirs, strict=True):
        compare(x_bar, their_bar, program, slack=10)


# Mistakes with rules: each takes a library, and runs it.

def by_jvp(rule):
    def run(system):
        f = system.custom_jvp(lambda x: x)
        f.defjvp(rule)
        return system.jvp(f, (np.ones(3),), (np.ones(3),))
    return run


def by_grad(bwd, fwd=lambda x: (x, None)):
    def run(system):
        f = system.custom_vjp(lambda x: x)
        f.defvjp(fwd, bwd)
        return system.grad(lambda x: f(x).sum())(np.ones(3))
    return run


BWD = 'Custom VJP bwd rule'
MISTAKES = [
    (by_jvp(lambda p, t: None), 'must produce a pair (list or tuple of length '
     'two) representing primal and tangent outputs'),
    (by_jvp(lambda p, t: (p[0], t)), 'must produce primal and tangent outputs '
     'with equal container (pytree) structures, but got '),
    (by_jvp(lambda p, t: (p[0], np.ones(2))), 'must produce primal and '
     'tangent outputs with corresponding shapes and dtypes'),
    (lambda system: system.custom_jvp(lambda x: x)(1.0),
     'No JVP defined for custom_jvp function '),
    (lambda system: system.custom_vjp(lambda x: x)(1.0),
     'No VJP defined for custom_vjp function '),
    (by_grad(lambda r, ct: (ct,), fwd=lambda x: x), 'must produce a pair '
     '(list or tuple of length two) where the first element represents the '
     'primal output'),
    (by_grad(lambda r, ct: ([ct],)), 'must produce an output with the same '
     'container (pytree) structure as the args tuple of the primal function'),
    (by_grad(lambda r, ct: (np.ones(2),)), BWD),
    (by_grad(lambda r, ct: (ct, ct)), BWD), (by_grad(lambda r, ct: ct), BWD),
    (lambda system: system.jvp(lying_square(system, np), (1.0,), (1.0,)),
     "can't apply forward-mode")]


def test_jax_reports_mistakes_of_rules_in_the_same_words():
    """The type of the error, and the first words of its message."""
    for run, words in MISTAKES:
        types = []
        for system in (jax, ad):
            with pytest.raises(Exception) as info:
                run(system)
            assert words in str(info.value)
            types.append(info.type)
        theirs, ours = types
        assert ours is theirs or issubclass(ours, ValueError)


def lying_square(system, np):
    f = system.custom_vjp(lambda x: x * x)
    f.defvjp(lambda x: (f(x), x), lambda x, ct: (3 * x * ct,))
    return f


# The choices that DESIGN calls conventions.

def test_both_give_half_at_a_tie_of_maximum():
    for module, jvp in ((np, ad.jvp), (jax.numpy, jax.jvp)):
        _, y_dot = jvp(lambda x: module.maximum(x, 2.0), (2.0,), (1.0,))
        assert y_dot == 0.5


def test_errors_have_jaxs_names():
    for name in ('ConcretizationTypeError', 'TracerArrayConversionError',
                 'TracerBoolConversionError', 'TracerIntegerConversionError',
                 'UnexpectedTracerError'):
        assert hasattr(jax.errors, name) and hasattr(ad, name), name


def control(system):
    """Return the module that has the library's control flow."""
    return system.lax if system is jax else system


@pytest.mark.asks('D14')
def test_jax_loses_small_numbers():
    """The figures of chapter 26."""
    x = np.array([0.0, -50.0])
    assert jax.grad(jax.scipy.special.expit)(40.0) == 0.0
    assert jax.scipy.special.logsumexp(x) == 0.0
    np.testing.assert_allclose(ad.grad(ad.expit)(40.0), np.exp(-40.0), 1e-15)
    np.testing.assert_allclose(ad.logsumexp(x), np.exp(-50.0), 1e-15)


# JAX has no reverse mode through the function without its axis.
RULED = [
    lambda system, f: system.vmap(f),
    lambda system, f: system.vmap(lambda x: system.jvp(f, (x,), (x,))[1]),
    lambda system, f: lambda x: system.jvp(system.vmap(f), (x,), (x,))[1],
    lambda system, f: system.jit(system.vmap(system.jit(f))),
    lambda system, f: system.vmap(system.checkpoint(f)),
    lambda system, f: system.vmap(lambda x: control(system).scan(
        lambda c, _: (f(c), None), x, None, length=2)[0]),
    lambda system, f: lambda x: system.vmap(
        lambda t: system.jvp(f, (x[0],), (t,))[1])(x),
    lambda system, f: lambda x: system.jacfwd(f)(x[0]),
    lambda system, f: system.grad(lambda x: system.vmap(f)(x).sum())]


@pytest.mark.parametrize('way', RULED)
def test_jax_agrees_on_a_rule_for_batches(way):
    def run(system, custom_vmap):
        f = custom_vmap(lambda x: x * x)
        f.def_vmap(lambda axis_size, in_batched, x: (3 * x * x,
                                                     in_batched[0]))
        return way(system, f)
    x = np.arange(1., 10).reshape(3, 3) / 5
    theirs = run(jax, jax.custom_batching.custom_vmap)
    np.testing.assert_allclose(run(ad, ad.custom_vmap)(x),
                               theirs(jax.numpy.asarray(x)), 1e-12)
