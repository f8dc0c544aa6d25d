"""Derivatives for users: linearize, vjp, grad, Jacobians, Hessians.

Values are compared with closed forms.  That every program of the table is
transposed rightly is tested in tests/test_transpose.py.
"""

import math
import re
from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core import Trace, current_trace
from tests.numerical import assert_close, assert_same
from tests.test_custom_jvp import Pair, assert_trees, custom, d

X = np.array([0.5, 1.5, 2.5])
Y = np.array([2.0, -1.0, 0.25])
M = np.arange(6.).reshape(2, 3) / 4 + 0.5
SINGLE = X.astype(np.float32)
HALF = X.astype(np.float16)


def is_float0(x, shape):
    return x.dtype == ad.float0 and x.shape == shape


def weighted(x, y, z):
    """Returns x y^2 z^3, summed."""
    return np.sum(x * y ** 2 * z ** 3)


# argnums

GRADIENTS = {0: 2.0 ** 2 * 3.0 ** 3, 1: 2 * 5.0 * 2.0 * 3.0 ** 3,
             2: 3 * 5.0 * 2.0 ** 2 * 3.0 ** 2}


@pytest.mark.parametrize('argnums', [0, 1, 2, -1, -3, np.int64(1)])
def test_argnums_is_a_position(argnums):
    gradient = ad.grad(weighted, argnums)(5.0, 2.0, 3.0)
    assert_same(gradient, GRADIENTS[argnums % 3])
    for jacobian in (ad.jacfwd, ad.jacrev):
        assert jacobian(weighted, argnums)(5.0, 2.0, 3.0) == gradient


@pytest.mark.parametrize('argnums', [
    (0,), (1, 2), (2, 0), (-1, 0), (-1, -2, -3), [1, 0], ()])
def test_argnums_is_a_tuple_in_any_order(argnums):
    expected = tuple(GRADIENTS[i % 3] for i in argnums)
    args = 5.0, 2.0, 3.0
    assert ad.grad(weighted, argnums)(*args) == expected
    value, gradient = ad.value_and_grad(weighted, argnums)(*args)
    assert (value, gradient) == (weighted(*args), expected)
    if argnums:
        for jacobian in (ad.jacfwd, ad.jacrev):
            assert jacobian(weighted, argnums)(*args) == expected


def test_what_is_no_argnum_may_be_anything():
    def f(x, how, *, times, names):
        assert how == 'twice' and names == [None, 'a']
        return x ** 2 * times

    assert ad.grad(f)(3.0, 'twice', times=2, names=[None, 'a']) == 12.0
    args = (lambda how, x: how(x)), np.sin, 0.5
    assert ad.grad(args[0], 1)(*args[1:]) == np.cos(0.5)
    assert ad.jacfwd(args[0], 1)(*args[1:]) == np.cos(0.5)
    assert ad.jacrev(args[0], 1)(*args[1:]) == np.cos(0.5)


def test_keywords_are_held_fixed():
    f = lambda x, y=2.0, *, z: x * y * z
    assert ad.grad(f)(3.0, z=5.0) == 10.0
    assert ad.grad(f)(3.0, y=7.0, z=5.0) == 35.0
    assert ad.value_and_grad(f)(3.0, z=5.0) == (30.0, 10.0)
    assert ad.hessian(lambda x, *, z: x ** 2 * z)(3.0, z=5.0) == 10.0
    # also when they are being differentiated from outside
    assert ad.grad(lambda z: ad.grad(f)(3.0, z=z))(5.0) == 2.0


# has_aux

def test_has_aux_passes_the_second_output_on():
    def f(x):
        return x ** 2, {'x': x, 'also': [np.sin(x), None, 7]}

    aux = {'x': 3.0, 'also': [np.sin(3.0), None, 7]}
    assert ad.grad(f, has_aux=True)(3.0) == (6.0, aux)
    assert ad.value_and_grad(f, has_aux=True)(3.0) == ((9.0, aux), 6.0)
    y, f_vjp, got = ad.vjp(f, 3.0, has_aux=True)
    assert (y, f_vjp(1.0), got) == (9.0, (6.0,), aux)
    y, f_jvp, got = ad.linearize(f, 3.0, has_aux=True)
    assert (y, f_jvp(1.0), got) == (9.0, 6.0, aux)


def test_aux_may_be_anything_and_is_not_traced():
    kept = object()
    _, aux = ad.grad(lambda x: (x, ('text', kept)), has_aux=True)(1.0)
    assert aux == ('text', kept)
    _, aux = ad.grad(lambda x: (x, (x, np.sum(x))), has_aux=True)(2.0)
    assert not any(isinstance(x, ad.Tracer) for x in aux)


def test_the_linear_function_says_nothing_of_aux():
    _, f_jvp, _ = ad.linearize(lambda x: (2 * x, np.sin(x)), X, has_aux=True)
    assert len(f_jvp.program.jaxpr.outvars) == 1
    assert_same(f_jvp(Y), 2 * Y)


def test_aux_is_traced_by_an_outer_transformation():
    f = ad.grad(lambda x: (x ** 2, x ** 3), has_aux=True)
    assert ad.grad(lambda x: f(x)[1])(2.0) == 12.0
    assert_same(ad.vmap(f)(X)[1], X ** 3)


# What gradients are: structures, types, memory

def test_python_numbers_have_gradients_that_are_python_numbers():
    gradient = ad.grad(lambda p: p['a'] * p['b'][0])({'a': 2.0, 'b': [3.0]})
    assert_trees(gradient, {'a': 3.0, 'b': [2.0]})
    assert_same(ad.grad(np.sin)(0.5), math.cos(0.5))
    # beside an array too, whose dtype they do not change
    x_bar, t_bar = ad.grad(lambda x, t: np.sum(x * t), (0, 1))(SINGLE, 2.0)
    assert_same(x_bar, np.full(3, 2, np.float32))
    assert_same(t_bar, 4.5)


@pytest.mark.parametrize('dtype', [np.float16, np.float32, np.float64,
                                   np.longdouble])
