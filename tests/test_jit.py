"""jit: the same function, written down once.

Whatever jit does, the results are those without it; and what is traced is
traced once.
"""

import asyncio
import functools
import gc
import inspect
import itertools
import operator
import sys
import warnings
import weakref
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core import Trace, current_trace, typeof
from autodiff_mini.higher_order.call import call
from autodiff_mini.higher_order.jit import compiled, jit_p
from autodiff_mini.interpreters.lowering import Lowered
from tests.amount import each, rest
from tests.custom_programs import CUSTOM_PROGRAMS
from tests.jaxpr_checks import check_jaxpr
from tests.numerical import assert_close, assert_same, assert_same_type
from tests.programs import PROGRAMS, is_inexact
from tests.test_abstract import NOT_STAGED
from tests.test_custom_jvp import (
    CLOSED_OVER,
    DETECTED,
    assert_trees,
    branching,
    branching_rule,
    custom,
    d,
    power,
    sine,
    square,
)
from tests.test_dask import X as ROWS
from tests.test_dask import W, Y, activations, both_ways, check_lazy, loss
from tests.test_deep import run as run_alone
from tests.test_programs import coarsest, random_tangent, tangents_for
from tests.test_staged_calls import expit, nested, point
from tests.test_transpose import inexact_only
from tests.test_vmap import UNMAPPED, batched
from tests.traces import spied
from tests.wings import needs

C, X = np.arange(3.0), np.linspace(0.2, 1.5, 4)
KEPT = np.arange(4.0)
EVERY = [program for program in PROGRAMS + CUSTOM_PROGRAMS
         if program.name not in NOT_STAGED]



def counted(f, **options):
    """Returns `f` under jit, and a list that grows when it is traced."""
    runs = []

    @functools.wraps(f)
    def noisy(*args, **kwargs):
        runs.append(1)
        return f(*args, **kwargs)
    return ad.jit(noisy, **options), runs


# Every program

@each(EVERY)
def test_jit_computes_what_numpy_computes(program):
    f, args = partial(program.function, np), program.args
    copies = [x.copy() if isinstance(x, np.ndarray) else x for x in args]
    with np.errstate(all='ignore'):
        g, expected = ad.jit(f), f(*args)
        for _ in range(2):
            assert_same(g(*args), expected, program.ulps)
    for x, copy in zip(args, copies):
        np.testing.assert_array_equal(x, copy)


@each(EVERY, composed=True)
@pytest.mark.filterwarnings('ignore::RuntimeWarning')  # of NaN
def test_forward_mode_and_jit_in_every_order(program):
    f, args = partial(program.function, np), program.args
    tangents = tangents_for(program)
    y, y_dot = ad.jvp(f, args, tangents)
    push = lambda f: lambda *args: ad.jvp(f, args, tangents)
    integers = not is_inexact(y)
    for g in (
            push(ad.jit(f)),                    # jvp of jit
            ad.jit(push(f)),                    # jit of jvp
            ad.jit(push(ad.jit(f))),            # jit of jvp of jit
            push(ad.jit(ad.jit(f))),            # jvp of jit of jit
            lambda *args: (y, ad.linearize(ad.jit(f), *args)[1](*tangents)),
            ad.jit(lambda *args: (
                f(*args), ad.linearize(f, *args)[1](*tangents)))):
        z, z_dot = g(*args)
        assert_same(z, y, program.ulps)
        assert_same_type(z_dot, y_dot)
        if not integers:
            assert_close(z_dot, y_dot, coarsest(program, y))


@each((program for program in EVERY if program.is_smooth),
      composed=True)
@pytest.mark.filterwarnings('ignore::RuntimeWarning')  # of NaN
def test_reverse_mode_and_jit_in_every_order(program):
    f, xs = inexact_only(program)
    y = f(*xs)
    ct = random_tangent(np.random.default_rng(1), y)
    pull = lambda f: lambda *xs: ad.vjp(f, *xs)[1](ct)
    gradient = lambda f: ad.grad(lambda *xs: np.real(np.sum(f(*xs) * ct)),
                                 tuple(range(len(xs))))
    expected = pull(f)(*xs)
    for g in (
            pull(ad.jit(f)),                    # vjp of jit
            ad.jit(pull(f)),                    # jit of vjp
            ad.jit(pull(ad.jit(f))),            # jit of vjp of jit
            gradient(ad.jit(f)),                # grad of jit
            ad.jit(gradient(f))):               # jit of grad
        for x, a, b in zip(xs, g(*xs), expected, strict=True):
            assert_same_type(a, x)
            assert_close(a, b, coarsest(program, y))


@each((program for program in EVERY if program.name not in UNMAPPED),
      composed=True)
def test_vmap_and_jit_in_every_order(program):
    f = partial(program.function, np)
    axes = (0,) * len(program.args)
    for axes in dict.fromkeys([axes, (-1, *(None,) * (len(axes) - 1))]):
        args = batched(program, axes)
        with np.errstate(all='ignore'):
            ys = ad.vmap(f, axes)(*args)
            for g in (
                    ad.vmap(ad.jit(f), axes),           # vmap of jit
                    ad.jit(ad.vmap(f, axes)),           # jit of vmap
                    ad.jit(ad.vmap(ad.jit(f), axes))):  # jit of vmap of jit
                zs = g(*args)
                assert_same_type(zs, ys)
                assert_close(zs, ys)


@pytest.mark.parametrize('name', NOT_STAGED)
def test_d3_what_depends_on_values_is_refused_and_not_guessed(name):
    (program,) = [p for p in PROGRAMS if p.name == name]
    with pytest.raises(NOT_STAGED[name][0], match=r'np\.(where|max)'):
        ad.jit(partial(program.function, np))(*program.args)
    assert current_trace() is Trace.base


# D1, D6: the rule survives

NESTINGS = ['i', 'ii', 'ij', 'ji', 'ig', 'gi', 'il', 'li', 'iv', 'vi', 'iji',
            'igi', 'ivi', 'gij', 'jig', 'ijij', 'igig', 'jiji', 'gigi',
            'vigi', 'givi', 'ivgi', 'igvi', 'vivi', 'jivi', 'ijvi', 'ligi',
            'gili', 'iiii', 'gigigi', 'ijijij', 'givij', 'viji', 'igvivi']


@pytest.mark.parametrize('names', NESTINGS)
def test_d1_d6_d9_every_nesting_keeps_the_rule(names):
    """The n-th derivative of `power` is 2^n times itself."""
    x, order = point(names), sum(map(names.count, 'jgl'))
    assert_close(nested(power, names)(x), 2 ** order * np.exp(x))
    truth = [np.sin, np.cos, lambda x: -np.sin(x),
             lambda x: -np.cos(x)][order](x)
    assert_close(nested(sine, names)(x), truth * (10 if order else 1))
    f = lambda x: np.sin(square(x)) * x + square(np.cos(x))
    assert_close(nested(f, names)(x), nested(f, names.replace('i', ''))(x))


def test_d1_the_puzzle_under_jit_keeps_the_rule():
    ones, j = np.ones(4), ad.jit
    for f in (square, j(square), j(j(square))):
        assert ad.grad(f)(1.0) == j(ad.grad(f))(1.0) == 3.0
        for g in (ad.vmap(ad.grad(f)), j(ad.vmap(ad.grad(f))),
                  ad.vmap(j(ad.grad(f))), ad.grad(lambda x: np.sum(
                      ad.vmap(f)(x))), j(ad.grad(lambda x: np.sum(
                          j(ad.vmap(f))(x))))):
            assert_same(g(ones), np.full(4, 3.0))


@pytest.mark.parametrize('names', ['i', 'gi', 'ig', 'gig', 'igi', 'vgi'])
def test_d6_the_rule_is_what_makes_it_stable(names):
    x = np.full([2] * names.count('v'), -800.0)[()]
    with np.errstate(over='ignore'):
        assert_same(nested(expit, names)(x), 0 * x)


