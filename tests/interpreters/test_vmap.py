"""vmap.py: a mapped function returns the stack of its results by element."""

import re
from collections import OrderedDict
from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.primitives.elementwise import add_p, mul_p, sin_p
from tests.support.amount import each
from tests.support.batches import MAPPED, SIZE, batch, batched, layouts
from tests.support.numerical import (
    assert_close, assert_same, assert_same_type, python_type)
from tests.support.tangents import coarsest, inexact_only, random_tangent
from tests.support.traces import SpyTracer, spied
from tests.support.transforms import d
from tests.support.trees import Pair

A = np.arange(6.).reshape(2, 3) + 1


def element(x, k, axis):
    """Return element `k` of `x` along an axis, or `x` if the axis is None."""
    return x if axis is None else np.moveaxis(x, axis, 0)[k]


def elements(f, args, axes, size=SIZE):
    """Return what `f` returns for each element, in a list."""
    return [f(*[element(x, k, a) for x, a in zip(args, axes, strict=True)])
            for k in range(size)]


def check_stack(f, args, axes, size=SIZE):
    """Assert that vmap of `f` is the stack of what it returns."""
    ys = ad.vmap(f, tuple(axes))(*args)
    expected = np.stack(elements(f, args, axes, size))
    assert python_type(ys) is None
    assert_same_type(ys, expected)
    assert_close(ys, expected)


INDEXED = ['index_ints_argument']      # an array, by a traced index


@each(MAPPED, composed=True)
def test_vmap_is_the_stack(program):
    f = partial(program.function, np)
    if program.name in INDEXED:
        f = on_asarray(f)
    for axes in layouts(program):
        with np.errstate(all='ignore'):
            check_stack(f, batched(program, axes), axes)


@each((program for program in MAPPED if program.is_smooth),
      composed=True)
def test_jvp_of_vmap_and_vmap_of_jvp_are_the_stack_of_jvps(program):
    f, args = inexact_only(program)
    rng, n = np.random.default_rng(0), len(args)
    xs = [batch(x) for x in args]
    ts = [np.stack([random_tangent(rng, x[k]) for k in range(SIZE)])
          for x in xs]

    def df(*args):
        return ad.jvp(f, args[:n], args[n:])[1]

    with np.errstate(all='ignore'):
        expected = np.stack(elements(df, xs + ts, [0] * 2 * n))
        ways = ad.vmap(df)(*xs, *ts), ad.jvp(ad.vmap(f), xs, ts)[1]
    for actual in ways:
        assert_same_type(actual, expected)
        assert_close(actual, expected, coarsest(program, expected))


@pytest.mark.parametrize('size', [0, 1, 100])
def test_vmap_runs_the_function_once_for_every_size(size):
    runs = []

    def f(x):
        runs.append(x.shape)
        return np.sin(x) * 2 + x

    y, counts = spied(ad.vmap(f), np.ones((size, 4)))
    assert runs == [(4,)] and y.shape == (size, 4)
    assert counts == {sin_p: 1, mul_p: 1, add_p: 1}


def test_an_empty_axis_has_the_shapes_of_any_other():
    for f in (np.sin, lambda x: x.sum(), lambda x: x[[0, 1]],
              lambda x: np.stack([x, x]), lambda x: np.ones(2),
              lambda x: x @ A.T, lambda x: x.reshape(3, 1),
              lambda x: np.broadcast_to(x, (2, 3)),
              lambda x: np.where(x > 0, x, 1), lambda x: x[np.s_[:2], None],
              lambda x: x.astype(np.float32)):
        y = ad.vmap(f)(np.ones((0, 3)))
        assert_same_type(y, np.stack([f(np.ones(3))])[:0])


def test_unmapped_values_are_computed_once():
    """Count the operations: no vmap rule runs."""
    def f(x, w):
        return x * np.sin(w), np.cos(w)

    seen = []
    y, counts = spied(lambda w: ad.vmap(
        lambda x: seen.append(f(x, w)) or seen[0][0])(np.ones(2)), 0.5)
    assert counts[sin_p] == 1
    assert type(seen[0][1]) is SpyTracer     # without a BatchTracer around it


# in_axes