def test_gradients_have_the_dtype_of_their_argument(dtype):
    x = X.astype(dtype)
    f = lambda x: np.sum(np.sin(x) * 2.0 + x ** 2)
    assert ad.grad(f)(x).dtype == dtype
    assert ad.grad(f)(x[0]).dtype == dtype
    assert ad.value_and_grad(f)(x)[0].dtype == dtype
    assert ad.hessian(f)(x).dtype == dtype
    assert ad.jacfwd(ad.grad(f))(x).dtype == dtype
    # each its own, whatever it met
    x_bar, y_bar = ad.grad(lambda x, y: np.sum(x * y), (0, 1))(x, SINGLE)
    assert (x_bar.dtype, y_bar.dtype) == (dtype, np.float32)


def test_jacobians_have_the_dtype_of_one_side():
    """Columns are tangents of outputs, rows are cotangents of inputs."""
    f = lambda x: x.astype(np.float64) * 2
    assert_same(ad.jacfwd(f)(SINGLE), 2 * np.eye(3))
    assert_same(ad.jacrev(f)(SINGLE), 2 * np.eye(3, dtype=np.float32))


def test_derivatives_without_axes_are_scalars_as_from_numpy():
    f = lambda x: np.sum(x * x)
    x = np.asarray(3.0)     # an array, and NumPy makes scalars of such
    for y in (ad.grad(f)(x), ad.hessian(f)(x), ad.hessian(f)(3.0),
              ad.jacfwd(f)(x), ad.jacrev(f)(3.0), ad.vjp(f, x)[1](1.0)[0]):
        assert type(y) is np.float64
    assert type(ad.grad(f)(3.0)) is float


def test_what_is_not_used_has_zeros_of_its_own_kind():
    p = {'s': SINGLE, 'x': 2.0, 'n': np.arange(2), 'b': True, 'h': HALF[0]}
    bars = ad.grad(lambda x, p: x * 3, (0, 1), allow_int=True)(1.0, p)
    assert bars[0] == 3.0
    zeros = bars[1]
    assert_same(zeros['s'], np.zeros(3, np.float32))
    assert_same(zeros['x'], 0.0)
    assert_same(zeros['h'], np.float16(0))
    assert is_float0(zeros['n'], (2,)) and is_float0(zeros['b'], ())


def test_integers_have_float0_gradients():
    f = lambda x, n: np.sum(x * n)
    x_bar, n_bar = ad.vjp(f, X, np.arange(3))[1](1.0)
    assert_same(x_bar, np.arange(3.))
    assert is_float0(n_bar, (3,))
    assert is_float0(ad.grad(f, 1, allow_int=True)(X, 2), ())
    value, bars = ad.value_and_grad(f, (1, 0), allow_int=True)(X, 2)
    assert value == 9.0 and is_float0(bars[0], ())
    assert_same(bars[1], np.full(3, 2.0))
    y, f_jvp = ad.linearize(f, X, np.arange(3))
    assert f_jvp(X, np.zeros(3, ad.float0)) == f(X, np.arange(3))


def test_integer_outputs_have_no_slope():
    f = lambda x: {'x': 2 * x, 'n': np.argmax(x), 'b': x > 1}
    y, f_vjp = ad.vjp(f, X)
    assert_trees(y, {'x': 2 * X, 'n': np.int64(2), 'b': X > 1})
    none = {'n': np.zeros((), ad.float0), 'b': np.zeros(3, ad.float0)}
    (x_bar,) = f_vjp(none | {'x': Y})
    assert_same(x_bar, 2 * Y)
    y_dot = ad.linearize(f, X)[1](Y)
    assert is_float0(y_dot['n'], ()) and is_float0(y_dot['b'], (3,))
    assert_same(y_dot['x'], 2 * Y)


def test_gradients_are_trees_like_the_arguments():
    p = Pair({'w': M, 'b': [1.5, None]}, (X, ()))

    def f(p):
        return Pair([np.sum(p.x['w'] @ p.y[0]) * p.x['b'][0]], None)

    y, f_vjp = ad.vjp(f, p)
    s = np.sum(M @ X)
    assert_trees(y, Pair([s * 1.5], None))
    expected = Pair({'w': 1.5 * np.stack([X, X]), 'b': [s, None]},
                    (1.5 * M.sum(0), ()))
    (got,) = f_vjp(Pair([1.0], None))
    assert ad.tree_structure(got) == ad.tree_structure(expected)
    ad.tree_map(assert_close, got, expected)
    got = ad.grad(lambda p: f(p).x[0])(p)
    ad.tree_map(assert_close, got, expected)


def test_no_arguments_and_no_outputs():
    assert ad.vjp(lambda: 2.0)[1](1.0) == ()
    assert ad.linearize(lambda: 2.0)[1]() == 0.0
    y, f_vjp = ad.vjp(lambda x: {}, X)
    assert y == {}
    assert_same(f_vjp({})[0], np.zeros(3))
    assert ad.grad(lambda p: 2.0)({}) == {}


def test_derivatives_of_empty_arrays_are_empty():
    x = np.ones((0, 2))
    assert_same(ad.grad(lambda x: np.sum(x * x))(x), x)
    for jacobian in (ad.jacfwd, ad.jacrev):
        assert jacobian(lambda x: 2 * x)(x).shape == (0, 2, 0, 2)


def test_names_and_docstrings_are_those_of_the_function():
    def loss(w, x=2.0):
        """What to make small."""
        return w * x

    for transform in (ad.grad, ad.value_and_grad, ad.jacfwd, ad.jacrev,
                      ad.hessian):
        g = transform(loss)
        assert g.__name__ == 'loss' and g.__doc__ == loss.__doc__
        assert getattr(g, '__wrapped__')


# Memory: what NumPy changes in place, derivatives do not see

def shares(x, y):
    return (isinstance(x, np.ndarray) and isinstance(y, np.ndarray)
            and np.shares_memory(x, y))


SHARING = {
    'identity': lambda x, y: x + 0 * y,
    'sum': lambda x, y: np.sum(x) + np.sum(y),
    'mean': lambda x, y: np.mean(x - y),
    'add': lambda x, y: x + y,
    'product': lambda x, y: x * y,
    'one_cotangent_for_both': lambda x, y: np.sin(x + y),
    'same_twice': lambda x, y: (x, x, y, y),
    'views': lambda x, y: (x[::-1], np.reshape(x, (3, 1)), y[:2]),
    'broadcast': lambda x, y: np.broadcast_to(x, (2, 3)) + y,
    'stack': lambda x, y: np.stack([x, y]),
    'constant': lambda x, y: (M, x),
    'swapped': lambda x, y: (y, x),
    'unused': lambda x, y: x,
}


