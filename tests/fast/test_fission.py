"""Fission: of a loop only what waits for the step before is one.

First which equations go where, then that it computes what the unrolled loop
does.  Sums may be added in another order, so the last bits may differ.
"""

import sys
import tracemalloc
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autodiff_mini as ad
from autodiff_mini.fast import twins
from autodiff_mini.fast.fission import fission, taken_apart, total
from autodiff_mini.fast.loop_source import loop_p
from autodiff_mini.fast.simplify import opened, simplify
from autodiff_mini.higher_order.programs import close
from tests.numerical import assert_close, assert_same, assert_same_type
from tests.test_custom_jvp import square
from tests.test_jit import lines_of
from tests.test_jit_equals_eager import assert_identical, examples
from tests.test_scan import assert_all_close
from tests.test_unrolled import unrolled

RNG = np.random.default_rng(0)
V, M = RNG.normal(size=3), RNG.normal(size=(3, 3)) / 2
ROWS, TABLES = RNG.normal(size=(5, 3)), RNG.normal(size=(5, 3, 3)) / 2


# Which equations wait

def parts_of(f, carry, x, consts=()):
    """Return the names of the primitives in each part of a body.

    Of sums, for each variable the name of the primitive that makes it, or
    the kind of argument it is.

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
    eqns = [id(eqn) for part in groups for eqn in part]
    assert len({*eqns}) == len(eqns)
    return [*names, sums]


def nothing_waits(c, x):
    return [c], [np.sin(x) * 2]


BODIES = {  # the body; its carry, x, and constants; what comes out
    'passes_on': (lambda c, x: ([x], [c]), [V], [V], [],
                  [[], [], [], [], {}]),
    'nothing_waits': (nothing_waits, [V], [V], [],
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
    'sum_of_a_sine': (lambda a, b, x: ([a + np.cos(b), np.sin(b)], []),
                      [V, V], [V], [],
                      [[], [], ['sin'], ['cos'], {0: ['cos']}]),
    'one_addend': (lambda a, b, x: (lambda y: ([a + y, y + b], []))(
        np.sin(x)), [V, V], [V], [],
        [[], ['sin'], [], [], {0: ['sin'], 1: ['sin']}]),
    'products': (lambda w, h, x, y: ([w + np.transpose(x) @ y, h], []),
                 [M, V], [M, M], [],
                 [[], ['transpose'], [], [], {0: ['transpose', 'x']}]),
    'product_that_is_put_out': (lambda w, x, y: (lambda p: ([w + p], [p]))(
        x @ y), [M], [M, M], [],
        [[], ['matmul'], [], [], {0: ['matmul']}]),
}
NO_SUMS = {
    'put_out': (lambda c, x: (lambda y: ([y], [y]))(c + x), [V], ['add']),
    'before_too': (lambda c, x: ([c + x], [c]), [V], ['add']),
    'number': (lambda c, x: ([c + 1.0], []), [V], ['add']),
    'integers': (lambda c, x: ([c + x], []), [np.arange(3)], ['add']),
    'broadcast': (lambda c, x: ([c + x[0]], []), [V], ['add']),
    'two_ends': (lambda a, b, x: (lambda y: ([y, y], []))(a + x), [V, V],
                 ['add']),
}


@pytest.mark.parametrize('name', BODIES)
def test_which_equations_wait(name):
    f, carry, x, consts, expected = BODIES[name]
    assert parts_of(f, carry, x, consts) == expected


@pytest.mark.parametrize('name', NO_SUMS)
def test_what_is_no_sum_is_done_step_by_step(name):
    f, carry, core = NO_SUMS[name]
    x = carry[0] if name in ('integers', 'complex') else V
    first, before, found, after, sums = parts_of(f, carry, [x])
    assert sums == {} and after == [] and found == core
    assert before == (['index'] if name == 'broadcast' else [])


UNRULED = ad.Primitive('unruled')
UNRULED.def_impl(lambda x: x[::-1] * 2)
UNRULED.def_abstract_eval(lambda x: x)
STRANGE = {     # what is done with 2 x; what it takes before, and in the loop
    'user': (UNRULED.bind, [], ['unruled']),
    'scan': (lambda x: ad.scan(lambda c, y: (c * y, None), V, x)[0],
             [], ['loop']),
    'cond': (lambda x: ad.cond(x[0, 0] > 0, np.sin, np.cos, x),
             ['index', 'gt', 'astype'], ['cond']),
}


@pytest.mark.parametrize('name', STRANGE)
@pytest.mark.parametrize('reverse', [False, True])
def test_what_is_no_plain_operation_stays_and_works(name, reverse):
    g, before, core = STRANGE[name]
    body = lambda c, x: (c * 0.5, g(x * 2) + 1)
    assert parts_of(body, [V], [M]) == [
        [], ['mul', *before], ['mul', *core], ['add'], {}]
    run = lambda lib: lib.scan(body, V, np.stack([M, M.T, M + 1]),
                               reverse=reverse)
    assert_all_close(run(ad), run(unrolled))
    assert_identical(ad.jit(lambda: run(ad))(), run(ad))


# The loop that is written

def operations(source):
    """Return the text of the functions that loop, and the rest."""
    functions = source.split('\n\n\n')
    loops = [text for text in functions if text.startswith('def loop_')]
    return '\n'.join(loops), '\n'.join({*functions}.difference(loops))


def network(w, u, h, xs):
    """Return the loss of a recurrent network."""
    h, ys = ad.scan(lambda h, x: (np.tanh(h @ w + x @ u), h), h, xs)
    return np.sum(h) + np.sum(ys * ys)


BATCH = RNG.normal(size=(2, 3))
BATCHES = RNG.normal(size=(5, 2, 3))


def products(text):
    return text.count(' @ ') + text.count('.dot(')


def test_the_gradient_of_a_network_has_one_product_in_each_loop():
    """The weights' cotangents are one product each, of all rows."""
    f = ad.jit(ad.grad(network, (0, 1, 2, 3)))
    outs = f(M, M.T, BATCH, BATCHES)
    inside, outside = operations(f.source)
    assert f.source.count('for step in ') == 2
    assert products(inside) == 2 and inside.count('np.tanh') == 1
    assert products(outside) == 4      # x @ u, and for w, u and xs
    assert f.source.count('reversed(range(5))') == 1

    def twin(w, u, h, xs):
        loss = 0.0
        for x in xs:
            loss, h = loss + np.sum(h * h), np.tanh(h @ w + x @ u)
        return loss + np.sum(h)
    expected = ad.grad(twin, (0, 1, 2, 3))(M, M.T, BATCH, BATCHES)
    assert_all_close(outs, expected)


