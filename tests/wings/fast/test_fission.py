"""Fission: only what depends on the previous step stays in the loop.

First come the equations that run in each part, then the results, which equal
the unrolled loop's. Sums can be added in another order, so the last bits can
differ.
"""

import sys
import tracemalloc
from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.calls.programs import close
from autodiff_mini.wings.fast import equal_programs as twins
from autodiff_mini.wings.fast.compiler import FastLowered
from autodiff_mini.wings.fast.fission import (
    add_up, fission, stays_finite, taken_apart)
from autodiff_mini.wings.fast.loop_source import loop_p
from autodiff_mini.wings.fast.simplify import opened, simplify
from tests.support.control_flow import unrolled
from tests.support.identical import assert_identical
from tests.support.numerical import (
    assert_close, assert_same, assert_same_type)

RNG = np.random.default_rng(0)
V, M = RNG.normal(size=3), RNG.normal(size=(3, 3)) / 2
ROWS, TABLES = RNG.normal(size=(5, 3)), RNG.normal(size=(5, 3, 3)) / 2


def assert_all_close(actual, expected):
    assert ad.tree_structure(actual) == ad.tree_structure(expected)
    for a, b in zip(ad.tree_leaves(actual), ad.tree_leaves(expected)):
        assert np.shape(a) == np.shape(b)
        assert_close(a, b)


# The equations in each part

def parts_of(f, carry, x, consts=()):
    """Return the names of the primitives in each part of a body.

    For each addend of a sum, return the name of the primitive that makes it,
    or the kind of argument that it is.

    Args:
        f: `f(*consts, *carry, *x) -> (ends, ys)`.
        carry, x, consts: lists of arrays, or numbers.
    """
    jaxpr, _ = close(ad.make_jaxpr(lambda *args: tuple(
        ad.tree_leaves(f(*args))))(*consts, *carry, *x))
    body = simplify(opened(jaxpr))
    parts = taken_apart(body, (len(consts), len(carry)))
    kinds = ['const'] * len(consts) + ['carry'] * len(carry) + ['x'] * len(x)
    made = dict(zip(body.invars, kinds))
    made.update((v, eqn.primitive.name) for eqn in body.eqns
                for v in eqn.outvars)
    groups = parts.first, parts.before, parts.core, parts.after
    names = [[eqn.primitive.name for eqn in part] for part in groups]
    sums = {i: [made[v] for v in vs] for i, vs in parts.sums.items()}
    return [*names, sums]


BODIES = {  # the body; its carry, x, and constants; the parts
    'passes_on': (lambda c, x: ([x], [c]), [V], [V], [],
                  [[], [], [], [], {}]),
    'nothing_waits': (lambda c, x: ([c], [np.sin(x) * 2]), [V], [V], [],
                      [[], ['sin', 'mul'], [], [], {}]),
    'all_waits': (lambda c, x: ([np.sin(c * x)], []), [V], [V], [],
                  [[], [], ['mul', 'sin'], [], {}]),
    'network': (lambda u, w, h, x: ([np.tanh(h @ u + x @ w)], [h]),
                [V], [V], [M, M],
                [[], ['matmul'], ['matmul', 'add', 'tanh'], [], {}]),
    'shared_by_both': (lambda h, x: (lambda a: ([a * x], [np.cos(a)]))(
        np.sin(h)), [V], [V], [],
        [[], [], ['sin', 'mul'], ['cos'], {}]),
    'carry_that_stays': (lambda a, b, x: (
        [a, b * a * 2], [np.sin(a) * x]), [V, V], [V], [],
        [['sin'], ['mul'], ['mul', 'mul'], [], {}]),
    'swapped': (lambda a, b, x: ([b, a], [np.sin(a)]), [V, V], [V], [],
                [[], [], [], ['sin'], {}]),
    'sum_of_xs': (lambda c, x: ([c + x], []), [V], [V], [],
                  [[], [], [], [], {0: ['x']}]),
    'products': (lambda w, h, x, y: ([w + np.transpose(x) @ y, h], []),
                 [M, V], [M, M], [],
                 [[], ['transpose'], [], [], {0: ['transpose', 'x']}]),
}
NO_SUMS = {
    'put_out': (lambda c, x: (lambda y: ([y], [y]))(c + x), [V]),
    'before_too': (lambda c, x: ([c + x], [c]), [V]),
    'number': (lambda c, x: ([c + 1.0], []), [V]),
    'integers': (lambda c, x: ([c + x], []), [np.arange(3)]),
    'broadcast': (lambda c, x: ([c + x[0]], []), [V]),
    'two_ends': (lambda a, b, x: (lambda y: ([y, y], []))(a + x), [V, V]),
}