@pytest.mark.parametrize('name', SHARING)
def test_gradients_are_writable_and_share_no_memory(name):
    x, y = X.copy(), Y.copy()
    out, f_vjp = ad.vjp(SHARING[name], x, y)
    ct = ad.tree_map(lambda z: np.ones(np.shape(z))[()], out)
    bars = f_vjp(ct)
    again = f_vjp(ct)
    arrays = [x, y, *bars, *again, *ad.tree_leaves((out, ct, f_vjp))]
    for i, bar in enumerate(arrays):
        if any(bar is b for b in [*bars, *again]):
            whole = bar if bar.base is None else bar.base
            assert bar.flags.writeable and whole.nbytes == bar.nbytes
            assert not any(shares(bar, z) for k, z in enumerate(arrays)
                           if k != i)


@pytest.mark.parametrize('name', SHARING)
def test_changing_all_that_one_was_given_changes_nothing(name):
    """Hard case 11: inputs, outputs, cotangents and gradients."""
    f = SHARING[name]
    x, y = X.copy(), Y.copy()
    out, f_vjp = ad.vjp(f, x, y)
    _, f_jvp = ad.linearize(f, x, y)
    ct = ad.tree_map(lambda z: 2.0 * np.ones(np.shape(z))[()], out)
    expected = ad.tree_map(np.copy, f_vjp(ct))
    expected_dot = ad.tree_map(np.copy, f_jvp(X, Y))
    for z in (x, y, *ad.tree_leaves(out)):
        if isinstance(z, np.ndarray) and z.flags.writeable:
            z[...] = 99.0
    first = f_vjp(ct)
    ad.tree_map(assert_same, first, expected)
    for bar in first:
        bar *= 7
    ad.tree_map(assert_same, f_vjp(ct), expected)
    ad.tree_map(assert_same, f_jvp(X, Y), expected_dot)


def test_changing_an_array_that_was_closed_over_changes_nothing():
    c = X.copy()
    f = lambda y: np.sum(np.sin(c * y) + c)
    _, f_vjp = ad.vjp(f, Y)
    _, f_jvp = ad.linearize(f, Y)
    c[:] = 99.0
    assert_same(f_vjp(1.0)[0], X * np.cos(X * Y))
    assert_close(f_jvp(Y), np.sum(Y * X * np.cos(X * Y)))


@pytest.mark.parametrize('transform', [
    lambda f: f, ad.vmap, lambda f: lambda x: ad.vmap(f)(x[None])[0]])
def test_a_buffer_that_changes_during_the_trace(transform):
    """Each product keeps the buffer as it was at the time."""
    def f(x):
        buffer, y = np.zeros(3), 0.0
        for i in range(3):
            buffer[:] = i + 1
            y = y + x ** (i + 1) * buffer
        buffer[:] = 99.0
        return np.sum(y)

    expected = 1 + 4 * X + 9 * X ** 2
    assert_close(ad.grad(f)(X), expected)
    g = lambda x: np.sum(transform(lambda x: f(x) + 0 * x)(x)) / 3
    assert_close(ad.grad(g)(X), expected)
    assert_close(ad.linearize(f, X)[1](Y), np.sum(expected * Y))
    assert_close(ad.vmap(ad.grad(f))(np.stack([X, Y]))[0], expected)
    assert_close(ad.hessian(f)(X), np.diag(4 + 18 * X))


def test_an_index_that_changes_during_the_trace():
    def f(x):
        i = np.array([0, 0])
        y = x[i]
        i[:] = 2
        return np.sum(y * x[i])

    assert_same(ad.grad(f)(X), np.array([2 * X[2], 0, 2 * X[0]]))


def test_gradients_under_vmap_are_writable():
    for f in (np.sum, lambda x: np.sum(x * x), lambda x: x[0]):
        assert ad.vmap(ad.grad(f))(M).flags.writeable


def test_an_output_that_is_a_residual_is_the_user_s_own():
    y, f_vjp = ad.vjp(np.exp, X)
    y[:] = 0
    assert_same(f_vjp(np.ones(3))[0], np.exp(X))


# Pullbacks and pushforwards

def test_a_pullback_is_called_as_often_as_you_like():
    _, f_vjp = ad.vjp(lambda x: np.sin(x) * x, X)
    slope = np.cos(X) * X + np.sin(X)
    for ct in (np.ones(3), Y, np.zeros(3)):
        assert_close(f_vjp(ct)[0], ct * slope)
    _, f_jvp = ad.linearize(lambda x: np.sin(x) * x, X)
    for x_dot in (np.ones(3), Y, np.zeros(3)):
        assert_close(f_jvp(x_dot), x_dot * slope)


def test_python_numbers_are_accepted_where_they_fit():
    _, f_vjp = ad.vjp(np.sum, SINGLE)
    assert_same(f_vjp(2)[0], np.full(3, 2, np.float32))
    assert_same(f_vjp(2.0)[0], np.full(3, 2, np.float32))
    assert_same(ad.linearize(lambda x: 3 * x, 0.5)[1](2), 6.0)


def test_residuals_are_leaves():
    """They can be scaled, counted and stored, as those of any tree."""
    _, f_vjp = ad.vjp(lambda x: x * Y, X)
    (leaf,) = ad.tree_leaves(f_vjp)
    assert_same(leaf, Y)
    twice = ad.tree_map(lambda r: 2 * r, f_vjp)
    assert_same(twice(np.ones(3))[0], 2 * Y)
    assert_same(f_vjp(np.ones(3))[0], Y)
    assert ad.tree_structure(twice) == ad.tree_structure(f_vjp)
    _, f_jvp = ad.linearize(lambda x: x * Y, X)
    assert_same(ad.tree_map(lambda r: 2 * r, f_jvp)(X), 2 * Y * X)
    leaves, tree = ad.tree_flatten(f_jvp)
    assert_same(ad.tree_unflatten(tree, leaves)(X), Y * X)


def test_the_structure_of_a_pullback_can_be_a_key():
    _, f_vjp = ad.vjp(np.sin, X)
    tree = ad.tree_structure(f_vjp)
    assert {tree: 1}[ad.tree_structure(ad.tree_map(np.copy, f_vjp))] == 1
    assert hash(ad.tree_structure(ad.linear_transpose(np.sum, X)))