def test_hard_case_4_a_rule_that_calls_its_own_function():
    f = ad.custom_jvp(lambda x: np.sin(x))
    f.defjvp(lambda p, t: (f(*p), 10 * np.cos(p[0]) * t[0]))
    assert_close(ad.jit(ad.grad(ad.jit(ad.grad(ad.jit(f)))))(1.),
                 -8.414709848078965)
    assert_close(ad.grad(ad.grad(ad.jit(f)))(1.), -8.414709848078965)


def closes_over_its_argument(x):
    k = ad.custom_vjp(lambda y: x * y)
    k.defvjp(lambda y: (k(y), None), lambda r, c: (c,))
    return k(1.)


@pytest.mark.parametrize('transform', [
    ad.grad, lambda q: ad.grad(ad.jit(q)), lambda q: ad.jit(ad.grad(q)),
    lambda q: ad.jit(ad.grad(ad.jit(q)))])
def test_hard_case_5_a_derivative_is_never_dropped(transform):
    with pytest.raises(TypeError, match=(
            'Detected differentiation of a custom_vjp function with respect '
            'to a closed-over value: closes_over_its_argument.*Pass')):
        transform(closes_over_its_argument)(3.)
    assert current_trace() is Trace.base
    assert ad.jit(closes_over_its_argument)(3.) == 3.


def test_hard_case_9_an_integer_and_a_cotangent_none():
    f = ad.custom_vjp(lambda x, n: x ** n)
    f.defvjp(lambda x, n: (x ** n, (x, n)),
             lambda r, c: (c * r[1] * r[0] ** (r[1] - 1), None))
    for g in (ad.grad(f), ad.jit(ad.grad(f)), ad.grad(ad.jit(f)),
              ad.jit(ad.grad(ad.jit(f))), ad.jit(ad.grad(f), 1),
              ad.grad(ad.jit(f, static_argnums=1))):
        assert_same(g(3., 2), 6.0)


def test_other_hard_cases_under_jit():
    def h(z):       # 2: the rule closes over a vmap tracer
        def inner(x):
            k = custom(lambda y: x * y, lambda p, t: (
                x * p[0], 5 * x * t[0]))
            return k(z)
        return ad.vmap(inner)(np.arange(3.))

    expected = np.array([0., 1., 2.]), np.array([0., 10., 20.])
    assert_trees(ad.jit(lambda z: ad.jvp(h, (z,), (2.,)))(1.), expected)
    assert_trees(ad.jvp(ad.jit(h), (1.,), (2.,)), expected)
    v = ad.custom_vjp(lambda x, w: x * w)      # 3: the sum over the batch
    v.defvjp(lambda x, w: (x * w, (x, w)),
             lambda r, c: (c * r[1], 2 * c * r[0]))
    f = lambda w: ad.vmap(v, (0, None))(np.arange(4.), w).sum()
    assert ad.jit(ad.grad(f))(3.) == ad.grad(ad.jit(f))(3.) == 12.0
    r = ad.custom_jvp(lambda x, y: x * y)      # 10: nested perturbations
    r.defjvps(lambda t, o, x, y: t * ad.grad(lambda z: z * y)(x),
              lambda t, o, x, y: t * x)
    inner = lambda x: x * ad.grad(ad.jit(lambda y: r(x, y)))(2.)
    assert ad.jit(ad.grad(inner))(3.) == ad.grad(ad.jit(inner))(3.) == 6.0


def test_symbolic_zeros_are_told_through_jit():
    seen = []
    f = ad.custom_vjp(lambda x, y: (x * y, x + 1.))

    def fwd(x, y):
        seen.append((x.perturbed, y.perturbed))
        return (x.value * y.value, x.value + 1.), y.value

    def bwd(r, ct):
        seen.append(type(ct[0]) is ad.SymbolicZero)
        return (ct[1] if seen[-1] else ct[0] * r), None

    f.defvjp(fwd, bwd, symbolic_zeros=True)
    g = lambda x: f(x, 2.)[1]
    assert ad.grad(g)(3.) == 1.0 and seen == [(True, False), True]
    assert ad.jit(ad.grad(g))(3.) == 1.0
    assert seen[2:] == [(True, False), True]
    assert ad.grad(ad.jit(g))(3.) == 1.0
    assert seen[4] == (True, False)


def test_forward_mode_over_a_way_back_is_refused_under_jit_too():
    f = ad.custom_vjp(lambda x: x * x)
    f.defvjp(lambda x: (f(x), x), lambda x, ct: (3 * x * ct,))
    for g in (ad.jit(d(f)), d(ad.jit(f)), ad.jit(d(ad.jit(f)))):
        with pytest.raises(TypeError, match="can't apply forward-mode"):
            g(1.0)
    assert ad.jit(ad.grad(f))(1.0) == ad.grad(ad.jit(f))(1.0) == 3.0
    f.defjvps(lambda t, y, x: 5 * x * t)        # B1
    for g in (ad.jit(d(f)), d(ad.jit(f))):
        assert g(1.0) == 5.0
    assert ad.jit(ad.grad(f))(1.0) == ad.grad(ad.jit(f))(1.0) == 3.0


# D3: Python branches

def test_d3_a_branch_on_a_traced_value_is_refused_by_name():
    def clipped(x):
        if x > 0:
            return x
        return -x

    line = clipped.__code__.co_firstlineno + 1
    for f in (ad.jit(clipped), ad.grad(ad.jit(clipped)),
              ad.jit(ad.grad(clipped)), ad.jit(custom(clipped, branching))):
        with pytest.raises(ad.TracerBoolConversionError, match=(
                'Attempted boolean conversion.*np.where')) as info:
            f(1.0)
        assert f'{__file__}:{line} in ' in str(info.value)
        assert current_trace() is Trace.base
    with pytest.raises(ad.TracerBoolConversionError,
                       match='in jit of .*clipped'):
        ad.jit(clipped)(1.0)
    f, runs = counted(clipped, static_argnums=0)    # its value is known
    assert f(1.0) == f(-1.0) == 1.0 and len(runs) == 2


def test_d3_a_branch_in_a_rule_needs_values():
    f = custom(branching, branching_rule)
    with pytest.raises(ad.TracerBoolConversionError):
        ad.jit(ad.grad(f))(2.0)
    with pytest.raises(ad.TracerBoolConversionError):
        ad.grad(ad.jit(f))(2.0)


@pytest.mark.parametrize('misuse, error', [
    (float, ad.ConcretizationTypeError), (int, ad.ConcretizationTypeError),
    (lambda x: [1, 2][x], ad.TracerIntegerConversionError),
    (lambda x: range(x), ad.TracerIntegerConversionError),
    (np.array, ad.TracerArrayConversionError)])
def test_what_asks_for_a_number_is_refused(misuse, error):
    with pytest.raises(error, match='jit of'):
        ad.jit(misuse)(1)


# D17, B2: closures and nondiff arguments

@pytest.mark.parametrize('name', CLOSED_OVER)
def test_d17_custom_functions_close_over_tracers_of_jit(name):
    make = CLOSED_OVER[name]
    f = lambda x: make(x)(2.0)
    assert_same(ad.jit(f)(3.0), f(3.0))
    assert_same(ad.vmap(ad.jit(f))(X), ad.vmap(f)(X))
    assert_same(ad.jit(ad.vmap(f))(X), ad.vmap(f)(X))
    for names in ('gi', 'ig', 'ji', 'ij', 'igi'):
        with pytest.raises(TypeError, match=DETECTED):
            nested(f, names)(3.0)
    g = lambda x: ad.jit(make(ad.stop_gradient(x)))(x)
    assert_same(ad.grad(g)(3.0), ad.grad(lambda x: make(
        ad.stop_gradient(x))(x))(3.0))