def test_equations_that_depend_on_the_carry_are_found():
    for name, (f, carry, x, consts, expected) in BODIES.items():
        assert parts_of(f, carry, x, consts) == expected, name
    for name, (f, carry) in NO_SUMS.items():
        _, before, core, after, sums = parts_of(f, carry, [carry[0]])
        assert (core, after, sums) == (['add'], [], {}), name
        assert before == (['index'] if name == 'broadcast' else [])


UNRULED = ad.Primitive('unruled')
UNRULED.def_impl(lambda x: x[::-1] * 2)
UNRULED.def_abstract_eval(lambda x: x)
STRANGE = {     # functions of 2 x; what runs before, and in the loop
    'user': (UNRULED.bind, [], ['unruled']),
    'scan': (lambda x: ad.scan(lambda c, y: (c * y, None), V, x)[0],
             [], ['scan']),
    'cond': (lambda x: ad.cond(x[0, 0] > 0, np.sin, np.cos, x),
             ['index', 'gt', 'astype'], ['cond']),
}


def test_an_operation_that_cannot_be_mapped_stays_in_the_loop():
    for g, before, core in STRANGE.values():
        body = lambda c, x: (c * 0.5, g(x * 2) + 1)
        assert parts_of(body, [V], [M]) == [
            [], ['mul', *before], ['mul', *core], ['add'], {}]
        run = lambda lib: lib.scan(body, V, np.stack([M, M.T, M + 1]))
        assert_all_close(run(ad), run(unrolled))
        assert_identical(ad.jit(lambda: run(ad))(), run(ad))


@pytest.mark.parametrize('dtype', ['u1', 'i1', 'u8'])
def test_an_integer_of_each_step_overflows_with_a_warning(dtype):
    """NumPy does not warn of the overflow of an array of integers."""
    def f(lib):
        return lambda xs: lib.scan(
            lambda c, x: (c * 0.5, x * x), np.float64(1), xs)
    xs = np.array([2, np.iinfo(dtype).max], dtype)
    with np.errstate(over='ignore'):
        expected = f(unrolled)(xs)
    for g in f(ad), ad.jit(f(ad)):
        with pytest.warns(RuntimeWarning, match='overflow'):
            assert_identical(g(xs), expected)


# The loop that is written

def network(lib, w, u, h, xs):
    """Return the loss of a recurrent network."""
    h, ys = lib.scan(lambda h, x: (np.tanh(h @ w + x @ u), h), h, xs)
    return np.sum(h) + np.sum(ys * ys)


def test_the_gradient_of_a_network_has_one_product_in_each_loop():
    """The weights' cotangents are one product each, of all rows."""
    args = M, M.T, RNG.normal(size=(2, 3)), RNG.normal(size=(5, 2, 3))
    slopes, expected = (ad.grad(partial(network, lib), (0, 1, 2, 3))
                        for lib in (ad, unrolled))
    f = ad.jit(slopes)
    assert_all_close(f(*args), expected(*args))
    functions = f.source.replace('.dot(', ' @ ').split('\n\n\n')
    loops = [text for text in functions if text.startswith('def loop_')]
    assert [text.count(' @ ') for text in loops] == [1, 1]
    assert [text.count('np.tanh') for text in loops] == [1, 0]
    assert 'range(5)[::-1]' in loops[1]
    # Outside there are x @ u, and the products for w, u, and xs.
    assert sum(text.count(' @ ') for text in functions) == 4
    assert f.source.count('= add_up(') == 2


def test_a_loop_of_vectors_contains_only_its_arithmetic():
    """A product used to make vectors into matrices, and back."""
    f = ad.jit(ad.grad(lambda w: np.sum(ad.scan(
        lambda h, x: (np.tanh(h @ w + x), h), V, ROWS)[1] ** 2)))
    f(M)
    loops = [text for text in f.source.split('\n\n\n') if '    for' in text]
    assert [text.count('\n        ') for text in loops] == [7, 7]


def test_a_loop_of_sums_compiles_to_a_sum():
    f = ad.jit(lambda w, xs: ad.scan(lambda c, x: (c + np.sin(x) * w, None),
                                     np.zeros(3), xs)[0])
    assert_close(f(V, ROWS), np.sum(np.sin(ROWS) * V, 0))
    assert 'for ' not in f.source and f.source.count('np.sin') == 1
    assert f.source.count('= add_up(') == 1