def test_pullbacks_leave_vmap_and_enter_it():
    def f(x, y):
        return np.sin(x) * y, 3.0 * x, 5

    y, pullbacks = ad.vmap(lambda x: ad.vjp(f, x, Y))(X)
    assert_same(y[1], 3 * X)
    none = np.zeros(3, ad.float0)
    x_bars, y_bars = ad.vmap(lambda p, ct, n: p((ct * Y, 2.0, n)))(
        pullbacks, X, none)
    assert_close(x_bars, np.cos(X) * X * np.sum(Y * Y) + 6)
    assert_close(y_bars, np.outer(np.sin(X) * X, Y))


def test_pushforwards_leave_vmap_and_enter_it():
    f = lambda x: (np.sin(x) * x, 2.0, x > 1)
    y, pushforwards = ad.vmap(lambda x: ad.linearize(f, x))(X)
    assert_same(y[0], np.sin(X) * X)
    y_dot = ad.vmap(lambda p, t: p(t))(pushforwards, Y)
    assert_close(y_dot[0], Y * (np.cos(X) * X + np.sin(X)))
    assert_same(y_dot[1], np.zeros(3))
    assert is_float0(y_dot[2], (3,))


def test_a_pullback_under_vmap_is_run_for_all_rows():
    _, f_vjp = ad.vjp(lambda x: np.tanh(M @ x), X)
    (rows,) = ad.vmap(f_vjp)(np.eye(2))
    assert_close(rows, (1 - np.tanh(M @ X) ** 2)[:, None] * M)
    _, f_jvp = ad.linearize(lambda x: np.tanh(M @ x), X)
    assert_close(ad.vmap(f_jvp, out_axes=-1)(np.eye(3)), rows)


def test_a_pullback_is_differentiated_in_its_cotangent_and_its_residuals():
    f = lambda x: x ** 3
    g = lambda x, ct: ad.vjp(f, x)[1](ct)[0]      # 3 x^2 ct
    assert ad.grad(g, (0, 1))(2.0, 5.0) == (60.0, 12.0)
    assert ad.jvp(g, (2.0, 5.0), (1.0, 1.0))[1] == 72.0
    h = lambda x, t: ad.linearize(f, x)[1](t)
    assert ad.grad(h, (0, 1))(2.0, 5.0) == (60.0, 12.0)


def test_a_pullback_that_leaves_grad_has_escaped():
    leaked = []
    ad.grad(lambda x: leaked.append(ad.vjp(np.sin, x)[1]) or x)(1.0)
    with pytest.raises(ad.UnexpectedTracerError, match='has returned'):
        leaked[0](1.0)


def test_linearize_runs_the_function_once():
    runs = []

    def f(x):
        runs.append(x)
        return np.sin(x)

    _, f_jvp = ad.linearize(f, X)
    _, f_vjp = ad.vjp(f, X)
    for _ in range(3):
        f_jvp(Y)
        f_vjp(Y)
    ad.grad(lambda x: f(x))(0.5)
    ad.jacrev(f)(X)
    ad.jacfwd(f)(X)
    assert len(runs) == 5


# Jacobians and Hessians

def looped_jacobian(f, x):
    """Returns the Jacobian, column by column, by jvp."""
    columns = [ad.jvp(f, (x,), (np.reshape(e, x.shape)[()],))[1]
               for e in np.eye(x.size)]
    out = np.stack(columns, -1)
    return np.reshape(out, (*out.shape[:-1], *x.shape))


JACOBIANS = {
    'vector': (lambda x: np.sin(x) * x, X),
    'matrix_to_vector': (lambda x: np.tanh(x @ X), M),
    'vector_to_matrix': (lambda x: np.outer(x, Y) * x, X),
    'matrix_to_matrix': (lambda x: x.T @ x, M),
    'scalar_to_vector': (lambda x: x * Y, np.float64(2)),
    'vector_to_scalar': (lambda x: np.prod(x), X),
    'scalar': (lambda x: x ** 3, np.float64(2)),
    'constant': (lambda x: Y, X),
    'one_element': (lambda x: x * 2, np.ones((1, 1))),
    'gather': (lambda x: x[[2, 0, 0, 1]], X),
}


@pytest.mark.parametrize('name', JACOBIANS)
def test_jacobians_are_those_of_a_loop_and_of_each_other(name):
    f, x = JACOBIANS[name]
    expected = looped_jacobian(f, x)
    for jacobian in (ad.jacfwd, ad.jacrev):
        out = jacobian(f)(x)
        assert out.shape == expected.shape == (*np.shape(f(x)), *x.shape)
        assert_close(out, expected)


@pytest.mark.parametrize('name', JACOBIANS)
def test_hessians_are_those_of_a_loop(name):
    f, x = JACOBIANS[name]
    expected = looped_jacobian(partial(looped_jacobian, f), x)
    for hessian in (ad.hessian, lambda f: ad.jacrev(ad.jacfwd(f)),
                    lambda f: ad.jacfwd(ad.jacfwd(f)),
                    lambda f: ad.jacrev(ad.jacrev(f))):
        assert_close(hessian(f)(x), expected)


@pytest.mark.parametrize('jacobian', [ad.jacfwd, ad.jacrev])
def test_jacobians_are_trees_of_the_output_in_trees_of_the_argument(jacobian):
    """The tree of the output, and in its leaves that of the argument."""
    p = {'a': X, 'b': (2.0, M)}
    f = lambda p: [p['a'] * p['b'][0], {'s': np.sum(p['b'][1]) * p['a'][0]}]
    first, rest = jacobian(f)(p)
    zeros = np.zeros((3, 2, 3))
    assert_trees(first, {'a': 2 * np.eye(3), 'b': (X, zeros)})
    e0, s = np.eye(3)[0], np.sum(M)
    assert_trees(rest, {'s': {'a': s * e0,
                              'b': (np.asarray(0.0), np.full((2, 3), X[0]))}})


@pytest.mark.parametrize('jacobian', [ad.jacfwd, ad.jacrev])
def test_jacobians_by_several_arguments_are_tuples(jacobian):
    f = lambda x, n, p: {'y': x * p[0], 'z': np.sum(x) * n}
    out = jacobian(f, (2, 0))(X, 4, [3.0])
    assert_trees(out, {'y': ([X], 3 * np.eye(3)),
                       'z': ([np.asarray(0.0)], np.full(3, 4.0))})


