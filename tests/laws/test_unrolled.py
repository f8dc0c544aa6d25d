"""Guard control flow: random programs agree with unrolled twins.

Random stacks of transforms are applied to both. A twin uses Python's control
flow, and a loop instead of vmap. Most rules of the functions inside are wrong
on purpose, so a lost rule shows.
"""

from functools import partial

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import autodiff_mini as ad
from tests.support.amount import examples
from tests.support.control_flow import ours, unrolled
from tests.support.jvp_rules import custom_product, power, sine, square
from tests.support.vjp_rules import back, both
from tests.support.ways import (
    AXES, assert_agree, batched, by_grad, by_linearize, by_vjp, loop, moving,
    number, staged)

# A program is a tree, which `run` turns into a function of a value `c` and a
# weight `w`. The function returns a value of the same shape.

STEPS = {
    'sin': lambda c, w: np.sin(c), 'weight': lambda c, w: c * np.cos(w),
    'add': lambda c, w: c * 0.5 + w,
    'mix': lambda c, w: np.tanh(np.sum(c)) + c,
    'square': lambda c, w: square(np.tanh(c)),
    'sine': lambda c, w: sine(c) * w,
    'power': lambda c, w: power(-c * c),
    'product': custom_product, 'both': both, 'back': back,
    'same': lambda c, w: c,
}


BOTH_WAYS = [name for name in STEPS if name != 'back']


def run(lib, program, c, w):
    name, *parts = program
    return NODES[name](lib, c, w, *parts)


def step(lib, c, w, name):
    return STEPS[name](c, w)


def chain(lib, c, w, *programs):
    for program in programs:
        c = run(lib, program, c, w)
    return c


def closed(lib, c, w, body, n, reverse):
    """The weight is a closed-over value."""
    c, ys = lib.scan(lambda c, _: (run(lib, body, c, w), c * w), c, None,
                     length=n, reverse=reverse)
    return c + np.sum(ys, 0)


def carried(lib, c, w, body, n, reverse):
    """The weight is carried, in a tree."""
    def f(carry, _):
        c, w = carry['c'], carry['w'][0]
        return {'c': run(lib, body, c, w), 'w': (w * 0.75, None)}, {'y': c}

    carry, ys = lib.scan(f, {'c': c, 'w': (w, None)}, length=n,
                         reverse=reverse)
    return carry['c'] + np.sum(ys['y'], 0) * carry['w'][0]


def scanned(lib, c, w, body, n, reverse):
    """There is a weight for each step."""
    xs = [np.stack([w, w * 0.5, w + 0.25])[:n], np.arange(3)[:n]]
    c, ys = lib.scan(lambda c, x: (run(lib, body, c, x[0]), (c * x[1],)),
                     c, xs, reverse=reverse)
    return c - np.sum(ys[0], 0)


def late(lib, c, w, body, n, reverse):
    """Carries get tangents, axes, or unknown values some steps late."""
    ones = np.ones(np.shape(c))
    f = lambda k, _: ((k[1], k[2], run(lib, body, k[2], w)), k[0])
    (a, b, c), ys = lib.scan(f, (ones, ones, c * 1.0), length=n,
                             reverse=reverse)
    return a + b * c + np.sum(ys, 0)


def cond(lib, c, w, then, otherwise):
    return lib.cond(np.sum(c) > 0.3, partial(run, lib, then),
                    partial(run, lib, otherwise), c, w)


def guard(lib, c, w, then, otherwise):
    """One branch has no value and no derivative unless it is taken."""
    return lib.cond(np.min(c) > 0.2,
                    lambda c: run(lib, then, np.sqrt(np.log(c + 0.85)), w),
                    lambda c: run(lib, otherwise, 2.0 * c, w), c)


def switch(lib, c, w, *branches):
    index = (np.sum(c) > -0.5) * 1 + (np.sum(c) > 0.5)
    return lib.switch(index, [partial(run, lib, b) for b in branches], c, w)


def fori(lib, c, w, body, n):
    return lib.fori_loop(0, n, lambda i, c: run(lib, body, c, w * (i + 0.5)),
                         c)


def while_(lib, c, w, body):
    return lib.while_loop(
        lambda k: (k[0] < 3) & (np.sum(k[1]) > -0.5),
        lambda k: (k[0] + 1, run(lib, body, k[1], w)), (0, c))[1]