def test_closures_over_tracers_are_differentiated():
    f = lambda x: ad.jit(lambda y: np.sin(x) * y)(x * 2)
    slope = lambda x: 2 * x * np.cos(x) + 2 * np.sin(x)
    for g in (ad.grad(f), d(f), ad.jit(ad.grad(f)), ad.grad(ad.jit(f)),
              lambda x: ad.linearize(f, x)[1](1.0)):
        assert_close(g(0.5), slope(0.5))
    assert_close(ad.vmap(f)(X), np.sin(X) * X * 2)
    assert_close(ad.vmap(ad.grad(f))(X), slope(X))
    assert_close(ad.grad(ad.grad(f))(0.5), 4 * np.cos(.5) - np.sin(.5))


def test_a_program_over_a_tracer_is_not_kept():
    """What it closes over is another one at each call."""
    cell = {}
    g, runs = counted(lambda y: y * cell['x'])

    def h(x):
        cell['x'] = x
        return g(3.0)

    for x in (2.0, 5.0):
        assert ad.grad(lambda x: h(x) * x)(x) == 6 * x
        assert d(h)(x) == 3.0
        assert_same(ad.vmap(h)(X * x), X * x * 3)
        assert_same(ad.jit(h)(x), 3 * x)
    assert len(runs) == 8
    cell['x'] = 7.0
    assert g(3.0) == g(3.0) == 21.0 and len(runs) == 9


def test_b2_nondiff_arguments_may_hold_what_jit_traces():
    f = custom(lambda n, x: n * x,
               lambda n, p, t: (n * p[0], 3 * n * t[0]), 0)
    assert ad.jit(f)(5.0, 2.0) == 10.0
    assert ad.jit(ad.grad(f, 1))(5.0, 2.0) == 15.0
    assert ad.grad(ad.jit(f), 1)(5.0, 2.0) == 15.0
    v = ad.custom_vjp(lambda n, x: n * x, nondiff_argnums=0)
    v.defvjp(lambda n, x: (n * x, None), lambda n, r, ct: (3 * n * ct,))
    for k in (f, v):
        assert_same(ad.jit(ad.vmap(lambda n: ad.grad(k, 1)(n, 2.0)))(X),
                    3 * X)
        assert_same(ad.vmap(ad.jit(lambda n: ad.grad(k, 1)(n, 2.0)))(X),
                    3 * X)
        for g in (ad.grad(ad.jit(k)), ad.jit(ad.grad(k))):
            with pytest.raises(TypeError, match='nondiff_argnums|closed'):
                g(5.0, 2.0)


LIFTED = {
    'asarray': lambda x: ad.asarray(KEPT[:3]), 'ones_like': np.ones_like,
    'full_like': lambda x: np.full_like(x, 2.0),
    'zeros_like': lambda x: np.zeros_like(x) + 2.0,
}


@pytest.mark.parametrize('name', LIFTED)
@pytest.mark.parametrize('names', ['gi', 'igi', 'iji', 'ijiji', 'vgi', 'ivgi',
                                   'vigi', 'jvi', 'ili', 'ivi'])
def test_rules_that_lift_constants_are_programs(name, names):
    """A constant in a program is its own, whatever is around it."""
    lifted = LIFTED[name]
    f = custom(lambda x: np.sin(x) + lifted(x), lambda p, t: (
        f(*p), lifted(p[0]) * t[0] * np.cos(p[0])))
    x = np.stack([C, C + 1]) if 'v' in names else C
    assert_close(nested(f, names)(x), nested(f, names.replace('i', ''))(x))


def test_a_constant_that_is_lifted_is_no_closure():
    inner, runs = counted(lambda x: ad.asarray(KEPT[:3]) * x)
    outer = ad.jit(lambda x: inner(inner(x) + inner(x)))
    assert_same(outer(C), 2 * C ** 3)
    ad.vmap(inner)(np.stack([C, C])), ad.grad(lambda x: inner(x)[1])(C)
    ad.jit(ad.vmap(inner))(np.stack([C, C]))
    assert len(runs) == 1
    product = ad.jit(np.cumprod)
    assert_close(ad.jit(d(product))(C + 1), d(np.cumprod)(C + 1))
    for f in (ad.vmap(d(product)), ad.jit(ad.vmap(d(product)))):
        assert_close(f(np.stack([C, C + 1]))[1], d(np.cumprod)(C + 1))


def test_arrays_that_it_closes_over_are_snapshots():
    c, number = C.copy(), [2.0]
    f = ad.jit(lambda x: x * c + number[0])
    assert_same(f(C), C * C + 2.0)
    c[:] = 99.0
    number[0] = 99.0
    assert_same(f(C), C * C + 2.0)
    assert_same(ad.grad(lambda x: np.sum(f(x)))(C), C)
    assert_same(ad.vmap(f)(np.stack([C, C]))[1], C * C + 2.0)
    assert_same(f(C[:1]), C[:1] * c + 99.0)     # another program


# Caching

Pair = namedtuple('Pair', 'x y')
PROGRAM_OF_ITS_OWN = {
    'array': (C,), 'single': (C.astype('f4'),), 'ints': (np.arange(3),),
    'shape': (C[:2],), 'matrix': (C[None],), 'scalar': (np.float64(1),),
    'float': (1.0,), 'int': (1,), 'bool': (True,), 'complex': (1j,),
    'list': ([C],), 'tuple': ((C,),), 'pair': (Pair(C, C),),
    'two': ((C, C),), 'dict': ({'x': C},), 'key': ({'y': C},),
    'none': ((C, None),), 'nothing': ((),), 'args': (C, C),
    'big_endian': (C.astype('>f8'),),
}


def test_each_type_and_each_tree_is_traced_once():
    f, runs = counted(lambda *args: args)
    for _ in range(3):
        for args in PROGRAM_OF_ITS_OWN.values():
            assert ad.tree_structure(f(*args)) == ad.tree_structure(args)
    assert len(runs) == len(PROGRAM_OF_ITS_OWN)


def test_other_values_are_not_traced_again():
    f, runs = counted(lambda x, y=1.0: x * y)
    for x in (C, C + 1, C[::-1], np.arange(6.0)[::2], C.copy(), C * np.nan):
        assert_same(f(x), x * 1.0)
    assert len(runs) == 1
    assert f(2.0) == 2.0 and f(3.0) == 3.0 and f(float('nan')) != 0
    assert len(runs) == 2
    assert f(np.array(2.0)) == f(np.float64(2.0)) == 2.0
    assert len(runs) == 3


def test_keywords_are_another_program_than_positions():
    f, runs = counted(lambda x, y: x - y)
    assert f(1.0, 2.0) == f(x=1.0, y=2.0) == f(1.0, y=2.0) == -1.0
    assert f(y=2.0, x=1.0) == f(x=3.0, y=4.0) == -1.0
    assert len(runs) == 3


def test_transformations_use_the_program_that_is_there():
    f, runs = counted(lambda x: np.sin(x) * x)
    for _ in range(2):
        f(0.5), ad.grad(f)(0.5), d(f)(0.5), ad.linearize(f, 0.5)
        ad.jit(f)(0.5), ad.make_jaxpr(f)(0.5)
        assert len(runs) == 1
    ad.vmap(f)(X)           # an element is no Python number
    ad.vmap(f)(X), ad.grad(ad.grad(f))(0.5), f(np.float64(1))
    assert len(runs) == 2


def test_a_rule_is_asked_once_for_a_program():
    runs = []
    f = custom(np.sin, lambda p, t: runs.append(1) or (f(*p), 3 * t[0]))
    g = ad.grad(ad.jit(f))
    assert g(0.5) == g(1.5) == g(0.5) == 3.0 and runs == [1]
    h = ad.jit(ad.grad(f))
    assert h(0.5) == h(1.5) == 3.0 and runs == [1, 1]


def test_what_failed_is_traced_again():
    tries = []

    def f(x):
        tries.append(1)
        if len(tries) == 1:
            raise KeyError
        return x * 2

    g = ad.jit(f)
    with pytest.raises(KeyError):
        g(1.0)
    assert current_trace() is Trace.base
    assert g(1.0) == g(2.0) - 2.0 == 2.0 and len(tries) == 2