def test_hessian_of_trees_and_several_arguments():
    """In each leaf of the gradient stand trees like the arguments."""
    f = lambda p, z: np.sum(p['x'] ** 2) * p['y'] * z ** 2
    x, y, z = X, 3.0, 2.0
    s = np.sum(x * x)
    by_p, by_z = ad.hessian(f, (0, 1))({'x': x, 'y': y}, z)
    expected_by_p = {
        'x': ({'x': 2 * y * z ** 2 * np.eye(3), 'y': 2 * x * z ** 2},
              4 * x * y * z),
        'y': ({'x': 2 * x * z ** 2, 'y': 0.0}, 2 * s * z)}
    expected_by_z = {'x': 4 * x * y * z, 'y': 2 * s * z}, 2 * s * y
    ad.tree_map(assert_close, by_p, expected_by_p)
    ad.tree_map(assert_close, by_z, expected_by_z)


def test_jacobians_under_vmap_and_grad():
    f = lambda x: np.sin(x) * np.sum(x)
    for jacobian in (ad.jacfwd, ad.jacrev):
        each = np.stack([jacobian(f)(x) for x in M])
        assert_close(ad.vmap(jacobian(f))(M), each)
    trace = lambda x: np.sum(ad.jacrev(lambda x: x ** 3)(x))     # 3 x^2
    assert_close(ad.grad(trace)(X), 6 * X)
    trace = lambda x: np.sum(ad.jacfwd(lambda x: x ** 3)(x))
    assert_close(ad.grad(trace)(X), 6 * X)


def test_jacobian_of_custom_rule_is_the_rule_s():
    f = custom(lambda x: x * x, lambda p, t: (f(*p), 3 * p[0] * t[0]))
    for jacobian in (ad.jacfwd, ad.jacrev):
        assert_close(jacobian(f)(X), np.diag(3 * X))
        assert_close(jacobian(jacobian(lambda x: np.sum(f(x))))(X),
                     3 * np.eye(3))


@pytest.mark.parametrize('jacobian', [ad.jacfwd, ad.jacrev])
def test_jacobians_are_writable(jacobian):
    for f in (lambda x: np.broadcast_to(x.sum(), (2,)), np.sum, np.sin,
              lambda x: np.broadcast_to(x, (2, 3)), lambda x: (x, x)):
        for leaf in ad.tree_leaves(jacobian(f)(X)):
            leaf += 1.0


def test_complex_derivatives():
    z, square = X + 1j * Y, lambda z: z * z
    for jacobian in ad.jacfwd, ad.jacrev:
        assert_close(jacobian(square, holomorphic=True)(z), np.diag(2 * z))
    assert_same(ad.grad(square, holomorphic=True)(1j), 2j)
    assert ad.value_and_grad(square, holomorphic=True)(1j) == (-1, 2j)
    assert_close(ad.hessian(lambda z: np.sum(z ** 3), holomorphic=True)(z),
                 np.diag(6 * z))


def test_jacrev_and_grad_want_a_word_where_the_output_is_complex():
    for transform in ad.jacrev, ad.grad:
        with pytest.raises(TypeError, match=(
                'outputs: .* requires real-valued outputs, but got complex'
                '.*holomorphic=True; if not')):
            transform(lambda z: z * z)(1j)
        with pytest.raises(TypeError, match=(
                'outputs: .* requires complex-valued outputs, but got fl')):
            transform(np.abs, holomorphic=True)(1j)


def test_jacfwd_of_complex_numbers_wants_a_word_that_it_may():
    """A column is the derivative along 1; conj has another along i."""
    with pytest.raises(TypeError, match=(
            r'jacfwd of conj\w*: argument 0: jacfwd requires real-valued '
            r'inputs, but got complex128\[\]. .*holomorphic=True')):
        ad.jacfwd(np.conj)(1j)
    with pytest.raises(TypeError, match=(
            r'holomorphic=True requires complex-valued inputs, but got '
            r'float64\[\]. Convert it')):
        ad.jacfwd(lambda x: x * 1j, holomorphic=True)(1.0)
    with pytest.raises(TypeError, match=(
            r'outputs: .* requires complex-valued outputs, but got float64')):
        ad.jacfwd(np.abs, holomorphic=True)(1j)
    assert ad.jacfwd(lambda x: x * 1j)(2.0) == 1j
    assert ad.jacfwd(np.exp, holomorphic=True)(1j) == np.exp(1j)


@pytest.mark.parametrize('jacobian', [ad.jacfwd, ad.jacrev, ad.hessian])
def test_jacobians_with_aux_return_it_as_it_is(jacobian):
    """JAX puts the two in a pair, whatever the aux is."""
    f = lambda x, y: (x ** 3 * y, {'word': 'as', 'sum': np.sum(x)})
    plain = lambda x, y: f(x, y)[0]
    for argnums in (0, (0, 1)):
        out, aux = jacobian(f, argnums, has_aux=True)(X, 2.0)
        assert_trees(out, jacobian(plain, argnums)(X, 2.0))
        assert aux == {'word': 'as', 'sum': 4.5}
    out, aux = ad.jit(jacobian(lambda x: (x ** 2, np.sum(x)), 0, True))(X)
    assert_close(out, jacobian(lambda x: x ** 2)(X))
    assert aux == 4.5
    with pytest.raises(TypeError, match='has_aux=True, loss must return'):
        jacobian(returns(lambda x: x), has_aux=True)(X)


@pytest.mark.parametrize('wrap', [lambda f: f, ad.jit])
@pytest.mark.parametrize('jacobian', [ad.jacfwd, ad.jacrev])
def test_jacobians_by_integers_are_float0(jacobian, wrap):
    p = {'n': np.arange(2), 'x': X, 'yes': True}
    f = lambda p: {'a': p['x'] * p['n'][1], 'b': p['x'].sum()}
    out = wrap(jacobian(f, allow_int=True))(p)
    assert_close(out['a']['x'], np.eye(3))
    assert_close(out['b']['x'], np.ones(3))
    assert is_float0(out['a']['n'], (3, 2)) and is_float0(out['b']['n'], (2,))
    assert is_float0(out['a']['yes'], (3,)) and is_float0(out['b']['yes'], ())
    alone = jacobian(lambda n: n * 0.5, allow_int=True)(np.arange(2))
    assert is_float0(alone, (2, 2))