def jit(lib, c, w, body):
    return lib.jit(lambda c, w: run(lib, body, c, w))(c, w)


def called(lib, c, w, body):
    return lib.call(lambda c: run(lib, body, c, w), c)


def checkpoint(lib, c, w, body):
    return lib.checkpoint(lambda c: run(lib, body, c, w))(c)


def mapped(lib, c, w, body):
    f = lib.vmap(lambda w: run(lib, body, c, w))
    return np.sum(f(np.stack([w, w * 0.5])), 0)


def inner_grad(lib, c, w, body):
    return ad.grad(lambda c: np.sum(run(lib, body, c, w)))(c) * 0.25


NODES = {f.__name__.rstrip('_'): f for f in (
    step, chain, closed, carried, scanned, late, cond, guard, switch, fori,
    while_, jit, called, checkpoint, mapped, inner_grad)}


def programs(steps, loops=()):
    """Return programs with control flow; `loops` adds more kinds."""
    def grow(inner):
        scans = st.sampled_from(['closed', 'carried', 'scanned', 'late'])
        kinds = [
            st.tuples(scans, inner, st.integers(0, 3), st.booleans()),
            st.tuples(scans, inner, st.integers(2, 3), st.booleans()),
            st.tuples(st.sampled_from(['cond', 'guard']), inner, inner),
            st.tuples(st.just('switch'), inner, inner, inner),
            st.tuples(st.just('fori'), inner, st.integers(0, 3)),
            st.tuples(st.sampled_from(
                ['jit', 'called', 'checkpoint', 'mapped', *loops]), inner),
            st.tuples(st.just('chain'), inner, inner)]
        return st.one_of(kinds)

    leaf = st.tuples(st.just('step'), st.sampled_from(steps))
    return grow(st.recursive(st.tuples(st.just('chain'), leaf, leaf), grow,
                             max_leaves=3))


SHAPES = [((), ()), ((2,), ()), ((2,), (2,))]
points = st.builds(
    lambda shapes, seed, dtype: tuple(
        number(np.random.default_rng([seed, i]), shape, dtype) / 2
        for i, shape in enumerate(shapes)),
    st.sampled_from(SHAPES), st.integers(0, 2**16),
    st.sampled_from([float, np.float64]))


TRANSFORMS = {  # each primitive, and its twin
    'jvp': (moving, moving),
    'linearize': (by_linearize, by_linearize),
    'vjp': (by_vjp, by_vjp),
    'grad': (by_grad, by_grad),
    'staged': (staged, lambda f: f),
    'jit': (ad.jit, lambda f: f),
    'checkpoint': (ad.checkpoint, lambda f: f),
}
FORWARD = ['jvp', 'linearize', 'staged', 'jit']
BACK = ['vjp', 'grad', 'staged', 'jit', 'checkpoint']


def stacks(names):
    return st.lists(st.one_of(st.sampled_from(names), st.sampled_from(AXES)),
                    min_size=1, max_size=4)


def stacked(f, stack, which):
    """Return `f` under the transforms, with the last one innermost."""
    for name in reversed(stack):
        f = (TRANSFORMS[name][which](f) if name in TRANSFORMS
             else (ad.vmap, loop)[which](f, name))
    return f


def check(program, stack, point):
    """Assert that a program equals its twin under a stack of transforms."""
    f, twin = (partial(run, lib, program) for lib in (ours, unrolled))
    xs = batched(point, ['jvp' if name in TRANSFORMS else name
                         for name in stack])
    assert_agree(stacked(f, stack, 0)(*xs), stacked(twin, stack, 1)(*xs))


@examples(36)
@given(programs(BOTH_WAYS, ['inner_grad']), stacks(list(TRANSFORMS)), points)
def test_every_program_is_its_unrolled_twin(program, stack, point):
    check(program, stack, point)


@examples(18)
@given(programs([*STEPS, 'back', 'back'], ['inner_grad']),
       stacks(BACK), points)
def test_every_program_with_a_backward_rule_is_its_unrolled_twin(
        program, stack, point):
    check(program, stack, point)


@examples(18)
@given(programs(BOTH_WAYS, ['while', 'while', 'while']), stacks(FORWARD),
       points)
def test_every_program_with_a_while_loop_is_its_unrolled_twin(
        program, stack, point):
    check(program, stack, point)