def test_a_loop_of_sums_is_no_loop():
    f = ad.jit(lambda w, xs: ad.scan(lambda c, x: (c + np.sin(x) * w, None),
                                     np.zeros(3), xs)[0])
    assert_close(f(V, ROWS), np.sum(np.sin(ROWS) * V, 0))
    assert 'for ' not in f.source and f.source.count('np.sin') == 1
    g = ad.jit(lambda a, b: ad.scan(lambda c, x: (c + x[0] @ x[1], None),
                                    M, (a, b))[0])
    assert_close(g(TABLES, TABLES), M + sum(x @ x for x in TABLES))
    assert 'for ' not in g.source and g.source.count('@') == 1


def loops_in(jaxpr):
    """Return the equations that are loops, in a program without calls."""
    return [eqn for eqn in simplify(opened(jaxpr)).eqns
            if eqn.primitive is loop_p]


# Memory

LIMITED = {     # bodies, and how many numbers of each step they keep
    'before': (lambda c, x: (c * np.sin(x), None), 3),
    'after': (lambda c, x: (c * 0.5, np.sin(c)), 6),
}


@pytest.mark.parametrize('name', LIMITED)
def test_rows_that_are_too_many_are_not_made(name, monkeypatch):
    (body, size), outs = LIMITED[name], []
    for most, whole in ((5 * size, False), (5 * size - 1, True)):
        monkeypatch.setattr(sys.modules[fission.__module__], 'MOST', most)
        twins.known_programs.clear()
        f = lambda c, xs: ad.scan(lambda c, x: body(c, x), c, xs)
        outs.append(f(V, ROWS))
        inside = [eqn.primitive.name for loop in loops_in(
            ad.make_jaxpr(f)(V, ROWS)) for eqn in loop.params['jaxpr'].eqns]
        assert ('sin' in inside) == whole
        assert_identical(ad.jit(f)(V, ROWS), outs[-1])
    assert_all_close(*outs)
    assert_all_close(outs[0], unrolled.scan(body, V, ROWS))