# Memory

LIMITED = {     # bodies, and how many numbers of each step they keep
    'before': (lambda c, x: (c * np.sin(x), None), 3),
    'after': (lambda c, x: (c * 0.5, np.sin(c)), 6),
}


@pytest.mark.parametrize('name', LIMITED)
def test_the_rows_of_a_loop_stay_within_a_limit(name, monkeypatch):
    (body, size), outs = LIMITED[name], []
    for most, whole in ((5 * size, False), (5 * size - 1, True)):
        monkeypatch.setattr(sys.modules[fission.__module__], 'MOST', most)
        twins.known_programs.clear()
        f = lambda c, xs: ad.scan(lambda c, x: body(c, x), c, xs)
        outs.append(f(V, ROWS))
        [loop] = [eqn for eqn in simplify(opened(
            ad.make_jaxpr(f)(V, ROWS))).eqns if eqn.primitive is loop_p]
        inside = [eqn.primitive.name for eqn in loop.params['jaxpr'].eqns]
        assert ('sin' in inside) == whole
        assert_identical(ad.jit(f)(V, ROWS), outs[-1])
    assert_all_close(*outs)
    assert_all_close(outs[0], unrolled.scan(body, V, ROWS))


LONG = [     # rows that are read, added up, and used after the loop
    lambda c, x: ((np.sin(c[0]), c[1]), np.sum(c[0])),
    lambda c, x: ((np.sin(c[0]), c[1] + c[0]), None),
    lambda c, x: ((np.sin(c[0]), c[1]), np.sum(np.cos(c[0]) * c[1]))]


def test_a_long_loop_keeps_no_unused_rows():
    """It used to keep all rows that are read after the loop."""
    x, end = np.linspace(0.0, 1.0, 20_000), None
    for body in LONG:
        run = lambda: ad.scan(body, (x, x), length=250)
        run()
        tracemalloc.start()
        (a, _), _ = run()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 20 * x.nbytes
        end = a if end is None else end
        assert_close(a, end)


# Results

def total_of(f):
    """Return a function that returns a number, from all results of `f`."""
    return lambda *args: sum(
        np.sum(np.sin(y)) for y in ad.tree_leaves(f(*args)))


@pytest.mark.parametrize('name', BODIES | NO_SUMS)
def test_each_body_equals_its_steps(name):
    f, carry, *rest = (BODIES | NO_SUMS)[name]
    x, consts = rest[:2] if rest else ([carry[0]], [])

    def loop(lib, reverse=False):
        return lambda carry, xs: lib.scan(
            lambda c, x: f(*consts, *c, *x), carry, xs, reverse=reverse)

    for n, reverse in (5, False), (3, True), (1, False), (0, False):
        xs = [np.stack([v * (i - 2) for i in range(n)]) if n else
              np.zeros((0, *v.shape), v.dtype) for v in x]
        outs, expected = (loop(lib, reverse)(carry, xs)
                          for lib in (ad, unrolled))
        assert_all_close(outs, expected)
        assert_identical(ad.jit(loop(ad, reverse))(carry, xs), outs)
        for y, z in zip(ad.tree_leaves(outs), ad.tree_leaves(expected)):
            assert_same_type(y, z)
        if n > 1 and name != 'integers':
            slopes = ad.grad(total_of(loop(ad, reverse)), (0, 1))
            expected = ad.grad(total_of(loop(unrolled, reverse)), (0, 1))
            for g in slopes, ad.jit(slopes):
                assert_all_close(g(carry, xs), expected(carry, xs))
            both = [np.stack([y, y + 1]) for y in carry]
            assert_all_close(
                ad.vmap(ad.jit(loop(ad, reverse)), (0, None))(both, xs),
                ad.tree_map(lambda *ys: np.stack(ys), *[
                    loop(unrolled, reverse)([y + i for y in carry], xs)
                    for i in (0, 1)]))


ADDED = [((4, 2, 3), (4, 3, 5)), ((4, 0, 3), (4, 3, 5)),
         ((4, 2, 0), (4, 0, 5)), ((1, 1, 1), (1, 1, 1))]