def test_side_effects_are_for_tracing_only():
    seen = []
    f = ad.jit(lambda x: seen.append(str(x.aval)) or np.sin(x))
    for _ in range(3):
        f(C), ad.vmap(f)(np.stack([C, C])), ad.grad(lambda x: f(x)[0])(C)
    assert seen == ['float64[3]']


# Static arguments

def powers(x, n, m=1, *, scale=2.0):
    return x ** n * m * scale


STATIC = {
    'position': dict(static_argnums=1), 'tuple': dict(static_argnums=(1,)),
    'list': dict(static_argnums=[1]), 'negative': dict(static_argnums=-3),
    'name': dict(static_argnames='n'), 'names': dict(static_argnames=('n',)),
    'both': dict(static_argnums=1, static_argnames='n'),
}


@pytest.mark.parametrize('name', STATIC)
def test_static_arguments_by_position_and_by_name(name):
    seen = []

    def f(x, n, m=1, *, scale=2.0):
        seen.append(n)
        return powers(x, n, m, scale=scale)

    g = ad.jit(f, **STATIC[name])
    for _ in range(2):
        assert g(3.0, 2) == g(3.0, n=2) == g(x=3.0, n=2) == 18.0
        assert g(3.0, 3) == 54.0
        assert g(3.0, 2, 4.0) == g(3.0, 2, m=4.0) == 72.0
        assert g(3.0, 2, scale=1.0) == g(3.0, n=2, scale=1.0) == 9.0
    assert set(seen) == {2, 3} and {type(n) for n in seen} == {int}
    assert len(seen) == 8


def test_static_arguments_are_given_in_any_form():
    seen = []
    f = lambda x, n, m=1, *, mode: seen.append((n, m, mode)) or x * n * m
    g = ad.jit(f, static_argnums=(1, 2), static_argnames='mode')
    assert g(3.0, 2, 4, mode='a') == g(3.0, n=2, m=4, mode='a') == 24.0
    assert g(3.0, 2, m=4, mode='a') == 24.0
    assert g(3.0, 2, mode=None) == 6.0
    assert seen == [(2, 4, 'a')] * 3 + [(2, 1, None)]


def test_equal_static_values_that_do_not_compute_the_same():
    f, runs = counted(lambda x, n: x * n, static_argnums=1)
    for n in (1, 1.0, True, np.float32(1), np.int8(1), 0.0, -0.0, 1 + 0j):
        for _ in range(2):
            assert_same(f(np.int16(3), n), np.int16(3) * n)
            assert np.signbit(f(1, n).real) == np.signbit((1 * n).real)
    assert len(runs) == 2 * 8


def test_equal_static_values_inside_a_tuple():
    f, runs = counted(lambda x, n: x * n[0][0], static_argnums=1)
    for n in (1, 1.0, True):
        assert_same(f(np.int16(3), ((n,),)), np.int16(3) * n)
    assert f(1, ((-0.0,),)) == 0 and np.signbit(f(1, ((-0.0,),)))


def test_static_values_are_compared_by_their_own_eq_and_hash():
    class Size:
        def __init__(self, n):
            self.n = n

        def __hash__(self):
            return hash(self.n)

        def __eq__(self, other):
            return self.n == other.n

    f, runs = counted(lambda x, size: np.broadcast_to(x, size.n),
                      static_argnames='size')
    assert f(1.0, Size(3)).shape == f(2.0, Size(3)).shape == (3,)
    assert f(1.0, size=Size(2)).shape == (2,)
    assert len(runs) == 2


@pytest.mark.parametrize('value', ['text', None, np.sin, (1, 'a'), C.dtype,
                                   frozenset([1]), float('nan')])
def test_static_values_may_be_anything_with_a_hash(value):
    seen = []
    f = ad.jit(lambda x, s: seen.append(s) or x * 2, static_argnums=1)
    assert f(1.0, value) == f(2.0, value) - 2.0 == 2.0
    assert seen == [value] or seen[0] is value and len(seen) == 1


@pytest.mark.parametrize('value', [[1], {}, C, set()])
def test_a_static_argument_without_a_hash_is_a_value_error(value):
    """It names the function, and the argument."""
    def stretch(x, sizes):
        return x

    kind = type(value).__name__
    for f, call_it, name in (
            (ad.jit(stretch, 1), lambda f: f(1.0, value), 1),
            (ad.jit(stretch, 1), lambda f: f(1.0, sizes=value), 'sizes'),
            (ad.jit(stretch, static_argnames='sizes'),
             lambda f: f(1.0, sizes=value), 'sizes')):
        with pytest.raises(ValueError, match=(
                'Non-hashable static arguments.*argument '
                f'{name} of .*stretch.*{kind}. (Pass a tuple|Let it be traced|Def)')):
            call_it(f)


def test_errors_name_arguments_as_the_caller_counts_them():
    f = ad.jit(lambda n, x: x * n, static_argnums=0)
    with pytest.raises(TypeError, match=r'args\[1\]: .*type str'):
        f(2, 'a')


def test_static_arguments_that_there_are_not():
    with pytest.raises(ValueError, match="no argument 'k' in .*powers"):
        ad.jit(powers, static_argnames='k')
    with pytest.raises(ValueError, match='no argument 4 in .*powers'):
        ad.jit(powers, static_argnums=4)


def test_static_arguments_of_functions_without_a_signature():
    largest = ad.jit(max, static_argnums=(0, 1))
    assert largest(1.0, 2.0) == 2.0
    f, runs = counted(lambda *xs: sum(xs[1]) * xs[0], static_argnums=1)
    assert f(2.0, (1, 2)) == f(3.0, (1, 2)) - 3.0 == 6.0 and len(runs) == 1


def test_static_arguments_under_transformations():
    f, runs = counted(powers, static_argnums=1)
    assert ad.grad(f)(3.0, 2) == 12.0 and d(lambda x: f(x, 2))(3.0) == 12.0
    assert_same(ad.vmap(lambda x: f(x, 2))(X), powers(X, 2))
    assert ad.jit(lambda x: f(x, 2))(3.0) == 18.0
    assert ad.grad(ad.grad(f))(3.0, 3) == 36.0
    with pytest.raises(ValueError, match='argument 1 of .*powers'):
        ad.grad(f, 1)(3.0, 2.0)     # a tracer has no hash


# What jit returns is the caller's own


def same_twice(x):
    y = np.sin(x)
    return y, y


RETURNED = {
    'argument': lambda x: x, 'argument_twice': lambda x: (x, x),
    'view': lambda x: x[1:], 'row': lambda x: x[None], 'flip': lambda x:
    x[::-1], 'reshaped': lambda x: np.reshape(x, (2, 2)).T,
    'broadcast': lambda x: np.broadcast_to(x, (3, 4)),
    'constant': lambda x: KEPT, 'constant_view': lambda x:
    ad.asarray(KEPT)[1:], 'constants': lambda x: (KEPT, KEPT, x * KEPT),
    'same_twice': same_twice, 'result_and_view': lambda x: (
        lambda y: (y, y[1:], y[:1]))(np.cos(x)),
    'large': lambda x: (lambda y: (y[:2], y))(np.sin(ad.asarray(
        np.ones(2000)))), 'real': lambda x: np.real(x),
    'inner_argument': lambda x: ad.jit(lambda y: (y, y * 2))(x),
    'inner_constant': lambda x: ad.jit(lambda y: (y * 2, KEPT))(x),
    'inner_inner_constant': lambda x: ad.jit(ad.jit(lambda y: (
        y * 2, KEPT, KEPT)))(x),
    'custom': lambda x: custom(lambda y: (y, KEPT), operator.is_)(x),
    'call': lambda x: call(lambda y: (y, KEPT, y * KEPT), x),
    'checkpoint': ad.checkpoint(lambda x: (x, KEPT, x[1:])),
    'checkpoint_inside': lambda x: ad.checkpoint(lambda x: (x, KEPT))(x),
    'cond': lambda x: ad.cond(x[0] < 9, lambda x: (x, KEPT, KEPT),
                              lambda x: (x * 2, x, x), x),
    'scan': lambda x: ad.scan(lambda c, y: (c, (y, KEPT)), x, x),
    'while_loop': lambda x: ad.while_loop(
        lambda c: c[1] < 1, lambda c: (KEPT, c[1] + 1, c[0]), (x, 0, x)),
    'no_loop': lambda x: ad.while_loop(lambda c: c[1] < 0, lambda c: c,
                                       (x, 0, KEPT)),
    'zeros': lambda x: np.zeros_like(x) + 0, 'literal': lambda x: (2.0, x),
    'vjp': lambda x: ad.vjp(lambda x: x * 2, x)[1](x),
    'jvp': lambda x: ad.jvp(lambda x: (x, KEPT), (x,), (x,)),
}