@pytest.mark.parametrize('body', [
    lambda c, x: ((np.sin(c[0]), c[1]), np.sum(c[0])),
    lambda c, x: ((np.sin(c[0]), c[1] + c[0]), None),
    lambda c, x: ((np.sin(c[0]), c[1]), np.sum(np.cos(c[0]) * c[1]))],
    ids=['read_afterwards', 'added_up', 'made_afterwards'])
def test_a_long_loop_keeps_no_rows_for_later(body):
    """It did: all that is read after the loop, however much that is."""
    x = np.linspace(0.0, 1.0, 20_000)
    run = lambda: ad.scan(body, (x, x), length=300)
    run()
    tracemalloc.start()
    (a, _), _ = run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * x.nbytes
    for _ in range(300):
        x = np.sin(x)
    assert_close(a, x)


# What it computes

@pytest.mark.parametrize('reverse', [False, True])
@pytest.mark.parametrize('name', BODIES | NO_SUMS)
def test_each_body_computes_what_its_steps_do(name, reverse):
    if name in BODIES:
        f, carry, x, consts, _ = BODIES[name]
    else:
        f, carry, _ = NO_SUMS[name]
        consts, x = [], [carry[0]]

    def run(lib, n):
        xs = [np.stack([v * (i - 2) for i in range(n)]) if n else
              np.zeros((0, *v.shape), v.dtype) for v in x]
        ends, ys = lib.scan(lambda c, x: f(*consts, *c, *x), carry, xs,
                            reverse=reverse)
        return ends, ys

    for n in (5, 1, 0):
        outs = run(ad, n)
        assert_all_close(outs, run(unrolled, n))
        assert_identical(ad.jit(lambda: run(ad, n))(), outs)
        for y, z in zip(ad.tree_leaves(outs),
                        ad.tree_leaves(run(unrolled, n))):
            assert_same_type(y, z)


ADDED = [((4, 2, 3), (4, 3, 5)), ((4, 0, 3), (4, 3, 5)),
         ((4, 2, 0), (4, 0, 5)), ((4, 2, 3), (4, 3, 0)),
         ((4, 0, 0), (4, 0, 0)), ((1, 2, 3), (1, 3, 2)),
         ((1, 1, 1), (1, 1, 1))]


@pytest.mark.parametrize('left, right', ADDED)
def test_the_sum_of_products_is_a_product(left, right):
    a = np.arange(np.prod(left)).reshape(left) - 4.0
    b = np.arange(np.prod(right)).reshape(right) * 2.0
    expected = np.sum(a @ b, 0)
    assert_same(total(a, b), expected)
    assert_same(total(a.astype('f4'), b.astype('f4')),
                expected.astype('f4'))
    assert_same(total(a), np.sum(a, 0))
    f = lambda c, x: (c + x[0] @ x[1], None)
    for g in (ad.scan, ad.jit(ad.scan, static_argnums=0)):
        y, _ = g(f, expected * 0 + 1, (a, b))
        assert_same(y, expected + 1)
    slopes = ad.grad(lambda *xs: np.sum(ad.scan(f, expected, xs)[0]), (0, 1))
    assert [x.shape for x in slopes(a, b)] == [left, right]


@pytest.mark.parametrize('body, line', [
    (lambda c, x: (c * 0.5,
                   1 / x), 1),
    (lambda c, x: (c + 1.0,
                   1 / c), 1),
    (lambda c, x: (c,
                   1 / c), 1),
    (lambda c, x: (
        (c + 1.0) / c, None), 1)], ids=['before', 'after', 'once', 'core'])
def test_a_mistake_quotes_the_user_s_line(body, line):
    line += body.__code__.co_firstlineno
    run = lambda: ad.scan(body, np.zeros(3), np.zeros((5, 3)))
    for f in (run, ad.jit(run)):
        with np.errstate(all='raise'), pytest.raises(
                FloatingPointError) as info:
            f()
        assert f'{__file__}:{line}' in lines_of(info.value)
        with pytest.warns(RuntimeWarning):
            f()
        with np.errstate(all='raise'):
            no_steps = lambda: ad.scan(body, np.zeros(3), np.zeros((0, 3)))
            assert_same(no_steps()[0], np.zeros(3))