@pytest.mark.parametrize('wrap', [lambda f: f, ad.jit])
def test_second_derivatives_by_integers_are_float0(wrap):
    f = lambda n, x: n * x ** 2
    (nn, nx), (xn, xx) = wrap(ad.hessian(f, (0, 1), allow_int=True))(3, 2.0)
    assert xx == 6.0
    assert all(is_float0(x, ()) for x in (nn, nx, xn))


def test_jacfwd_of_an_integer_output_is_float0_if_integers_are_allowed():
    f = lambda x: (np.argmax(x), x[0] * 2)
    index, twice = ad.jacfwd(f, allow_int=True)(X)
    assert is_float0(index, (3,))
    assert_close(twice, np.array([2.0, 0.0, 0.0]))
    with pytest.raises(TypeError, match=r'outputs\[0\]: jacrev requires'):
        ad.jacrev(f, allow_int=True)(X)


@pytest.mark.parametrize('cotangents', [(), (1.0, 1.0)])
def test_a_pullback_takes_one_cotangent_and_names_the_function(cotangents):
    loss = returns(lambda x: (x, x))
    for pullback in (ad.vjp(loss, 2.0)[1], ad.linear_transpose(loss, 2.0)):
        with pytest.raises(TypeError, match=(
                rf'(vjp|transpose) of loss: the pullback got {len(cotangents)}'
                r' cotangents, but takes one, .*\(\*, \*\)\)\. .*a tuple')):
            pullback(*cotangents)
        assert len(pullback((1.0, 1.0))) == 1


# Higher orders

def repeated(transform, f, order):
    for _ in range(order):
        f = transform(f)
    return f


@pytest.mark.parametrize('order', [1, 2, 3, 4])
def test_higher_orders_have_closed_forms(order):
    x = 0.7
    sines = [np.sin, np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x)]
    assert_close(repeated(ad.grad, np.sin, order)(x), sines[order % 4](x))
    assert_close(repeated(ad.grad, np.exp, order)(x), np.exp(x))
    assert_close(repeated(ad.grad, lambda x: x ** 6, order)(x),
                 math.perm(6, order) * x ** (6 - order))
    assert_close(repeated(ad.grad, np.log, order)(x),
                 (-1) ** (order - 1) * math.factorial(order - 1)
                 * x ** -order)


@pytest.mark.parametrize('names', [
    'gj', 'jg', 'gl', 'lg', 'gjgj', 'jgjg', 'jjgg', 'ggjj', 'lgj', 'glj',
    'gvg', 'vgg', 'ggv', 'jvg', 'gvj', 'gvgl'])
def test_modes_nest_in_every_order(names):
    """g: grad; j: jvp; l: linearize; v: vmap, summed."""
    def linear(f):
        return lambda x: ad.linearize(f, x)[1](1.0)

    def summed(f):
        return lambda x: np.sum(ad.vmap(f)(x * np.array([1.0, 2.0])))

    transforms = {'g': ad.grad, 'j': d, 'l': linear, 'v': summed}
    f = lambda x: x ** 6
    factor, power = 1, 6
    for name in reversed(names):
        f = transforms[name](f)
        if name == 'v':
            factor *= 1 + 2 ** power
        else:
            factor, power = factor * power, power - 1
    assert_close(f(0.9), factor * 0.9 ** power)


def test_orders_up_to_four_of_a_tree():
    """d^4 of x^2 y^2 z, by x, y, x and z."""
    f = lambda p: p['x'] ** 2 * p['y'][0] ** 2 * p['z']
    by = lambda f, *path: lambda p: path_of(ad.grad(f)(p), path)

    def path_of(tree, path):
        for key in path:
            tree = tree[key]
        return tree

    g = by(by(by(by(f, 'x'), 'y', 0), 'x'), 'z')
    assert_close(g({'x': 3.0, 'y': [5.0], 'z': 7.0}), 4 * 5.0)


# Perturbations do not mix

def test_hard_case_10_a_rule_that_differentiates():
    r = ad.custom_jvp(lambda x, y: x * y)
    r.defjvps(lambda t, o, x, y: t * ad.grad(lambda z: z * y)(x),
              lambda t, o, x, y: t * x)
    f = lambda x: x * ad.grad(lambda y: r(x, y))(2.)
    assert ad.grad(f)(3.) == 6.0
    assert ad.grad(ad.grad(f))(3.) == 2.0
    assert d(f)(3.) == 6.0


@pytest.mark.parametrize('outer', [ad.grad, d])
@pytest.mark.parametrize('inner', [ad.grad, d])
def test_nested_perturbations_stay_apart(outer, inner):
    # d/dx x * d/dy (x + y) = 1
    assert outer(lambda x: x * inner(lambda y: x + y)(1.0))(2.0) == 1.0
    # d/dx x * d/dy (x y) = 2x
    assert outer(lambda x: x * inner(lambda y: x * y)(1.0))(3.0) == 6.0
    # d/dx d/dy (x^2 y^2) = 4xy, at x = y, where both are meant
    f = lambda x: inner(lambda y: x ** 2 * y ** 2)(x)       # 2 x^2 x
    assert outer(f)(3.0) == 54.0
    # a function that is a value, made inside and used outside
    f = lambda x: inner(lambda y: (lambda z: x * y * z))(1.0)
    with pytest.raises(TypeError, match='cannot be traced|scalar-output'):
        outer(f)(1.0)


def test_three_perturbations_stay_apart():
    f = lambda x: ad.grad(lambda y: ad.grad(lambda z: x * y ** 2 * z ** 3)(
        y))(x)      # z^2: 3 x y^4, then 12 x y^3, then 12 x^4
    assert_close(ad.grad(f)(2.0), 48.0 * 8)


def test_what_the_outer_perturbs_is_known_to_the_inner():
    """Its tangents are no residuals of the inner's."""
    seen = []

    def f(x):
        _, f_vjp = ad.vjp(lambda y: y * x, 2.0)
        seen.append(ad.tree_leaves(f_vjp))
        return f_vjp(1.0)[0]

    assert ad.grad(f)(3.0) == 1.0
    assert len(seen[0]) == 1 and isinstance(seen[0][0], ad.Tracer)


# D3 and hard case 12

