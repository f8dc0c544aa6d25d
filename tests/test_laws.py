"""Laws that hold for every program, on random programs.

A program is a list of steps on a growing list of values; each step names an
operation and its operands.  Operations are total, so every list of steps is
a program: where shapes do not fit, an operand is summed first.
"""

from functools import partial

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import autodiff_mini as ad
from tests.numerical import (
    along,
    assert_close,
    assert_same,
    assert_same_type,
    derivative,
)

law = settings(derandomize=True, deadline=None, max_examples=150,
               database=None)


def fitting(x, y):
    """Returns `y`, or its sum where it cannot be broadcast with `x`."""
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
    'cos': lambda x, y: np.cos(x),
    'tanh': lambda x, y: np.tanh(x),
    'negative': lambda x, y: -x,
    'exp': lambda x, y: np.exp(np.sin(x)),
    'log': lambda x, y: np.log(x * x + 1),
    'sqrt': lambda x, y: np.sqrt(x * x + 1.5),
    'square': lambda x, y: np.sin(x) ** 2,
    'power': lambda x, y: np.power(np.cos(x) + 2.0, -3),
    'add': binary(lambda x, y: x + y),
    'add_number': lambda x, y: 0.5 + x,
    'sub': binary(lambda x, y: x - y),
    'mul': binary(lambda x, y: x * np.cos(y)),
    'div': binary(lambda x, y: x / (2 + np.sin(y))),
    'pow': binary(lambda x, y: (2.5 + np.sin(x)) ** np.tanh(y)),
    'max': binary(lambda x, y: np.maximum(x, y)),
    'where': binary(lambda x, y: np.where(x < y, np.sin(y), x)),
    'sum': lambda x, y: np.sum(x) / 4,
    'sum_axis': lambda x, y: np.sum(x, axis=-1) if np.ndim(x) else x,
    'keepdims': lambda x, y: np.sum(x, axis=0, keepdims=True)
    if np.ndim(x) else x,
    'transpose': lambda x, y: np.transpose(x),
    'ravel': lambda x, y: np.reshape(x, -1),
    'columns': lambda x, y: np.reshape(x, (-1, 1), order='F'),
    'newaxis': lambda x, y: x[None] if 0 < np.ndim(x) < 3 else x,
    'reversed': lambda x, y: x[::-1] if np.ndim(x) else x,
    'rows': lambda x, y: x[[0, -1]] if np.ndim(x) and len(x) else x,
    'mask': lambda x, y: x[x > 0.2] if np.ndim(x) == 1 else x,
    'first': lambda x, y: x[0] if np.ndim(x) and len(x) else x,
    'broadcast': lambda x, y: np.broadcast_to(x, (2, *np.shape(x)))
    if np.ndim(x) < 2 else x,
    'matmul': matmul,
    'stack': lambda x, y: np.stack([x, x * 2], axis=-1)
    if np.ndim(x) < 3 else x,
    'stack_two': lambda x, y: np.stack([x, y])
    if np.shape(x) == np.shape(y) and np.ndim(x) < 3 else x,
}

SMOOTH = [name for name in OPERATIONS if name not in
          ('max', 'where', 'mask')]


def run(steps, *args):
    """Returns the last value of the program."""
    values = list(args)
    for name, i, j in steps:
        x, y = values[-1 - i % len(values)], values[-1 - j % len(values)]
        values.append(OPERATIONS[name](x, y))
    return values[-1] + 0.0


def programs(names=tuple(OPERATIONS), max_size=8):
    step = st.tuples(st.sampled_from(names), st.integers(0, 2),
                     st.integers(0, 5))
    return st.lists(step, max_size=max_size).map(
        lambda steps: partial(run, steps))


SHAPES = [(), (3,), (2, 3), (2, 1), (1,), (0, 3), (3, 3)]


def number(rng, shape, dtype):
    x = rng.uniform(-2, 2, shape)
    if dtype is float and shape == ():
        return float(x)
    return np.asarray(x * (3 if np.dtype(dtype).kind == 'i' else 1), dtype)


@st.composite
def points(draw, dtypes=(float, np.float32, np.float64), n=2):
    """Returns a function that makes points, with the same seed or others."""
    types = [(draw(st.sampled_from(SHAPES)), draw(st.sampled_from(dtypes)))
             for _ in range(n)]
    seed = draw(st.integers(0, 2**16))

    def make(offset=0):
        rng = np.random.default_rng([seed, offset])
        return tuple(number(rng, *t) for t in types)
    return make


def tangent_of(f, primals, tangents):
    return ad.jvp(f, primals, tangents)[1]


def combine(a, xs, b, ys):
    """Returns `a * xs + b * ys`, with the dtypes of `xs`."""
    return tuple(type(x)(a * x + b * y) if type(x) is float
                 else np.asarray(a * x + b * y, x.dtype)
                 for x, y in zip(xs, ys, strict=True))


@law
@given(programs(), points((float, np.float32, np.float64, np.int64)))
def test_random_programs_compute_what_numpy_computes(f, point):
    primals = point()
    tangents = tuple(
        t if np.result_type(x).kind == 'f' else np.zeros(np.shape(x),
                                                         ad.float0)
        for x, t in zip(primals, point(1), strict=True))
    y, y_dot = ad.jvp(f, primals, tangents)
    assert_same(y, f(*primals))
    if np.result_type(y).kind == 'f':
        assert_same_type(y_dot, y)


