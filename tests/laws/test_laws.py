"""Laws that hold for every program, on random programs (D1: rules stay).

A program is a list of steps on a growing list of values, and each step names
an operation and its operands. Operations are total, so every list of steps is
a program: if shapes do not fit, an operand is summed first.
"""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autodiff_mini as ad
from autodiff_mini.calls.call import call
from tests.support.amount import examples
from tests.support.jvp_rules import custom_product, custom_sin
from tests.support.numerical import (
    assert_close, assert_same, assert_same_type)
from tests.support.ways import (
    AXES, assert_agree, batched, by_grad, by_linearize, by_vjp, loop, moving,
    number, staged)


def fitting(x, y):
    """Return `y`, or its sum if it cannot be broadcast with `x`."""
    pairs = zip(reversed(np.shape(x)), reversed(np.shape(y)))
    fits = all(a == b or a == 1 or b == 1 for a, b in pairs)
    return y if fits else np.sum(y)


def binary(f):
    return lambda x, y: f(x, fitting(x, y))


def matmul(x, y):
    if np.ndim(x) == np.ndim(y) == 2 and np.shape(x) == np.shape(y):
        return np.transpose(x) @ y
    return x * fitting(x, y)


OPERATIONS = {
    'sin': lambda x, y: np.sin(x),
    'sqrt': lambda x, y: np.sqrt(x * x + 1.5),
    'power': lambda x, y: np.power(np.cos(x) + 2.0, -3),
    'add': binary(lambda x, y: x + y),
    'mul': binary(lambda x, y: x * np.cos(y)),
    'div': binary(lambda x, y: x / (2 + np.sin(y))),
    'max': binary(lambda x, y: np.maximum(x, y)),
    'where': binary(lambda x, y: np.where(x < y, np.sin(y), x)),
    'sum': lambda x, y: np.sum(x) / 4,
    'sum_axis': lambda x, y: np.sum(x, axis=-1) if np.ndim(x) else x,
    'transpose': lambda x, y: np.transpose(x),
    'rows': lambda x, y: x[[0, -1]] if np.ndim(x) and len(x) else x,
    'broadcast': lambda x, y: np.broadcast_to(x, (2, *np.shape(x)))
    if np.ndim(x) < 2 else x,
    'matmul': matmul,
}

# Custom functions, with rules that say three times the truth, or another lie.

CUSTOM = {
    'custom_sin': lambda x, y: custom_sin(x),
    'custom_product': binary(custom_product),
    'call': binary(lambda x, y: call(lambda z: custom_sin(z) * y, x)),
}
NAMES = [*OPERATIONS, *CUSTOM, *CUSTOM]


def run(steps, *args):
    """Return the last value of the program."""
    values = list(args)
    for name, i, j in steps:
        x, y = values[-1 - i % len(values)], values[-1 - j % len(values)]
        values.append((OPERATIONS | CUSTOM)[name](x, y))
    return values[-1] + 0.0


def programs(max_size=8):
    step = st.tuples(st.sampled_from(NAMES), st.integers(0, 2),
                     st.integers(0, 5))
    return st.lists(step, max_size=max_size).map(
        lambda steps: partial(run, steps))


SHAPES = [(), (3,), (2, 3), (2, 1), (1,), (0, 3), (3, 3)]


@st.composite
def points(draw):
    """Return a function that makes points, with the same seed or another."""
    types = [(draw(st.sampled_from(SHAPES)),
              draw(st.sampled_from([float, np.float64]))) for _ in range(2)]
    seed = draw(st.integers(0, 2**16))

    def make(offset=0):
        rng = np.random.default_rng([seed, offset])
        return tuple(number(rng, *t) for t in types)
    return make


# Reverse mode and staging

def inner(xs, ys):
    """Return the inner product of two lists of arrays."""
    return sum(np.sum(np.asarray(x) * np.asarray(y, np.longdouble))
               for x, y in zip(xs, ys, strict=True))


@examples(30)
@given(programs(), points())
def test_the_pullback_is_the_transpose_of_the_derivative(f, point):
    """<J v, w> = <v, J^T w>"""
    x, v = point(), point(1)
    y, y_dot = ad.jvp(f, x, v)
    z, pullback = ad.vjp(f, *x)
    assert_same(z, y)
    w = np.cos(z)
    bars = pullback(w)
    for a, bar in zip(x, bars, strict=True):
        assert_same_type(bar, a)
    left, right = inner([y_dot], [w]), inner(v, bars)
    scale = 1 + inner(map(abs, v), map(abs, bars))
    assert_close(left / scale, right / scale, np.float64)


SILENT = dict(divide='ignore', invalid='ignore')
AT_A_CHOICE = {     # a program, the point, and its slopes in both modes
    'before': (lambda x: np.sqrt(np.maximum(x, 0)), -10.0, np.nan, 0),
    'after': (lambda r: np.where(r > 0, 1 / r, 0), 0.0, 0, np.nan),
    'after a nan': (
        lambda x: np.where(x > 0, np.sqrt(x), 0), -10.0, 0, np.nan),
    'both': (lambda r: np.where(r > 0, 1 / np.where(r > 0, r, 1), 0), 0.0,
             0, 0),
    'both, of a nan': (
        lambda x: np.where(x > 0, np.sqrt(np.where(x > 0, x, 1)), 0), -10.0,
        0, 0)}


@pytest.mark.parametrize('name', AT_A_CHOICE)
def test_the_modes_differ_where_a_choice_meets_an_infinite_slope(name):
    """0 times infinity is NaN, so they agree if one chooses on both sides."""
    f, point, forwards, backwards = AT_A_CHOICE[name]
    with np.errstate(**SILENT):
        for x in np.float64(point), np.full(3, point):
            t, total = np.ones_like(x), lambda x: np.sum(f(x))
            for slope in (lambda x: ad.jvp(f, (x,), (t,))[1],
                          ad.jit(lambda x: ad.jvp(f, (x,), (t,))[1])):
                np.testing.assert_array_equal(slope(x), forwards * t)
            for slope in ad.grad(total), ad.jit(ad.grad(total)):
                np.testing.assert_array_equal(slope(x), backwards * t)


STACK = {   # each transform, and its equivalent: jvp, a loop, or nothing
    'jvp': (moving, moving),
    'linearize': (by_linearize, moving),
    'vjp': (by_vjp, moving),
    'grad': (by_grad, lambda f: moving(lambda *xs: np.sum(f(*xs)))),
    'staged': (staged, lambda f: f),
}
stacks = st.lists(st.one_of(st.sampled_from(list(STACK)),
                            st.sampled_from(AXES)), min_size=1, max_size=4)


def stacked(f, stack, which):
    """Return `f` under the transforms, with the last one innermost."""
    mapped = (ad.vmap, loop)[which]
    for name in reversed(stack):
        f = STACK[name][which](f) if name in STACK else mapped(f, name)
    return f


@pytest.mark.asks('D1')
@examples(60)
@given(programs(max_size=5), points(), stacks)
def test_every_stack_of_transforms_equals_its_alternative(
        f, point, stack):
    xs = batched(point(), ['jvp' if name in STACK else name
                           for name in stack])
    actual = stacked(f, stack, 0)(*xs)
    assert_agree(actual, stacked(f, stack, 1)(*xs))