def test_d3_python_control_flow_under_every_derivative():
    def f(x):
        y = x
        while abs(y) < 100.0:
            y = y * x if x > 0 else y * -x
        return y

    # 3^5 = 243 and (-3) * 3^4 = -243
    assert ad.grad(f)(3.0) == 5 * 81.0
    assert ad.grad(f)(-3.0) == 5 * 81.0
    assert ad.grad(ad.grad(f))(3.0) == 20 * 27.0
    assert ad.linearize(f, 3.0)[1](1.0) == 405.0
    assert ad.jacrev(f)(3.0) == ad.jacfwd(f)(3.0) == 405.0
    assert ad.hessian(f)(3.0) == 540.0


def test_d3_values_decide_asserts_and_masks():
    def f(x):
        assert (x > 0).all()
        return np.sum(x[x > 1] ** 2) + max(x) + sorted(x)[0]

    assert_same(ad.grad(f)(X), np.array([1.0, 3.0, 6.0]))


@pytest.mark.parametrize('transform', [
    ad.grad, ad.jacfwd, ad.jacrev, ad.hessian,
    lambda f: lambda x: ad.linearize(f, x),
    lambda f: lambda x: ad.vjp(f, x)])
@pytest.mark.parametrize('f', [
    lambda x: float(x) * x, lambda x: math.sin(x) * x,
    lambda x: np.float64(x) * x, lambda x: x * x.item(),
    lambda x: np.exp([x]) * x])
def test_hard_case_12_a_conversion_that_would_forget_is_an_error(
        transform, f):
    with pytest.raises((ad.ConcretizationTypeError,
                        ad.TracerArrayConversionError), match='forget'):
        transform(f)(3.0)
    assert current_trace() is Trace.base
    assert ad.grad(lambda x: x * x)(3.0) == 6.0


# Errors

def f(*args):
    """Any function: it is named in the errors, and never called."""
    pytest.fail('f must not be called')


EARLY = {       # before the function runs
    'argnums': (lambda: ad.grad(f, 1)(1.0),
                'grad of f: .*argnums=1 requires at least 2 positional '
                'arguments .* got only 1'),
    'argnums_negative': (lambda: ad.grad(f, -2)(1.0),
                         'argnums=-2 requires at least 2'),
    'argnums_tuple': (lambda: ad.value_and_grad(f, (0, 2))(1.0, 2.0),
                      r'argnums=\(0, 2\) requires at least 3'),
    'argnums_keyword': (lambda: ad.grad(f)(x=1.0),
                        'positional arguments .* got only 0'),
    'argnums_jacobian': (lambda: ad.jacfwd(f, 1)(1.0), 'jacfwd of f: .*at '
                                                       'least 2'),
    'argnums_hessian': (lambda: ad.hessian(f, 3)(1.0), 'at least 4'),
    'argnums_text': (lambda: ad.grad(f, 'x')(1.0), 'argnums'),
    'argnums_float': (lambda: ad.grad(f, 1.5)(1.0, 2.0), 'argnums'),
    'argnums_twice': (lambda: ad.grad(f, (0, 0))(1.0), 'name each once'),
    'argnums_twice_negative': (lambda: ad.jacrev(f, (0, -1))(1.0),
                               'argnums'),
    'integer': (lambda: ad.grad(f)(2),
                r'grad of f: argument 0: grad requires real-valued inputs '
                r'.*int64\[\].*Write 2.0'),
    'integers': (lambda: ad.grad(f, 1)(2.0, {'n': np.arange(3)}),
                 r"grad of f: argument 1\['n'\].*int64\[3\]"),
    'complex': (lambda: ad.grad(f, 1, holomorphic=True)(1j, 1.0),
                r'argument 1: .*complex-valued inputs, but got float64'),
    'complex_jacfwd': (lambda: ad.jacfwd(f, 1)(1.0, 1j),
                       r'argument 1: .*real-valued inputs, but got complex'),
    'real_holomorphic': (lambda: ad.jacfwd(f, 1, holomorphic=True)(1j, 1.0),
                         r'argument 1: .*complex-valued inputs, but got fl'),
    'boolean': (lambda: ad.value_and_grad(f)(True), r'got bool\[\]'),
    'integer_jacfwd': (lambda: ad.jacfwd(f)(2), 'jacfwd requires real'),
    'integer_jacrev': (lambda: ad.jacrev(f)(2), 'jacrev requires real'),
    'integer_hessian': (lambda: ad.hessian(f)(2), 'requires real-valued'),
    'string': (lambda: ad.grad(f)('a'), r'argument 0: .*type str'),
    'string_allow_int': (lambda: ad.grad(f, 1, allow_int=True)(1.0, 'a'),
                         r'argument 1: .*type str'),
    'none_in_list': (lambda: ad.vjp(f, 1.0, ['a']),
                     r'vjp of f: primals\[1\]\[0\].*type str'),
    'objects': (lambda: ad.linearize(f, np.array([None])),
                r'linearize of f: primals\[0\].*dtype object'),
    'matrix': (lambda: ad.vjp(f, M.view(np.matrix)), 'type matrix'),
    'transposed_string': (lambda: ad.linear_transpose(f, 'a'),
                          r'linear_transpose of f: primals\[0\].*str'),
}


@pytest.mark.parametrize('name', EARLY)
def test_wrong_arguments_are_named_before_anything_runs(name):
    mistake, words = EARLY[name]
    with pytest.raises(TypeError, match=words):
        mistake()
    assert current_trace() is Trace.base
    assert ad.grad(lambda x: x * x)(3.0) == 6.0


def returns(value):
    """Returns a function named `loss` that returns this value."""
    def loss(x):
        return value(x) if callable(value) else value
    loss.__qualname__ = 'loss'
    return loss


LATE = {        # after it ran
    'array': (lambda x: x, 'grad of loss: Gradient only defined for '
              r'scalar-output functions. Output had shape: \(3,\)'),
    'one_element': (lambda x: x[:1], r'Output had shape: \(1,\)'),
    'tuple': (lambda x: (x[0],), r'scalar-output functions. Output was: \('),
    'dict': (lambda x: {'a': x[0]}, "Output was: {'a': "),
    'none': (None, 'Output was: None. Is a `return`'),
    'nothing': ((), r'Output was: \(\)'),
    'int': (2, r'loss: outputs: grad requires real-valued outputs .*int64'
               r'\[\], which has no derivative. Convert it'),
    'int_of_input': (lambda x: np.argmax(x), r'got int64\[\]'),
    'bool': (lambda x: x[0] > 1, r'got bool\[\]'),
    'complex': (lambda x: x[0] * 1j, r'outputs: .*got complex128\[\]'),
    'string': ('a', 'output of loss: .*type str'),
    'function': (lambda x: np.sin, 'output of loss: .*type ufunc'),
}