@pytest.mark.parametrize('name', RETURNED)
def test_what_jit_returns_is_the_caller_s_own(name):
    f, x = ad.jit(RETURNED[name]), np.arange(4.0) + 1
    expected = ad.tree_map(np.copy, f(x))
    for _ in range(2):
        arrays = [y for y in ad.tree_leaves(f(x))
                  if isinstance(y, np.ndarray)]
        for i, y in enumerate(arrays):
            assert y.flags.writeable and y.flags.owndata
            for other in [x, KEPT, *arrays[:i]]:
                assert not np.shares_memory(y, other)
        for y in arrays:
            y[...] = -1.0
        assert_trees(ad.tree_map(np.copy, f(x)), expected)
    np.testing.assert_array_equal(x, np.arange(4.0) + 1)
    np.testing.assert_array_equal(KEPT, np.arange(4.0))


def test_results_of_a_transformed_jit_are_the_callers_own():
    x = np.arange(4.0)
    f = ad.jit(lambda x: (x, KEPT, x * 2))
    outs = [*ad.vmap(f)(np.stack([x, x])), *ad.jvp(f, (x,), (x,))[0],
            *ad.vjp(f, x)[0], *ad.linearize(f, x)[0]]
    for y in outs:
        y += 1.0
    assert_trees(f(x), (np.arange(4.0), np.arange(4.0), 2 * np.arange(4.0)))


def test_what_grad_is_given_by_jit_is_its_own():
    """A known result of jit, beside an unknown one."""
    c, f = np.arange(3.0), ad.jit(lambda a, b: (a, b * 2))

    def g(x):
        a, b = f(c, x)
        if isinstance(a, np.ndarray):
            a += 1.0
        return b

    assert ad.grad(g)(1.0) == d(g)(1.0) == 2.0
    np.testing.assert_array_equal(c, np.arange(3.0))


def test_arguments_are_never_written():
    def f(x, i):
        return ad.grad(lambda x: np.sum(x[i] * x[1:]) + x[0])(x) + x

    x, i = np.arange(4.0), np.array([0, 0, 1])
    x.flags.writeable = i.flags.writeable = False
    assert_same(ad.jit(f)(x, i), f(x, i))


# What is kept

def test_what_is_kept_is_bounded(monkeypatch):
    """Each new shape, batch or static value left a program for ever."""
    monkeypatch.setattr('autodiff_mini.higher_order.programs.REMEMBERED', 5)
    f = ad.jit(lambda x, n: np.sin(x) * n, static_argnums=1)
    for n in (*range(10), 3, 8, 8):
        np.testing.assert_array_equal(f(C, n), np.sin(C) * n)
        assert len(f.staged) <= 5
    g = ad.jit(np.sin)
    g(1.0)
    [(jaxpr, *_)] = g.staged.values()
    for size in (*range(1, 10), 2, 9):
        np.testing.assert_array_equal(ad.vmap(g)(np.ones(size)),
                                      np.sin(np.ones(size)))
        assert len(g.last.cache) <= 5 and len(jaxpr.cache) <= 5


def test_what_is_kept_goes_with_its_function():
    f = ad.jit(lambda x: np.sin(x) * C)
    f(C), ad.vmap(f)(np.ones((2, 3))), f(1.0)
    programs = [weakref.ref(compiled(jaxpr))
                for jaxpr, *_ in f.staged.values()]
    assert len(programs) == 2 and all(ref() for ref in programs)
    del f
    gc.collect()
    assert not any(ref() for ref in programs)


# Source

@needs('fast')
def test_the_source_is_that_of_the_last_call():
    f = ad.jit(lambda x: np.sin(x) * 2)
    line = inspect.currentframe().f_lineno - 1
    with pytest.raises(AttributeError, match=(
            '<lambda> has not been called yet, so there is no program of it: '
            'call it with')):
        f.source
    assert not hasattr(f, 'source')
    f(C)
    assert f.source == (
        'const_1 = np.array(2.0)\n\n\ndef program(a):\n'
        f'    b = np.sin(a)                   # line {line}\n'
        '    c = b * const_1\n    return [c]')
    f(1.0)
    assert f.source == f'''\
def program(a):
    try:
        b = sin(a)                  # line {line}
        c = b * 2.0
        if not isfinite(c):
            raise ArithmeticError
        return [np.float64(c)]
    except (ArithmeticError, ValueError):
        return careful(a)'''
    f(C)
    assert 'np.sin(a)' in f.source
    g = ad.jit(lambda x: x * 2 if np.ndim(x) else x * 3)
    g(C), g(1.0)
    assert 'a * 3' in g.source
    g(C)
    assert 'const_1 = np.array(2.0)' in g.source
    with pytest.raises(TypeError):
        g('text')
    assert 'const_1 = np.array(2.0)' in g.source


def test_the_source_of_a_derivative_is_that_of_its_own_jit():
    f = ad.jit(ad.grad(lambda x: np.sin(x)))
    f(0.5)
    assert 'cos(a)' in f.source and 'sin' not in f.source
    g = ad.jit(np.sin)
    ad.vmap(ad.grad(g))(X)
    assert 'sin(' in g.source and 'cos' not in g.source


# Error states

def quiet(x):
    with np.errstate(over='ignore', invalid='ignore'):
        return 1 / (1 + np.exp(-x))


def loud(x):
    with np.errstate(over='raise'):
        return np.exp(-x)


FAR = np.array([-800.0, 1.0])
IN_OTHER_HANDS = {
    'jit': ad.jit(quiet),
    'jit of jit': ad.jit(lambda x: ad.jit(quiet)(x)),
    'vmap of jit': ad.vmap(ad.jit(quiet)),
    'jit of vmap': ad.jit(ad.vmap(quiet)),
    'jvp of jit': lambda x: ad.jvp(ad.jit(quiet), (x,), (x * 0,))[0],
    'vjp of jit': lambda x: ad.vjp(ad.jit(quiet), x)[0],
    'checkpoint': ad.jit(ad.checkpoint(quiet)),
    'scan': lambda x: ad.scan(lambda c, x: (c, quiet(x)), 0.0, x)[1],
    'cond': ad.vmap(lambda x: ad.cond(x < 2, quiet, np.sin, x)),
    'while': lambda x: ad.while_loop(
        lambda s: s[0] < 1, lambda s: (s[0] + 1, quiet(s[1])), (0, x))[1],
    'custom_jvp': ad.jit(custom(quiet, lambda p, t: (quiet(*p), t[0]))),
}


@pytest.mark.parametrize('name', IN_OTHER_HANDS)
def test_an_error_state_inside_is_kept(name):
    """Reported: it held while f was written down, and not when it ran."""
    f = IN_OTHER_HANDS[name]
    for _ in range(2):
        assert_same(f(FAR), quiet(FAR))     # a warning would be an error


def test_what_is_outside_of_an_error_state_is_not_in_it():
    f = ad.jit(lambda x: (np.exp(-x), quiet(x)))
    g = ad.jit(lambda x: (quiet(x), np.exp(-x)))
    for both in f, g:
        for _ in range(2):
            with pytest.warns(RuntimeWarning, match='in exp'):
                both(-800.0)