@pytest.mark.parametrize('axis', range(-3, 3))
def test_in_axes_and_out_axes_take_every_axis(axis):
    x = np.arange(24.).reshape(2, 3, 4)
    elements = np.moveaxis(x, axis, 0)
    assert_same(ad.vmap(lambda x: x * x.shape[0], axis)(x),
                elements * elements.shape[1])
    assert_same(ad.vmap(np.sin, 0, axis)(x),
                np.moveaxis(np.sin(x), 0, axis))
    unmapped = ad.vmap(lambda _: x, 0, axis)(np.arange(5))
    assert_same(unmapped, np.stack([x] * 5, axis))
    for inner in range(-2, 2):
        y = ad.vmap(ad.vmap(lambda x: x.sum() * x, inner), axis)(x)
        expected = np.moveaxis(elements, 1 + inner % 2, 1)
        assert_same(y, expected * expected.sum(2, keepdims=True))


TREE_AXES = {
    'dict_prefix': ({'w': 0, 'b': None}, {'w': [A, A], 'b': (5., A[0])}),
    'namedtuple_prefix': (Pair(1, (None, 0)), Pair([A.T], (1., A))),
    'ordered': (OrderedDict(b=0, a=None), OrderedDict(b=A, a=5.)),
}


@pytest.mark.parametrize('name', TREE_AXES)
def test_axes_are_prefixes_of_trees(name):
    axes, tree = TREE_AXES[name]
    double = ad.vmap(partial(ad.tree_map, lambda x: 2 * x), (axes,), axes)
    ad.tree_map(assert_same, double(tree),
                ad.tree_map(lambda x: 2 * x, tree))


def test_unmapped_values_stay_unchanged():
    thing = object()

    def f(x, given, word):
        assert given is thing
        return {'upper': np.sin, 'lower': np.cos}[word['w']](x)

    g = ad.vmap(f, (0, None, {'w': None}))
    assert_same(g(A, thing, {'w': 'lower'}), np.cos(A))
    y, (z, w) = ad.vmap(lambda x: (x, (x.sum(), 5.)), 0, (1, (0, None)))(A)
    ad.tree_map(assert_same, [y, z, w], [A.T, A.sum(1), 5.])
    everything = ad.vmap(lambda x, word: x * len(word), None, axis_size=2)
    assert_same(everything(1.0, 'abc'), np.full(2, 3.0))
    assert_same(ad.vmap(lambda: 2.5, axis_size=4)(), np.full(4, 2.5))
    with pytest.raises(TypeError, match=r'args\[1\].*type str'):
        ad.vmap(f, (None, 0, None))(1.0, 'abc', 'upper')


def test_keyword_arguments_are_mapped_over_axis_0():
    f = ad.vmap(lambda x, y=1.0, *, z: x * y + z, (1,))
    assert_same(f(A.T, z=A), A + A)
    assert_same(f(A.T, y=np.array([2., 3.]), z=A),
                A * [[2.], [3.]] + A)
    g = ad.vmap(lambda *, p: p['a'] + p['b'], None)
    assert_same(g(p={'a': A, 'b': A}), 2 * A)


# Indexing

X = np.arange(120.).reshape(2, 3, 4, 5)
I, J = np.array([2, 0, 2]), np.array([[0, 1, 1], [2, 3, 0]])
LAYOUTS = {
    'last': lambda x, i, j: x[..., i],
    'side_by_side_behind': lambda x, i, j: x[:, i, j],
    'two_between_ellipsis_and_slice': lambda x, i, j: x[..., i, j, :],
    'apart': lambda x, i, j: x[i, :, j],
    'apart_by_newaxis': lambda x, i, j: x[i, None, j],
    'integer_apart': lambda x, i, j: x[0, :, i],
    'scalar_apart': lambda x, i, j: x[i[0], :, j],
    'outer_of_two': lambda x, i, j: x[i[:, None], j[0]],
    'static_mask_apart':
        lambda x, i, j: x[np.array([True, True, True]), :, i],
    'ellipsis_mask_array': lambda x, i, j: x[..., np.eye(3, 4) > 0, i],
    'array_and_true_apart': lambda x, i, j: x[i, :, True],
}
INDEX_AXES = [(0, None, None), (None, 0, None), (None, None, 0),
              (0, 0, None), (0, None, 0), (None, 0, 0), (0, 0, 0),
              (2, 1, 1), (-1, -1, None)]