@pytest.mark.parametrize('name', LATE)
def test_outputs_that_have_no_gradient(name):
    value, words = LATE[name]
    for transform in (ad.grad, ad.value_and_grad):
        with pytest.raises(TypeError, match=words):
            transform(returns(value))(X)
    with pytest.raises(TypeError, match=words):
        ad.vmap(ad.grad(returns(value)))(np.stack([X, X]))
    assert current_trace() is Trace.base
    assert ad.grad(lambda x: x * x)(3.0) == 6.0


@pytest.mark.parametrize('out', [lambda x: x[0], lambda x: (x[0],),
                                 lambda x: [x[0], 1.0], None,
                                 lambda x: (x[0], 1.0, 2.0)])
def test_has_aux_needs_a_pair(out):
    for transform in (ad.grad, ad.value_and_grad):
        with pytest.raises(TypeError, match='has_aux=True, loss must return '
                                            'a pair'):
            transform(returns(out), has_aux=True)(X)
    for transform in (ad.vjp, ad.linearize):
        with pytest.raises(TypeError, match='has_aux=True, loss must return '
                                            'a pair'):
            transform(returns(out), X, has_aux=True)


@pytest.mark.parametrize('jacobian', [ad.jacfwd, ad.jacrev])
def test_outputs_that_have_no_jacobian(jacobian):
    with pytest.raises(TypeError, match=(
            r'of loss: outputs: jac\w* requires real-valued outputs')):
        jacobian(returns(lambda x: x > 1))(X)
    with pytest.raises(TypeError, match=r'outputs\[1\].*int64'):
        jacobian(returns(lambda x: (x, 2)))(X)
    with pytest.raises(TypeError, match='output of loss.*type str'):
        jacobian(returns('a'))(X)


def test_errors_about_outputs_do_not_speak_of_inputs():
    with pytest.raises(TypeError) as info:
        ad.jacrev(returns(lambda x: x > 1))(X)
    assert 'integer-valued inputs' not in str(info.value)


COTANGENTS = {
    'tree': (lambda x: (x, x), 1.0, 'vjp of loss: unexpected tree structure '
             r'of the cotangent: got PyTreeDef\(\*\), but the output of the '
             r'function has PyTreeDef\(\(\*, \*\)\)'),
    'list': (lambda x: (x, x), [X, X], 'unexpected tree structure'),
    'none': (lambda x: x, None, 'unexpected tree structure'),
    'shape': (lambda x: x, 1.0, r'vjp of loss: cotangent: unexpected type '
              r'.*got float64\[\], but the output of the function is '
              r'float64\[3\]'),
    'leaf': (lambda x: {'a': x, 'b': x[0]}, {'a': X, 'b': X},
             r"cotangent\['b'\]: unexpected type .*got float64\[3\], .*is "
             r'float64\[\]'),
    'dtype': (lambda x: x, SINGLE, r'got float32\[3\].*float64\[3\]'),
    'integer': (lambda x: x, np.arange(3), r'got int64\[3\]'),
    'complex': (lambda x: x[0], 1j, r'got complex128\[\]'),
    'float_for_float0': (lambda x: np.argmax(x), 1.0, r'is int64\[\]'),
}


@pytest.mark.parametrize('name', COTANGENTS)
def test_cotangents_that_do_not_fit(name):
    out, ct, words = COTANGENTS[name]
    _, f_vjp = ad.vjp(returns(out), X)
    with pytest.raises(ValueError, match=words):
        f_vjp(ct)
    assert current_trace() is Trace.base


def test_cotangents_that_are_no_arrays():
    _, f_vjp = ad.vjp(returns(lambda x: x), X)
    with pytest.raises(TypeError, match='cotangent: .*type str'):
        f_vjp('a')


TANGENTS = {
    'too_many': ((X, X), TypeError, 'linearize of loss: the linear function '
                 r'takes tangents with the tree structure of the primals, '
                 r'PyTreeDef\(\(\*,\)\), but got PyTreeDef\(\(\*, \*\)\)'),
    'none': ((), TypeError, 'tree structure of the primals'),
    'tree': (([X],), TypeError, 'tree structure of the primals'),
    'shape': ((1.0,), ValueError, r'linearize of loss: tangents\[0\]: .*'
              r'float64\[3\] and the tangent float64\[\]'),
    'dtype': ((SINGLE,), TypeError, r'tangents\[0\]: .*float32\[3\]'),
    'string': (('a',), TypeError, r'tangents\[0\]: .*type str'),
}


@pytest.mark.parametrize('name', TANGENTS)
def test_tangents_that_do_not_fit(name):
    x_dots, error, words = TANGENTS[name]
    _, f_jvp = ad.linearize(returns(lambda x: x), X)
    with pytest.raises(error, match=words):
        f_jvp(*x_dots)
    assert_same(f_jvp(Y), Y)


def test_linear_transpose_checks_as_vjp_does():
    f_transpose = ad.linear_transpose(returns(lambda x: 2 * x), X)
    with pytest.raises(ValueError, match='linear_transpose of loss: cotang'):
        f_transpose(1.0)
    with pytest.raises(ValueError, match='unexpected tree'):
        f_transpose((X, X))
    assert_same(f_transpose(Y)[0], 2 * Y)


def test_an_error_in_the_function_goes_through_and_everything_works():
    class Stop(Exception):
        pass

    def stop(x):
        np.sin(x)
        raise Stop

    for transform in (ad.grad, ad.jacfwd, ad.jacrev, ad.hessian):
        with pytest.raises(Stop):
            transform(stop)(1.0)
        assert current_trace() is Trace.base
    with pytest.raises(Stop):
        ad.vmap(ad.grad(stop))(X)
    assert ad.grad(np.sin)(0.0) == 1.0


def test_errors_name_the_innermost_transformation_and_its_function():
    with pytest.raises(TypeError, match=re.escape('grad of loss: Gradient')):
        ad.grad(lambda x: ad.grad(returns(lambda x: x))(x).sum())(X)