def test_error_states_within_error_states():
    def f(x):
        with np.errstate(over='ignore'):
            y = np.exp(x)
            with np.errstate(invalid='ignore'):
                return y * 2, (y - y) * np.exp(x)

    assert_trees(ad.jit(f)(800.0), f(800.0))
    eqns = ad.make_jaxpr(f)(800.0).eqns
    assert [{**e.params, 'jaxpr': None} for e in eqns] == [
        {'jaxpr': None, 'name': 'errstate', 'over': 'ignore'},
        {'jaxpr': None, 'name': 'errstate', 'over': 'ignore',
         'invalid': 'ignore'}]


def test_an_error_state_may_be_strict():
    f = ad.jit(loud)
    assert_same(f(1.0), np.exp(-1.0))
    for _ in range(2):
        with pytest.raises(FloatingPointError, match='in exp'), np.errstate(
                over='ignore'):
            f(-800.0)


@pytest.mark.parametrize('x', [C[1], X])
def test_derivatives_through_an_error_state(x):
    def total(x):
        return np.sum(quiet(quiet(x) * 2))

    slope = ad.grad(total)(x)
    for f in (ad.grad(ad.jit(total)), ad.jit(ad.grad(total)),
              ad.jit(ad.grad(ad.jit(total)))):
        assert_close(f(x), slope)
    curve = ad.jacfwd(ad.grad(total))(x)
    for f in (ad.jacfwd(ad.jit(ad.grad(total))),
              ad.jit(ad.jacfwd(ad.grad(ad.jit(total))))):
        assert_close(f(x), curve)


def test_the_source_says_an_error_state():
    f = ad.jit(quiet)
    f(FAR)
    small = Lowered(ad.make_jaxpr(quiet)(FAR))
    for source in f.source, small.source:
        assert "np.errstate(invalid='ignore', over='ignore')(part_" in source
    assert_same(small(FAR)[0], quiet(FAR))


def test_an_error_state_in_which_nothing_is_computed():
    def f(x):
        with np.errstate(over='ignore'):
            try:
                return x + np.ones(3)
            except ValueError:
                return x

    assert_same(ad.jit(f)(FAR), FAR)


def unused_log(x):
    with np.errstate(divide='raise'):
        np.log(x - x)
    return x * x


def log_of_which_the_slope_is_needed(x):
    with np.errstate(divide='raise'):
        return np.log(x - 1)


def unused_log_in_a_loop(x):
    return ad.scan(lambda c, _: (unused_log(c), None), x, np.ones(2))[0]


def unused_log_in_a_branch(x):
    return ad.cond(x > 0.5, unused_log, np.sin, x)


def unused_log_until(x):
    return ad.while_loop(lambda x: x < 9, lambda x: unused_log(x + 1), x)


STRICT = [unused_log, log_of_which_the_slope_is_needed, unused_log_in_a_loop,
          unused_log_in_a_branch]
ASKED = {
    'itself': lambda f: f, 'jit': ad.jit, 'grad': ad.grad,
    'jit_grad': lambda f: ad.jit(ad.grad(f)),
    'grad_jit': lambda f: ad.grad(ad.jit(f)),
    'jit_grad_jit': lambda f: ad.jit(ad.grad(ad.jit(f))),
    'jit_hessian': lambda f: ad.jit(ad.grad(ad.grad(f))),
    'jit_jvp': lambda f: ad.jit(lambda x: ad.jvp(f, (x,), (x,))),
    'jit_vmap': lambda f: lambda x: ad.jit(ad.vmap(f))(np.stack([x, x])),
    'vmap_jit': lambda f: lambda x: ad.vmap(ad.jit(f))(np.stack([x, x])),
    'linearize_jit': lambda f: lambda x: ad.linearize(ad.jit(f), x)[1](x),
    'checkpoint': lambda f: ad.jit(ad.grad(ad.checkpoint(f))),
}


@pytest.mark.parametrize('f, name', [
    *itertools.product(STRICT, ASKED),
    *[(unused_log_until, name) for name in ASKED  # it cannot run backwards
      if not {'grad', 'hessian', 'checkpoint'} & {*name.split('_')}]])
def test_an_error_state_speaks_up_for_what_nobody_needs(f, name):
    """`jit` dropped the operation, and returned a number."""
    g = ASKED[name](f)
    for _ in range(2):
        with pytest.raises(FloatingPointError, match='divide by zero'):
            g(np.float64(1.0))


def test_an_error_state_in_a_branch_that_is_not_taken_says_nothing():
    f = ad.jit(unused_log_in_a_branch)
    assert_same(f(np.float64(0.25)), np.sin(0.25))
    assert_close(ad.jit(ad.grad(unused_log_in_a_branch))(0.25), np.cos(0.25))


@pytest.mark.parametrize('name', ['jit', 'jit_grad', 'grad_jit', 'jit_vmap'])
def test_warnings_and_calls_are_those_of_the_eager_program(name):
    said = []

    def f(x):
        with np.errstate(divide='warn', over='call',
                         call=lambda kind, _: said.append(kind)):
            np.log(x - x)
            np.exp(x * 1000)
        return x * x

    def heard(g):
        said.clear()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter('always')
            g(np.float64(1.0))
        return [str(w.message) for w in caught], said[:]

    with np.errstate(all='ignore'):
        g = ASKED[name](f)
        expected = heard(f)
        assert expected == (['divide by zero encountered in log'],
                            ['overflow'])
        assert heard(g) == heard(g) == expected


def test_an_error_state_that_ignores_keeps_nothing_alive():
    def f(x):
        with np.errstate(divide='ignore'):
            np.log(x - x)
        return x * x

    g = ad.jit(f)
    assert g(1.0) == 1.0 and 'log' not in g.source


def test_without_an_error_state_nothing_is_said():
    """One around the call is not written down."""
    with np.errstate(all='ignore'):
        assert ad.jit(lambda x: np.exp(-x))(-800.0) == np.inf
        text = repr(ad.make_jaxpr(lambda x: np.exp(-x))(-800.0))
    assert 'errstate' not in text


# Functions of every kind

def test_name_docstring_and_signature_are_those_of_the_function():
    @ad.jit
    def area(width, height=1.0, *, scale: float = 2.0):
        """Returns the area."""
        return width * height * scale

    assert area.__name__ == 'area' and 'area' in area.__qualname__
    assert area.__doc__ == 'Returns the area.'
    assert area.__module__ == __name__ and callable(area.__wrapped__)
    assert str(inspect.signature(area)) == \
        '(width, height=1.0, *, scale: float = 2.0)'
    assert area(2.0) == 4.0 and area(2.0, height=3.0, scale=1.0) == 6.0
    with pytest.raises(TypeError, match='missing.*width'):
        area()
    with pytest.raises(TypeError, match="unexpected.*'depth'"):
        area(1.0, depth=2.0)


class Scaler:
    factor = 3.0

    @partial(ad.jit, static_argnums=0)
    def method(self, x):
        return x * self.factor

    def plain(self, x):
        return x * self.factor

    def __call__(self, x):
        return x * self.factor

    @staticmethod
    @ad.jit
    def static(x):
        return x * 5.0

    @classmethod
    def of_class(cls, x):
        return x * cls.factor


def test_methods_partials_and_objects_are_compiled():
    s = Scaler()
    assert s.method(2.0) == s.method(x=2.0) == 6.0
    assert ad.grad(s.method)(2.0) == 3.0
    for f in (s.plain, s, Scaler.of_class, partial(operator.mul, 3.0),
              partial(lambda x, y: x * y, y=3.0), lambda x: x * 3.0):
        g = ad.jit(f)
        assert g(2.0) == 6.0 and ad.grad(g)(2.0) == 3.0
        assert 'a' in g.source
    assert Scaler.static(2.0) == s.static(2.0) == 10.0


@pytest.mark.parametrize('f, args', [
    (np.sin, (C,)), (np.add, (C, 2.0)), (np.sum, (C,)), (operator.mul,
                                                         (2.0, C)),
    (np.linalg.inv, (np.eye(2),)), (np.stack, ([C, C],)),
    (square, (2.0,)), (ad.jit(np.sin), (0.5,)), (ad.grad(np.sin), (0.5,)),
    (ad.vmap(np.sin), (C,)), (functools.lru_cache(lambda x: x), (None,))])
