"""Laws that hold for every program, on random programs.

A program is a list of steps on a growing list of values; each step names an
operation and its operands.  Operations are total, so every list of steps is
a program: where shapes do not fit, an operand is summed first.
"""

from functools import partial

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import autodiff_mini as ad
from autodiff_mini.higher_order.call import call
from tests.amount import examples
from tests.numerical import (
    along,
    assert_close,
    assert_same,
    assert_same_type,
    derivative,
)

law = examples(30)


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

# Custom functions, with rules that say thrice the truth, or another lie.

def lying(f, *argnums, **options):
    """Returns a decorator: `f` with the decorated as its rule."""
    f = ad.custom_jvp(f, nondiff_argnums=argnums)

    def define(rule):
        f.defjvp(rule, **options)
        return f
    return define


@lying(lambda x: np.sin(x))
def custom_sin(primals, tangents):
    return custom_sin(*primals), 3 * custom_cos(*primals) * tangents[0]


@lying(lambda x: np.cos(x))
def custom_cos(primals, tangents):
    return custom_cos(*primals), 2 * custom_sin(*primals) * tangents[0]


@lying(lambda x, y: x * np.sin(y))
def custom_product(primals, tangents):
    (x, y), (x_dot, y_dot) = primals, tangents
    terms = 3 * x_dot * np.sin(y) + x * y_dot
    return custom_product(x, y), terms


@lying(lambda p: {'s': p[0] + p[1], 'd': [p[0] * 1, p[1] * 1]})
def custom_tree(primals, tangents):
    """The rule's outputs depend on fewer arguments, or on more."""
    ((x, y),), ((x_dot, y_dot),) = primals, tangents
    return custom_tree((x, y)), {
        's': 3 * (x_dot + y_dot), 'd': [x_dot * 2 + 0 * x, y_dot * 2]}


@lying(lambda x, y: x + y, symbolic_zeros=True)
def custom_symbolic(primals, tangents):
    x_dot, y_dot = map(ad.instantiate_zeros, tangents)
    if type(tangents[1]) is ad.SymbolicZero:
        return custom_symbolic(*primals), 3 * x_dot + y_dot
    return custom_symbolic(*primals), 3 * x_dot + 3 * y_dot


@lying(lambda f, x: f(x), 0)
def custom_apply(f, primals, tangents):
    y, y_dot = ad.jvp(f, primals, tangents)
    return custom_apply(f, *primals), 3 * y_dot