def on_asarray(f):
    """NumPy does not ask the tracer about `x[i]` if only `i` is traced."""
    return lambda x, *args: f(ad.asarray(x), *args)


def index_operands(axes):
    """Return an array, and two arrays of indices that are batched twice."""
    i, j = np.stack([I, I - 1]) % 3, np.stack([J % 3, (J + 1) % 3])
    batches = X, i, j
    return [b[0] if axis is None else np.moveaxis(b, 0, axis)
            for b, axis in zip(batches, axes)]


@pytest.mark.parametrize('name', LAYOUTS)
def test_every_layout_of_indices_is_the_stack(name):
    f = on_asarray(LAYOUTS[name])
    for axes in INDEX_AXES:
        xs = index_operands(axes)
        check_stack(f, xs, axes, 2)
        # The outer vmap maps what the inner one does not.
        outer = tuple(0 if a is None else None for a in axes)
        if 0 in outer and {*axes} <= {0, None}:
            check_stack(ad.vmap(f, axes), index_operands((0, 0, 0)), outer, 2)


def test_mapped_masks_name_where():
    """D3."""
    for f in (lambda x: x[x > 2], lambda x: ad.asarray(A[0])[x > 2]):
        with pytest.raises(TypeError,
                           match=r'boolean index .*np\.where\(mask, '):
            ad.vmap(f)(A)


@pytest.mark.asks('D3')
def test_truth_of_a_traced_value_names_the_line():
    def f(x):
        positive = x > 0
        return x if positive else -x

    line = f.__code__.co_firstlineno + 1
    with pytest.raises(ad.TracerBoolConversionError) as info:
        ad.vmap(f)(np.ones(3))
    message = str(info.value)
    assert 'Attempted boolean conversion of traced array' in message
    assert f'BatchTracer<bool[]> made at {__file__}:{line}' in message
    assert 'np.where' in message


# Errors

ERRORS = {
    'bool_axis': (True, (A,), TypeError,
                  'in_axes must be an int, None, or a tuple.*got True'),
    'axis_too_large': (2, (A,), ValueError, (
        r'args\[0\].*axis 2, which implies that the rank should be at least '
        r'3, but it is only 2 \(the type is float64\[2,3\]\)')),
    'scalar': (0, (1.0,), ValueError,
               r'args\[0\].*axis 0.*at least 1.*only 0.*in_axes to None'),
    'in_a_tree': (0, ({'a': [A, 1.0]},), ValueError,
                  r"args\[0\]\['a'\]\[1\]: vmap was requested"),
    'sizes': (0, (A, A.T), ValueError, (
        r'inconsistent sizes for array axes to be mapped: .*args\[0\] has '
        r'length 2, .*args\[1\] has length 3')),
    'nothing_mapped': (None, (A,), ValueError,
                       'must have at least one non-None value in in_axes'),
    'too_few': ([0], (A, A), ValueError, (
        r'in_axes must have an entry for each .* \(2\), .*got \(0,\)')),
    'tuple_for_namedtuple': (((0, 0),), (Pair(A, A),), ValueError,
                             'Pair'),
}


def unreached(*args):
    raise AssertionError('unreached must not be called')


@pytest.mark.parametrize('name', ERRORS)
def test_wrong_calls_are_named(name):
    in_axes, args, error, words = ERRORS[name]
    with pytest.raises(error, match=words) as info:
        ad.vmap(unreached, in_axes)(*args)
    assert re.search('inconsistent|vmap of unreached', str(info.value))


@pytest.mark.parametrize('out_axes, out, error, words', [
    (None, lambda x: x, ValueError,
     'output of .*: vmap has mapped output but out_axes is None. Set'),
    (2, lambda x: x, ValueError,
     'out_axes is 2, but the output has 2 .*must be between -2 and 1'),
    ([0, 0], lambda x: (x, x), ValueError, r'out_axes.*\(\*, \*\)'),
    (True, lambda x: x, ValueError, 'out_axes must be .* got True'),
    (0, lambda x: 'text', TypeError, 'output of .*type str'),
    (0, lambda x: (x, np.sin), TypeError, r'output of .*\[1\].*ufunc'),
])
def test_wrong_outputs_are_named(out_axes, out, error, words):
    with pytest.raises(error, match=words) as info:
        ad.vmap(out, 0, out_axes)(A)
    assert 'lambda in line' in str(info.value)
    assert_same(ad.vmap(np.sin)(A), np.sin(A))