@law
@given(programs(), points((float, np.float64)))
def test_tangent_is_the_numerical_derivative(f, point):
    primals, tangents = point(), point(1)
    h = 1e-5    # short, since maximum, where and masks have corners
    expected = derivative(along(f, primals, tangents), h)
    y_dot = tangent_of(f, primals, tangents)
    assert_close(np.asarray(y_dot, np.clongdouble), expected, np.float64)


@law
@given(programs(), points(), st.floats(-2, 2, width=16),
       st.floats(-2, 2, width=16))
def test_jvp_is_linear_in_the_tangent(f, point, a, b):
    x, t, u = point(), point(1), point(2)
    left = tangent_of(f, x, combine(a, t, b, u))
    ft, fu = tangent_of(f, x, t), tangent_of(f, x, u)
    assert_close(left, a * ft + b * fu, np.float32)


@law
@given(programs(), points((float, np.float64)))
def test_jvp_along_no_direction_is_zero(f, point):
    x = point()
    y_dot = tangent_of(f, x, combine(0, x, 0, x))
    assert not np.any(y_dot)


@law
@given(programs(max_size=4), programs(max_size=4), points((float,), 1))
def test_jvp_of_a_composition_is_the_composition_of_jvps(f, g, point):
    x, x_dot = point(), point(1)
    y, y_dot = ad.jvp(f, x, x_dot)
    z, z_dot = ad.jvp(g, (y,), (y_dot,))
    whole, whole_dot = ad.jvp(lambda x: g(f(x)), x, x_dot)
    assert_same(whole, z)
    assert_close(whole_dot, z_dot)


@law
@given(programs(max_size=5), programs(max_size=5), points())
def test_jvp_of_a_sum_is_the_sum_of_jvps(f, g, point):
    x, t = point(), point(1)
    h = lambda *x: np.sum(f(*x)) + np.sum(g(*x))
    left = tangent_of(h, x, t)
    right = np.sum(tangent_of(f, x, t)) + np.sum(tangent_of(g, x, t))
    assert_close(left, right, np.float32)


@law
@given(programs(max_size=5), programs(max_size=5), points((float, np.float64)))
def test_jvp_of_a_product_is_leibniz_s(f, g, point):
    x, t = point(), point(1)
    f1, g1 = (lambda *x: np.sum(f(*x))), (lambda *x: np.sum(g(*x)))
    left = tangent_of(lambda *x: f1(*x) * g1(*x), x, t)
    right = f1(*x) * tangent_of(g1, x, t) + tangent_of(f1, x, t) * g1(*x)
    assert_close(left, right)


@law
@given(programs(SMOOTH), points((float, np.float64)))
def test_second_derivatives_are_symmetric(f, point):
    x, t, u = point(), point(1), point(2)

    def second(t, u):
        return tangent_of(lambda *x: tangent_of(f, x, t), x, u)

    assert_close(second(t, u), second(u, t))


@law
@given(programs(), points((float, np.float64)))
def test_arguments_add_up(f, point):
    """The derivative along all arguments is the sum of those along each."""
    (x, y), (t, u) = point(), point(1)
    whole = tangent_of(f, (x, y), (t, u))
    left = tangent_of(lambda x: f(x, y), (x,), (t,))
    right = tangent_of(lambda y: f(x, y), (y,), (u,))
    assert_close(whole, left + right)


# Trees

trees = st.recursive(
    st.one_of(st.none(), st.integers(), st.floats(allow_nan=False)),
    lambda tree: st.one_of(
        st.lists(tree, max_size=3), st.tuples(tree, tree),
        st.dictionaries(st.text('abc', max_size=2), tree, max_size=3)),
    max_leaves=10)


@law
@given(trees)
def test_unflatten_undoes_flatten(tree):
    leaves, treedef = ad.tree_flatten(tree)
    assert ad.tree_unflatten(treedef, leaves) == tree
    assert treedef.num_leaves == len(leaves)
    assert None not in leaves


@law
@given(trees)
def test_flatten_undoes_unflatten(tree):
    treedef = ad.tree_structure(tree)
    leaves = list(range(treedef.num_leaves))
    assert ad.tree_flatten(treedef.unflatten(leaves)) == (leaves, treedef)


@law
@given(trees)
def test_tree_map_keeps_structures_and_composes(tree):
    structure = ad.tree_structure(tree)
    once = ad.tree_map(lambda x: (x, 1), tree)
    assert ad.tree_map(lambda x, pair: pair[0], tree, once) == tree
    assert ad.tree_structure(ad.tree_map(str, tree)) == structure
    assert hash(structure) == hash(ad.tree_structure(
        ad.tree_map(str, tree)))


@law
@given(trees.filter(ad.tree_leaves))
def test_jvp_of_the_identity_on_trees(tree):
    floats = ad.tree_map(float, tree)
    tangents = ad.tree_map(lambda x: 2.0, tree)
    assert ad.jvp(lambda t: t, (floats,), (tangents,)) == (floats, tangents)