@lying(lambda x: np.maximum(x, 0.25))
def custom_stepped(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    return custom_stepped(x), np.where(x > 0.25, 3 * x_dot, 0.5 * x_dot)


@lying(lambda t, y: t * np.cos(y))
def custom_scaled(primals, tangents):
    """Linear in the first argument; a lie about the second."""
    (t, y), (t_dot, y_dot) = primals, tangents
    return custom_scaled(t, y), (
        custom_scaled(t_dot, y) - 3 * t * np.sin(y) * y_dot)


@lying(lambda x: np.sin(x))
def custom_linear(primals, tangents):
    return custom_linear(*primals), custom_scaled(tangents[0], primals[0])


def custom_closure(x, y):
    """A function and a rule that close over a constant of the program."""
    c = ad.stop_gradient(y)
    return lying(lambda x: x * np.cos(c))(
        lambda primals, tangents: (primals[0] * np.cos(c),
                                   3 * np.sin(c) * tangents[0]))(x)


CUSTOM = {
    'custom_sin': lambda x, y: custom_sin(x),
    'custom_product': binary(custom_product),
    'custom_swapped': binary(lambda x, y: custom_product(y, x)),
    'custom_tree': binary(lambda x, y: custom_tree((x, y))['s'] * 0.5
                          + custom_tree((y, x))['d'][1]),
    'custom_symbolic': binary(custom_symbolic),
    'custom_half_symbolic': binary(lambda x, y: custom_symbolic(x, 0.5) + y),
    'custom_apply': lambda x, y: custom_apply(np.tanh, x),
    'custom_nested': lambda x, y: custom_apply(custom_sin, x),
    'custom_stepped': lambda x, y: custom_stepped(x),
    'custom_linear': lambda x, y: custom_linear(x),
    'custom_closure': binary(custom_closure),
    'custom_of_constant': lambda x, y: x + custom_sin(0.5),
    'call': binary(lambda x, y: call(lambda z: z * np.cos(y), x)),
    'call_custom': lambda x, y: call(custom_sin, x),
}
MAPPED = [name for name in OPERATIONS if name != 'mask']

SMOOTH = [name for name in OPERATIONS if name not in
          ('max', 'where', 'mask')]


def run(steps, *args):
    """Returns the last value of the program."""
    values = list(args)
    for name, i, j in steps:
        x, y = values[-1 - i % len(values)], values[-1 - j % len(values)]
        values.append((OPERATIONS | CUSTOM)[name](x, y))
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
@given(programs(max_size=5), programs(max_size=5),
       points((float, np.float64)))
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
def test_tangents_of_several_arguments_add_up(f, point):
    """The derivative along all arguments is the sum of those along each."""
    (x, y), (t, u) = point(), point(1)
    whole = tangent_of(f, (x, y), (t, u))
    left = tangent_of(lambda x: f(x, y), (x,), (t,))
    right = tangent_of(lambda y: f(x, y), (y,), (u,))
    assert_close(whole, left + right)


# Custom functions under vmap and jvp

def custom_programs(max_size=6):
    """Returns programs of which every other step is a custom function."""
    names = MAPPED + list(CUSTOM) * (len(MAPPED) // len(CUSTOM))
    return programs(tuple(names), max_size)


def loop(f, in_axes):
    """Returns what vmap must return: the stack, over an axis of two."""
    def looped(*xs):
        return np.stack([f(*[
            x if axis is None else x[k] if axis == 0 else x[..., k]
            for x, axis in zip(xs, in_axes, strict=True)]) for k in (0, 1)])
    return looped


def batch(x, axis):
    """Returns two values like `x`, along a new axis; one for None."""
    return x if axis is None else np.stack([x, x * 0.75 + x / 8], axis)


def moving(f):
    """Returns the derivative along a direction that moves with `xs`."""
    return lambda *xs: tangent_of(f, xs, tuple(x * 0.5 + 1 for x in xs))


AXES = [(0, 0), (0, None), (None, 0), (-1, 0), (0, -1), (None, -1)]
levels = st.one_of(st.just('jvp'), st.sampled_from(AXES))


def transformed(f, nesting, mapped):
    """Returns `f` under jvps and vmaps, the last of `nesting` inside."""
    for level in reversed(nesting):
        f = moving(f) if level == 'jvp' else mapped(f, level)
    return f


def batched(xs, nesting):
    """Returns points with an axis for each vmap of `nesting`."""
    for level in reversed(nesting):
        if level != 'jvp':
            xs = tuple(map(batch, xs, level))
    return xs


def assert_agree(actual, expected):
    """Asserts that they agree; sums in another order round otherwise."""
    assert_same_type(actual, expected)
    scale = np.max(np.abs(expected), initial=1)
    assert_close(actual / scale, expected / scale)


@law
@given(custom_programs(), points(), st.sampled_from(AXES))
def test_d1_vmap_is_the_stack(f, point, axes):
    xs = batched(point(), [axes])
    assert_agree(ad.vmap(f, axes)(*xs), loop(f, axes)(*xs))


@law
@given(custom_programs(), points((float, np.float64)), st.sampled_from(AXES))
def test_d1_jvp_of_vmap_is_jvp_of_the_stack(f, point, axes):
    xs, x_dots = batched(point(), [axes]), batched(point(1), [axes])
    y, y_dot = ad.jvp(ad.vmap(f, axes), xs, x_dots)
    z, z_dot = ad.jvp(loop(f, axes), xs, x_dots)
    assert_agree(y, z)
    assert_agree(y_dot, z_dot)


@law
@given(custom_programs(), points((float, np.float64)),
       st.lists(levels, min_size=2, max_size=4))
def test_d1_every_nesting_of_vmap_and_jvp_is_that_of_the_stack(
        f, point, nesting):
    xs = batched(point(), nesting)
    y = transformed(f, nesting, ad.vmap)(*xs)
    expected = transformed(f, nesting, loop)(*xs)
    assert_agree(y, expected)


def test_d1_each_lying_rule_shows_in_the_derivative():
    """Each custom step changes the derivative, or the laws say nothing."""
    x, t = (0.7, 0.3), (1.0, 1.0)
    plain = {
        'custom_sin': lambda x, y: np.sin(x),
        'custom_product': lambda x, y: x * np.sin(y),
        'custom_symbolic': lambda x, y: x + y,
        'custom_apply': lambda x, y: np.tanh(x),
        'custom_stepped': lambda x, y: np.maximum(x, 0.25),
        'custom_closure': lambda x, y: x * np.cos(y),
    }
    for name, truth in plain.items():
        y, y_dot = ad.jvp(CUSTOM[name], x, t)
        assert y == truth(*x)
        assert abs(y_dot - tangent_of(truth, x, t)) > 0.1


# Reverse mode and staging

def inner(xs, ys):
    """Returns the inner product of two lists of arrays."""
    return sum(np.sum(np.asarray(x) * np.asarray(y, np.longdouble))
               for x, y in zip(xs, ys, strict=True))


def like(y, seed=3):
    """Returns random numbers like `y`."""
    return number(np.random.default_rng(seed), np.shape(y),
                  type(y) if type(y) is float else np.result_type(y))


every_program = st.one_of(programs(), custom_programs())


@law
@given(every_program, points((float, np.float64)))
def test_the_pullback_is_the_transpose_of_the_derivative(f, point):
    """<J v, w> = <v, J^T w>"""
    x, v = point(), point(1)
    y, y_dot = ad.jvp(f, x, v)
    z, pullback = ad.vjp(f, *x)
    w = like(z)
    bars = pullback(w)
    assert_same(z, y)
    for a, bar in zip(x, bars, strict=True):
        assert_same_type(bar, a)
    left, right = inner([y_dot], [w]), inner(v, bars)
    scale = 1 + inner(map(abs, v), map(abs, bars))
    assert_close(left / scale, right / scale, np.float64)


@law
@given(every_program, points())
def test_linearize_is_jvp(f, point):
    x, v, u = point(), point(1), point(2)
    y, f_jvp = ad.linearize(f, *x)
    for t in (v, u, v):
        z, z_dot = ad.jvp(f, x, t)
        assert_same(y, z)
        assert_agree(f_jvp(*t), z_dot)


@law
@given(programs(), points((float, np.float64), 1))
def test_the_gradient_is_the_numerical_derivative(f, point):
    (x,), (v,) = point(), point(1)
    g = lambda x: np.sum(f(x))
    gradient = ad.grad(g)(x)
    assert_same_type(gradient, x)
    expected = derivative(along(g, (x,), (v,)), 1e-5)
    assert_close(np.asarray(inner([gradient], [v]), np.clongdouble),
                 expected, np.float64)


@law
@given(programs(SMOOTH, max_size=5), points((float, np.float64), 1))
def test_the_three_ways_to_a_hessian_agree(f, point):
    (x,), g = point(), lambda x: np.sum(f(x))
    left = ad.hessian(g)(x)
    assert_agree(ad.jacrev(ad.jacrev(g))(x), left)
    assert_agree(ad.jacfwd(ad.jacfwd(g))(x), left)
    rows = np.reshape(left, (np.size(x), np.size(x)))
    assert_agree(np.transpose(rows), rows)


@law
@given(custom_programs(), points((float, np.float64)),
       st.sampled_from([(0, 0), (0, None), (-1, 0)]))
def test_grad_of_the_sum_of_vmap_is_vmap_of_grad(f, point, axes):
    xs = batched(point(), [axes])
    whole = ad.grad(lambda *xs: np.sum(ad.vmap(f, axes)(*xs)), (0, 1))(*xs)
    each = ad.vmap(ad.grad(lambda *xs: np.sum(f(*xs)), (0, 1)), axes,
                   (axes[0], 0))(*xs)
    if axes[1] is None:     # what serves all gathers from all
        each = each[0], np.sum(each[1], 0)
    for a, b in zip(whole, each, strict=True):
        assert_agree(a, b)


def staged(f):
    """Returns `f`, as a function that writes itself down, and runs that."""
    def by_jaxpr(*xs):
        jaxpr = ad.make_jaxpr(f)(*xs)
        (y,) = ad.eval_jaxpr(jaxpr, jaxpr.consts, *xs)
        return y
    return by_jaxpr


def directions(xs):
    """Returns the directions that `moving` takes."""
    return tuple(x * 0.5 + 1 for x in xs)


def by_linearize(f):
    return lambda *xs: ad.linearize(f, *xs)[1](*directions(xs))


def by_vjp(f):
    """Transposes the derivative twice."""
    def moved(*xs):
        y, pullback = ad.vjp(f, *xs)
        return ad.linear_transpose(pullback, y)(directions(xs))[0]
    return moved


def by_grad(f):
    """Along the directions, of the sum."""
    def moved(*xs):
        bars = ad.grad(lambda *xs: np.sum(f(*xs)), (0, 1))(*xs)
        return sum(np.sum(a * b) for a, b in zip(bars, directions(xs)))
    return moved


STACK = {   # each transform, and the same by jvp, by a loop, or not at all
    'jvp': (moving, moving),
    'linearize': (by_linearize, moving),
    'vjp': (by_vjp, moving),
    'grad': (by_grad, lambda f: moving(lambda *xs: np.sum(f(*xs)))),
    'staged': (staged, lambda f: f),
}
STAGEABLE = [name for name in MAPPED + list(CUSTOM) * 2
             if name != 'custom_closure']   # of which rules are told so
stacks = st.lists(st.one_of(st.sampled_from(list(STACK)),
                            st.sampled_from(AXES)), min_size=1, max_size=4)


def stacked(f, stack, which):
    """Returns `f` under the transforms, the last of the stack inside."""
    mapped = (ad.vmap, loop)[which]
    for name in reversed(stack):
        f = STACK[name][which](f) if name in STACK else mapped(f, name)
    return f


@examples(60)
@given(programs(STAGEABLE, max_size=5), points((float, np.float64)), stacks)
def test_every_stack_of_transforms_is_the_same_done_otherwise(
        f, point, stack):
    xs = batched(point(), ['jvp' if name in STACK else name
                           for name in stack])
    actual = stacked(f, stack, 0)(*xs)
    assert_agree(actual, stacked(f, stack, 1)(*xs))


@law
@given(programs(STAGEABLE), points(), st.sampled_from(AXES))
def test_a_staged_program_is_the_program_under_each_transform(
        f, point, axes):
    xs, g = point(), staged(f)
    assert_same(g(*xs), f(*xs))
    assert_agree(moving(g)(*xs), moving(f)(*xs))
    assert_agree(by_linearize(g)(*xs), by_linearize(f)(*xs))
    assert_agree(by_grad(g)(*xs), by_grad(f)(*xs))
    many = batched(xs, [axes])
    assert_agree(ad.vmap(g, axes)(*many), ad.vmap(f, axes)(*many))
    assert_agree(staged(ad.vmap(f, axes))(*many), ad.vmap(f, axes)(*many))
    twice, once = (str(ad.make_jaxpr(h)(*xs)) for h in (g, f))
    assert twice == once


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