def test_the_batch_axis_is_hidden_from_elements():
    for f in (
            lambda x: x + np.ones(2),       # 3 and 2, though the batch is 2
            lambda x: np.stack([x, np.ones(2)]), lambda x: x.sum(1),
            lambda x: x.sum(axis=-2), lambda x: x.transpose(1, 0),
            lambda x: x[0, 0], lambda x: x[3], lambda x: np.stack([x], 2),
            lambda x: x.reshape(2, 3), lambda x: np.reshape(x, (2, -1)),
            lambda x: np.broadcast_to(x, (2, 4)), lambda x: x @ A):
        for program in (lambda: f(A[0]), lambda: ad.vmap(f)(A)):
            with pytest.raises((ValueError, IndexError)):
                program()


# With jvp

def test_a_mapped_function_closes_over_an_outer_tracer():
    f = lambda w: ad.vmap(lambda x: x * w + w)(np.arange(3.))
    assert_same(ad.jvp(f, (2.0,), (1.0,))[1], np.arange(3.) + 1)
    g = lambda w: ad.vmap(lambda x: w, 0, None)(np.arange(3.))
    assert ad.jvp(g, (2.0,), (5.0,)) == (2.0, 5.0)


def test_nested_jvp_and_vmap_keep_tags_apart():
    """Siskind and Pearlmutter's trap, for each element."""
    f = lambda x: x * d(lambda y: x + y)(1.0)
    assert_same(ad.vmap(d(f))(np.arange(3.)), np.ones(3))
    assert_same(d(ad.vmap(f))(np.arange(3.)), np.ones(3))


def test_weak_tangents_stay_weak_under_vmap():
    x = np.arange(3, dtype=np.float32)
    y, y_dot = ad.vmap(lambda x: ad.jvp(lambda t: x * t, (1.5,), (1.0,)))(x)
    assert_same_type(y, x)
    assert_same_type(y_dot, x)


def test_a_mapped_tangent_of_a_python_number_is_not_weak():
    """No element of an array is weak, though its primal is."""
    t = np.arange(3.)
    y, y_dot = ad.vmap(lambda t: ad.jvp(lambda x: x * x, (2.0,), (t,)))(t)
    assert_same(y_dot, 4 * t)


def test_a_batch_of_rows_times_a_matrix_is_one_product():
    _, counts = spied(ad.vmap(lambda x: x @ A.T), np.ones((5, 3)))
    assert sum(counts.values()) == 1


@pytest.mark.parametrize('axes', [(0, None), (None, 0), (0, 0)])
def test_elements_broadcast_at_their_ends(axes):
    """The batch has the sizes of the axes, so mixed-up axes would fit."""
    rng = np.random.default_rng(1)
    for shapes in ([(), (3,)], [(3,), (2, 3)], [(2, 3), (3,)], [(2, 1), (3,)],
                   [(2, 1, 3), (4, 1)], [(4,), (4, 4, 4)]):
        for size in (1, 2, 3, 4):
            xs = [rng.normal(size=shape if axis is None else (size, *shape))
                  for shape, axis in zip(shapes, axes)]
            check_stack(lambda x, y: np.where(x > y, x, y), xs, axes, size)


def test_a_product_with_a_number_is_numpys_error_under_vmap():
    """`2.0 @ x` was an AttributeError, and a mapped number a wrong size."""
    for f in (lambda x: 2.0 @ x, lambda x: x @ 2.0, lambda x: x[0] @ x,
              lambda x: np.matmul(x, x[1])):
        with pytest.raises(ValueError, match='not have enough dimensions'):
            f(np.ones(2))
        with pytest.raises(ValueError, match='not have enough dimensions'):
            ad.vmap(f)(np.ones((2, 2)))