def test_the_sum_of_products_is_a_product():
    f = lambda c, x: (c + x[0] @ x[1], None)
    for left, right in ADDED:
        a = np.arange(np.prod(left)).reshape(left) - 4.0
        b = np.arange(np.prod(right)).reshape(right) * 2.0
        expected = np.sum(a @ b, 0)
        assert_same(add_up(0.0, a, b, reverse=False), expected)
        assert_same(add_up(0.0, a, reverse=True), np.sum(a, 0))
        for g in (ad.scan, ad.jit(ad.scan, static_argnums=0)):
            assert_same(g(f, expected * 0 + 1, (a, b))[0], expected + 1)
        slopes = ad.grad(total_of(lambda *xs: ad.scan(f, expected, xs)[0]),
                         (0, 1))
        assert [x.shape for x in slopes(a, b)] == [left, right]


SUMS = [    # starts and rows whose sum depends on their order
    (np.full(3, -60000, 'f2'), np.full((2, 3), 60000, 'f2')),
    (np.float16(-60000), np.array([6e4, -6e4, 6e4] * 3, 'f2')),
    (np.float64(1e16), np.ones(40)),
    (np.zeros(2), np.array([[1e16], [1], [-1e16], [1]]) * [1, 2]),
    (np.float64(0), np.array([1e16, 1, -1e16, 1])), (np.ones(1), np.full((20, 1), 0.1)),
    (np.float32(-0.0), np.full(3, -0.0, 'f4')),
    (-np.zeros(2), -np.zeros((1, 2))), (-np.zeros(3), -np.zeros((3, 3))),
    (np.ones((2, 1), 'f4'), np.full((30, 2, 1), 0.1, 'f4')),
    (np.full((2, 2), -1e308), np.full((4, 2, 2), 1e308))]


@pytest.mark.parametrize('reverse', [False, True])
@pytest.mark.parametrize('start, rows', SUMS)
def test_a_loop_adds_rows_in_the_order_of_its_steps(start, rows, reverse):
    """Adding the start last overflowed, where the loop does not."""
    def f(lib):
        return lambda start, rows: lib.scan(
            lambda c, x: (c + x, None), start, rows, reverse=reverse)[0]
    assert 'for ' not in lowered_source(f(ad), start, rows)
    with np.errstate(over='ignore'):
        expected = f(unrolled)(start, rows)
        for g in f(ad), ad.jit(f(ad)):
            assert_identical(g(start, rows), expected)


def test_a_sum_of_python_numbers_stays_one():
    f = lambda c, x: ad.scan(lambda c, _: (c + x, None), c, length=3)[0]
    assert_identical(ad.jit(f)(1.0, 2.0), 7.0)


def lowered_source(f, *args):
    return FastLowered(ad.make_jaxpr(f)(*args)).source


@pytest.mark.parametrize('dtype, big', [
    ('f2', 200), ('f4', 1.5e19), ('f8', 1e154)])
def test_products_are_added_one_by_one_if_a_sum_could_overflow(dtype, big):
    x = np.full((2, 1, 1), big, dtype)
    y = np.array([big, -big], dtype).reshape(2, 1, 1)
    start = -x[0] * x[0]
    assert stays_finite(start * 0, x / 4, y / 4)
    assert not stays_finite(start, x, y)
    assert not stays_finite(np.full((1, 1), np.nan, dtype), x / 4, y / 4)

    def f(lib):
        return lambda start, *rows: lib.scan(
            lambda c, x: (c + x[0] @ x[1], None), start, rows)[0]
    for first in start, start / 2:
        for rows in (x, y), (x, -y), (x / 8, y / 8):
            with np.errstate(over='ignore'):
                assert_identical(ad.jit(f(ad))(first, *rows),
                                 f(unrolled)(first, *rows))


MISTAKES = {    # bodies with a mistake in their second line, by its part
    'before': lambda c, x: (c * 0.5,
                            1 / x),
    'after': lambda c, x: (c + 1.0,
                           1 / c),
    'first': lambda c, x: (c,
                           1 / c),
    'core': lambda c, x: (
        (c + 1.0) / c, None)}


@pytest.mark.parametrize('name', MISTAKES)
def test_a_mistake_quotes_the_users_line(name):
    body = MISTAKES[name]
    run = lambda n=5: ad.scan(body, np.zeros(3), np.zeros((n, 3)))
    for f in run, ad.jit(run, static_argnums=0):
        with np.errstate(all='raise'):
            with pytest.raises(FloatingPointError) as info:
                f(5)
            assert_same(f(0)[0], np.zeros(3))
        line = body.__code__.co_firstlineno + 1
        assert f'{__file__}:{line}' in ''.join(info.value.__notes__)
        with pytest.warns(RuntimeWarning):
            f(5)