def test_functions_that_others_wrote_are_compiled(f, args):
    assert_trees(ad.jit(f)(*args), f(*args))


def test_a_function_that_is_decorated_twice():
    def twice(f):
        @functools.wraps(f)
        def f_twice(*args, **kwargs):
            return f(f(*args, **kwargs))
        return f_twice

    @ad.jit
    @twice
    @ad.jit
    def g(x):
        """Adds one."""
        return x + 1.0

    assert g(1.0) == 3.0 and g.__name__ == 'g' and g.__doc__ == 'Adds one.'


# Trees

class Box:
    def __init__(self, x, name):
        self.x, self.name = x, name


ad.register_pytree_node(Box, lambda b: ((b.x,), b.name),
                        lambda name, xs: Box(*xs, name))


def test_a_compiled_function_takes_and_returns_trees():
    f, runs = counted(lambda p, q: {
        'a': (p['x'] + q[0], None), 'b': [p['y'], {}], 'c': Pair(q[1], 2)})
    args = {'x': C, 'y': 2}, [1.0, (C, None)]
    assert_trees(f(*args), f.__wrapped__(*args))
    assert type(f(*args)['c']) is Pair and f(*args)['a'][1] is None
    assert len(runs) == 2       # and once without jit
    assert ad.jit(lambda: None)() is None and ad.jit(lambda x: ())(1) == ()
    assert ad.jit(lambda x: x)(None) is None


def test_a_compiled_function_takes_registered_nodes():
    f, runs = counted(lambda b: Box(b.x * 2, b.name + '!'))
    for name in ('a', 'b', 'a'):
        out = f(Box(C, name))
        assert out.name == name + '!'
        assert_same(out.x, 2 * C)
    assert len(runs) == 2       # what the node keeps for itself is static
    assert ad.grad(lambda b: np.sum(f(b).x))(Box(C, 'a')).name == 'a'


def test_linear_functions_leave_jit_and_enter_it():
    y, f_vjp = ad.jit(lambda x: ad.vjp(np.sin, x))(C)
    assert_same(y, np.sin(C))
    assert_close(f_vjp(C)[0], np.cos(C) * C)
    f_jvp = ad.jit(lambda x: ad.linearize(lambda x: x * x, x)[1])(C)
    assert_close(f_jvp(C), 2 * C * C)
    assert_close(ad.jit(lambda f, t: f(t))(f_jvp, C), 2 * C * C)
    assert_close(ad.jit(lambda f, t: f(t)[0])(f_vjp, C), np.cos(C) * C)


@pytest.mark.parametrize('x', [
    np.zeros(0), np.zeros((0, 3)), np.zeros((2, 0), 'f4'), np.array(2.0),
    np.array(3), np.array(True), np.float32(2), np.bool_(False)],
    ids=lambda x: f'{x.dtype}{list(x.shape)}')
def test_arrays_without_elements_and_without_axes(x):
    for f in (lambda x: x, lambda x: x * 2, np.sum, np.transpose,
              lambda x: np.stack([x, x]), lambda x: (x, x)):
        assert_trees(ad.jit(f)(x), f(x))
    assert_trees(ad.jit(ad.vmap(lambda x: x * 2))(np.stack([x, x])),
                 np.stack([x, x]) * 2)
    if is_inexact(x):
        assert_same(ad.jit(ad.grad(lambda x: np.sum(x * x)))(x), 2 * x)


@pytest.mark.parametrize('x', [True, 3, 1.5, 1j, 10**15])
def test_python_numbers_stay_python_numbers(x):
    for f in (lambda x: x, lambda x: x * 2, lambda x: -x, lambda x: (x, 2)):
        assert_trees(ad.jit(f)(x), f(x))
        assert ad.tree_map(type, ad.jit(f)(x)) == ad.tree_map(type, f(x))
    single = np.ones(2, np.float32)
    assert_same(ad.jit(lambda x, a: x * a)(x, single), x * single)


# Mistakes

def test_what_is_no_array_is_named():
    def shift(x, by):
        return x + by

    with pytest.raises(TypeError, match=(
            "jit of .*shift: .*by.*type str cannot be traced")):
        ad.jit(shift)(1.0, by='text')
    with pytest.raises(TypeError, match='jit of .*args.1.*object'):
        ad.jit(shift)(1.0, np.array([None]))
    with pytest.raises(TypeError, match='jit of .*: output.*str'):
        ad.jit(lambda x: {'a': 'text'})(1.0)
    assert current_trace() is Trace.base


def test_a_mistake_while_tracing_has_the_user_s_frame():
    def mismatch(x):
        return x + np.ones(7)

    with pytest.raises(ValueError) as info:
        ad.jit(mismatch)(C)
    assert any(entry.frame.code.raw is mismatch.__code__
               for entry in info.traceback)


def lines_of(error):
    return ''.join(getattr(error, '__notes__', []))