# Random bodies

STEPS = {
    'sin': lambda x, y: np.sin(x), 'tanh': lambda x, y: np.tanh(x * 2),
    'add': lambda x, y: x + y, 'mul': lambda x, y: x * y * 0.5,
    'where': lambda x, y: np.where(x < y, x, 0.5),
    'maximum': lambda x, y: np.maximum(x, y), 'turn': lambda x, y: x.T,
    'matmul': lambda x, y: x @ y / 4, 'row': lambda x, y: x[0] + y[:, :1],
    'sum': lambda x, y: np.sum(x, 0) / 4 + y,
    'total': lambda x, y: x - np.sum(y) / 9, 'number': lambda x, y: x + 0.5,
    'custom': lambda x, y: square(np.sin(x)),
    'loop': lambda x, y: ad.fori_loop(0, 2, lambda i, c: c * 0.5 + y, x),
    'choice': lambda x, y: ad.cond(x[0, 0] > 0, np.sin, lambda x: x * 2, x),
}
place = st.integers(0, 9)


@st.composite
def bodies(draw):
    """Return a body: its carries, its xs and a weight are all matrices.

    An end may be anything that was computed; or a sum with its own start.
    """
    steps = draw(st.lists(st.tuples(st.sampled_from(sorted(STEPS)), place,
                                    place), min_size=1, max_size=7))
    ends = draw(st.tuples(*[st.tuples(st.sampled_from(
        ['any', 'sum', 'sum', 'same']), place)] * 3))
    ys = draw(st.lists(place, max_size=3))

    def body(w, carry, x):
        values = [w, *carry, *x]
        pick = lambda i: values[-1 - i % len(values)]
        for name, i, j in steps:
            values.append(STEPS[name](pick(i), pick(j)) * 1.0)
        new = [{'any': pick(i) * 0.5, 'sum': start + pick(i),
                'same': start}[kind]
               for start, (kind, i) in zip(carry, ends)]
        return new, [pick(i) for i in ys]
    return body


def loop(lib, body, reverse, w, carry, xs):
    return lib.scan(partial(body, w), carry, xs, reverse=reverse)


def assert_near(actual, expected):
    """Assert the same, but for the last bits of the largest numbers."""
    for x, y in zip(ad.tree_leaves(actual), ad.tree_leaves(expected),
                    strict=True):
        assert_same_type(x, y)
        scale = np.max(np.abs(y), initial=1.0)
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-11 * scale)


@examples(40)
@given(bodies(), st.integers(1, 4), st.booleans(), st.integers(0, 9))
def test_random_bodies(body, n, reverse, seed):
    rng = np.random.default_rng(seed)
    w, *carry = rng.uniform(-1, 1, (4, 3, 3))
    xs = list(rng.uniform(-1, 1, (2, n, 3, 3)))
    mine, twin = (partial(loop, lib, body, reverse)
                  for lib in (ad, unrolled))
    outs = mine(w, carry, xs)
    assert_near(outs, twin(w, carry, xs))
    assert_identical(ad.jit(mine)(w, carry, xs), outs)

    loss = lambda f: lambda *args: sum(
        np.sum(np.sin(y)) for y in ad.tree_leaves(f(*args)))
    slopes = ad.grad(loss(mine), (0, 1, 2))(w, carry, xs)
    assert_near(ad.jit(ad.grad(loss(mine), (0, 1, 2)))(w, carry, xs), slopes)
    assert_near(slopes, ad.grad(loss(twin), (0, 1, 2))(w, carry, xs))

    w2 = np.stack([w, w + 1])
    both = ad.vmap(mine, (0, None, None))
    expected = ad.tree_map(lambda *ys: np.stack(ys), *[
        mine(w, carry, xs) for w in w2])
    for f in (both, ad.jit(both), ad.vmap(ad.jit(mine), (0, None, None))):
        assert_near(f(w2, carry, xs), expected)