def test_a_mistake_at_run_time_quotes_the_user_s_line():
    def solve(a, b):
        c = a * 1.0
        return np.linalg.solve(c, b)

    def divide(a, b):
        return [a + 1,
                a // b]

    for f, args, offset in ((solve, (np.zeros((2, 2)), np.ones(2)), 2),
                            (divide, (1, 0), 2)):
        place = f'{__file__}:{f.__code__.co_firstlineno + offset}'
        for g in (ad.jit(f), ad.jit(ad.jit(f)), ad.checkpoint(f)):
            for _ in range(2):
                with pytest.raises((np.linalg.LinAlgError,
                                    ZeroDivisionError)) as info:
                    g(*args)
                assert place in lines_of(info.value)


def test_a_mistake_in_a_rule_of_a_jitted_function_quotes_the_line():
    class Stop(Exception):
        pass

    def rule(primals, tangents):
        raise Stop

    f = custom(np.sin, rule)

    def program(x):
        return 2 * f(x)

    place = f'{__file__}:{program.__code__.co_firstlineno + 1}'
    for transform in (ad.grad, d):
        with pytest.raises(Stop) as info:
            transform(ad.jit(program))(1.0)
        assert place in lines_of(info.value)
    assert current_trace() is Trace.base


def test_a_tracer_that_escapes_is_said_to_be_of_jit():
    leaked = []
    ad.jit(lambda x: leaked.append(x * 2) or x)(1.0)
    for use in (lambda: leaked[0] + 1, lambda: ad.jit(lambda x: x * leaked[
            0])(1.0), lambda: ad.jit(np.sin)(leaked[0])):
        with pytest.raises(ad.UnexpectedTracerError,
                           match='jit of .*returned.*escaped'):
            use()
        assert current_trace() is Trace.base


def test_numpy_s_errstate_is_asked_when_the_program_runs():
    f = ad.jit(lambda x: np.log(x) * 2)
    with np.errstate(all='ignore'), warnings.catch_warnings():
        warnings.simplefilter('error')
        assert f(0.0) == -np.inf
    with np.errstate(divide='raise'), pytest.raises(FloatingPointError):
        f(0.0)
    with np.errstate(divide='warn'), pytest.warns(RuntimeWarning,
                                                  match='divide by zero'):
        f(0.0)
    with np.errstate(divide='raise'):       # nothing is computed by tracing
        ad.make_jaxpr(f)(0.0)


# Threads, tasks, recursion

def test_eight_threads_share_a_jitted_function():
    f = ad.jit(lambda x: np.sum(np.sin(x)) * x.shape[0])
    ways = [f, ad.grad(f), ad.vmap(f), d(f)]

    def work(i):
        x, g = np.full((3, 3) if i % 4 == 2 else i + 1, 0.5), ways[i % 4]
        return [g(x) for _ in range(50)]

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(8) as pool:
            results = list(pool.map(work, range(8)))
    finally:
        sys.setswitchinterval(interval)
    for i, ys in enumerate(results):
        n = i + 1
        expected = [n * n * np.sin(.5), np.full(n, n * np.cos(.5)),
                    np.full(3, 9 * np.sin(.5)), n * n * np.cos(.5)][i % 4]
        for y in ys:
            assert_close(y, expected)


def test_interleaved_tasks_keep_their_traces():
    async def slow(f, x):
        await asyncio.sleep(0)
        return f(x)

    async def every():
        f = ad.jit(lambda x: np.sin(x) * 2)
        return await asyncio.gather(*[
            slow(ad.grad(f) if i % 2 else f, float(i)) for i in range(6)])

    for i, y in enumerate(asyncio.run(every())):
        assert_close(y, 2 * (np.cos(i) if i % 2 else np.sin(i)))


def test_a_jitted_function_calls_itself():
    @partial(ad.jit, static_argnums=1)
    def power_of(x, n):
        return x * power_of(x, n - 1) if n else np.ones(np.shape(x))[()]

    assert_same(power_of(2.0, 5), 32.0 * np.ones(())[()])
    assert_close(ad.grad(power_of)(2.0, 5), 80.0)

    @ad.jit
    def total(x):
        return x[0] + total(x[1:]) if len(x) else 0.0

    assert total(np.arange(5.0)) == 10.0
    assert_same(ad.grad(total)(np.arange(5.0)), np.ones(5))


def test_jit_inside_what_jit_traces():
    f = ad.jit(lambda x: ad.jit(lambda y: ad.jit(np.sin)(y * x))(x) * x)
    assert_close(f(0.5), np.sin(0.25) * 0.5)
    assert_close(ad.grad(f)(0.5), np.sin(.25) + 0.5 * np.cos(.25))
    assert 'jit' not in f.source


# A primitive

def test_jit_is_one_equation_that_shows_its_program():
    f = ad.jit(lambda x: np.sin(x) * 2)
    jaxpr = ad.make_jaxpr(lambda x: f(x) + 1)(C)
    check_jaxpr(jaxpr)
    first, second = jaxpr.eqns
    assert first.primitive is jit_p and second.primitive.name == 'add'
    assert first.line[0].co_filename == __file__
    assert str(jaxpr) == (
        '{ lambda ; a:float64[3] . let\n'
        '    b:float64[3] = jit[name=<lambda>] a\n'
        '        jaxpr={ lambda ; a:float64[3] . let\n'
        '            b:float64[3] = sin a\n'
        '            c:float64[3] = mul b 2\n'
        '          in (c,) }\n'
        '    c:float64[3] = add b 1\n'
        '  in (c,) }').replace('<lambda>', first.params['name'])
    assert ad.eval_shape(f, C) == typeof(C)


def test_transforms_of_jit_are_jit():
    f = ad.jit(lambda x: np.sin(x) * x)
    for g in (ad.vmap(f), d(f), ad.vmap(d(f)), d(ad.vmap(f)), ad.jit(f)):
        assert {e.primitive for e in ad.make_jaxpr(g)(X).eqns} <= {jit_p}
    _, f_jvp = ad.linearize(f, X)
    assert [e.primitive for e in f_jvp.program.jaxpr.eqns] == [jit_p]
    _, counts = spied(f, X)
    assert counts == {jit_p: 1}


def test_of_what_is_known_nothing_is_left_for_later():
    f = ad.jit(lambda x, y: (np.sin(x) * y, np.exp(x)))
    _, f_jvp = ad.linearize(lambda y: f(X, y), X)
    (eqn,) = f_jvp.program.jaxpr.eqns
    assert [e.primitive.name for e in eqn.params['jaxpr'].eqns] == ['mul']
    assert_same(f_jvp(X)[1], 0 * X)
    # and of a call that is known as a whole, not even an empty one
    _, f_jvp = ad.linearize(lambda y: ad.jit(np.sin)(X) * y, X)
    assert [e.primitive.name for e in f_jvp.program.jaxpr.eqns] == ['mul']


def test_the_primal_is_computed_once():
    runs = []
    p = ad.Primitive('noisy')
    p.def_impl(lambda x: runs.append(1) or np.sin(x))
    p.def_abstract_eval(lambda x: x)
    p.def_jvp(lambda x, t: (p.bind(*x), np.cos(x[0]) * t[0]))
    f = ad.jit(lambda x: p.bind(x) * x)
    y, f_vjp = ad.vjp(f, X)
    assert runs == [1]
    f_vjp(X), f_vjp(X)
    assert runs == [1]
    ad.grad(lambda x: np.sum(f(x)))(X)
    assert runs == [1, 1]


def test_residuals_that_are_arguments_are_no_copies():
    f = ad.jit(lambda x, y: x * y)
    _, f_jvp = ad.linearize(f, C, X[:3])
    assert len(ad.tree_leaves(f_jvp)) == 2
    x = np.ones(100)
    _, f_vjp = ad.vjp(lambda x: f(f(x, x), x), x)
    assert len(ad.tree_leaves(f_vjp)) <= 3


def test_a_compiled_linear_function_is_transposed():
    f = ad.jit(lambda x, y: (np.sum(x * 2) + y, x[::-1]))
    f_t = ad.linear_transpose(f, C, 1.0)
    x_bar, y_bar = f_t((3.0, C))
    assert_same(x_bar, 6.0 + C[::-1])
    assert_same(y_bar, 3.0)
    x_bar, y_bar = ad.jit(f_t)((3.0, C))
    assert_same(x_bar, 6.0 + C[::-1])


def test_integers_and_float0_through_jit():
    f = ad.jit(lambda x, n: (x * n, n + 1, x > 0))
    zero = np.zeros((), ad.float0)
    for g in (f, ad.jit(f)):
        y, y_dot = ad.jvp(g, (C, 2), (C, zero))
        assert_trees(y, (C * 2, 3, C > 0))
        assert_same(y_dot[0], C * 2)
        assert y_dot[1].dtype == y_dot[2].dtype == ad.float0
    bars = ad.vjp(lambda x, n: f(x, n)[0], C, 2)[1](C)
    assert_same(bars[0], 2 * C)
    assert bars[1].dtype == ad.float0


# Another library's arrays, and long programs

@pytest.mark.parametrize('f', [loss, activations])
def test_chunked_arrays_stay_lazy_through_jit(f):
    check_lazy(ad.jit(f), W, ROWS, Y)
    check_lazy(both_ways(ad.jit(f)), W, ROWS, Y)
    check_lazy(lambda *args: ad.jvp(ad.jit(f), args, args), W, ROWS, Y)


def test_chunked_arrays_stay_lazy_through_jit_of_grad():
    check_lazy(ad.jit(ad.grad(loss, (0, 1, 2))), W, ROWS, Y)
    check_lazy(ad.jit(ad.vmap(ad.jit(lambda x: np.tanh(x) * x))), ROWS)
    g, runs = counted(loss)
    check_lazy(g, W, ROWS, Y)       # by types: the program is the same
    assert len(runs) == 1


DEEP = '''
    import sys
    import numpy as np
    import autodiff_mini as ad

    def f(x):
        y = x
        for _ in range({count}):
            y = y * 0.5 + x * x
        return y

    sys.setrecursionlimit(300)
    g = ad.jit({transform})
    results = [g(x) for x in (0.5, 1.5)]
    sys.setrecursionlimit(1000)
    np.testing.assert_allclose(results, {expected}, rtol=1e-12)
    assert g.source.count(chr(10)) > {count}
    print('done')
'''


@pytest.mark.parametrize('transform, count, expected', [
    ('f', 3_400, '[0.5, 4.5]'), rest('f', 34_000, '[0.5, 4.5]'),
    rest('ad.grad(f)', 3_400, '[2.0, 6.0]'),
    rest('ad.grad(f)', 34_000, '[2.0, 6.0]'),
    ('ad.grad(ad.jit(f))', 1_000, '[2.0, 6.0]')])
def test_a_long_program_goes_through_jit_at_recursion_limit_300(
        transform, count, expected):
    run_alone(DEEP, transform=transform, count=count, expected=expected)
