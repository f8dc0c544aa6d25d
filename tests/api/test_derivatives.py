"""Derivatives for users: linearize, vjp, grad, Jacobians, Hessians.

Values are compared with closed forms. test_transpose.py checks the
transposes of all programs.
"""

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core.trace import Trace, current_trace
from tests.support.numerical import assert_close, assert_same
from tests.support.trees import assert_trees

X = np.array([0.5, 1.5, 2.5])
Y = np.array([2.0, -1.0, 0.25])
M = np.arange(6.).reshape(2, 3) / 4 + 0.5
SINGLE = X.astype(np.float32)


def is_float0(x, shape):
    return x.dtype == ad.float0 and x.shape == shape


def weighted(x, y, z):
    """Return the sum of x y^2 z^3."""
    return np.sum(x * y ** 2 * z ** 3)


# argnums

GRADIENTS = {0: 2.0 ** 2 * 3.0 ** 3, 1: 2 * 5.0 * 2.0 * 3.0 ** 3,
             2: 3 * 5.0 * 2.0 ** 2 * 3.0 ** 2}


def test_argnums_is_a_position_or_a_tuple_in_any_order():
    args = 5.0, 2.0, 3.0
    for argnums in 0, 1, -1, np.int64(1), (0,), (2, 0), (-1, -2, -3), [1, 0]:
        expected = (GRADIENTS[argnums % 3] if np.ndim(argnums) == 0
                    else tuple(GRADIENTS[i % 3] for i in argnums))
        assert_trees(ad.grad(weighted, argnums)(*args), expected)
        for jacobian in ad.jacfwd, ad.jacrev:
            assert jacobian(weighted, argnums)(*args) == expected
    assert ad.value_and_grad(weighted, ())(*args) == (weighted(*args), ())


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
    aux = {'x': 3.0, 'also': [np.sin(3.0), None, 7]}
    f = lambda x: (x ** 2, {'x': x, 'also': [np.sin(x), None, 7]})
    assert ad.grad(f, has_aux=True)(3.0) == (6.0, aux)
    assert ad.value_and_grad(f, has_aux=True)(3.0) == ((9.0, aux), 6.0)
    for transform, slope in (ad.vjp, (6.0,)), (ad.linearize, 6.0):
        y, linear, got = transform(f, 3.0, has_aux=True)
        assert (y, linear(1.0), got) == (9.0, slope, aux)


# Gradients: structures, types, memory

def test_gradients_have_the_type_of_their_argument():
    gradient = ad.grad(lambda p: p['a'] * p['b'][0])({'a': 2.0, 'b': [3.0]})
    assert_trees(gradient, {'a': 3.0, 'b': [2.0]})
    # beside an array too, whose dtype they do not change
    x_bar, t_bar = ad.grad(lambda x, t: np.sum(x * t), (0, 1))(SINGLE, 2.0)
    assert_same(x_bar, np.full(3, 2, np.float32))
    assert_same(t_bar, 4.5)
    f = lambda x: np.sum(np.sin(x) * 2.0 + x ** 2)
    for dtype in np.float16, np.float32, np.float64, np.longdouble:
        x = X.astype(dtype)
        for y in (ad.grad(f)(x), ad.grad(f)(x[0]), ad.hessian(f)(x),
                  ad.value_and_grad(f)(x)[0]):
            assert y.dtype == dtype
        x_bar, y_bar = ad.grad(lambda x, y: np.sum(x * y), (0, 1))(x, SINGLE)
        assert (x_bar.dtype, y_bar.dtype) == (dtype, np.float32)


def test_integers_have_float0_gradients():
    f = lambda x, n: np.sum(x * n)
    x_bar, n_bar = ad.vjp(f, X, np.arange(3))[1](1.0)
    assert_same(x_bar, np.arange(3.))
    assert is_float0(n_bar, (3,))
    assert is_float0(ad.grad(f, 1, allow_int=True)(X, 2), ())
    y, f_jvp = ad.linearize(f, X, np.arange(3))
    assert f_jvp(X, np.zeros(3, ad.float0)) == f(X, np.arange(3))
    unused = {'s': SINGLE, 'x': 2.0, 'b': True}
    zeros = ad.grad(lambda x, p: x * 3, 1, allow_int=True)(1.0, unused)
    assert_same(zeros['s'], np.zeros(3, np.float32))
    assert_same(zeros['x'], 0.0)
    assert is_float0(zeros['b'], ())


def test_residuals_are_leaves():
    """They can be scaled, counted, and stored, like those of any tree."""
    _, f_vjp = ad.vjp(lambda x: x * Y, X)
    (leaf,) = ad.tree_leaves(f_vjp)
    assert_same(leaf, Y)
    twice = ad.tree_map(lambda r: 2 * r, f_vjp)
    assert_same(twice(np.ones(3))[0], 2 * Y)
    _, f_jvp = ad.linearize(lambda x: x * Y, X)
    leaves, tree = ad.tree_flatten(f_jvp)
    assert_same(ad.tree_unflatten(tree, leaves)(X), Y * X)


# Jacobians and Hessians

def test_jacobians_have_the_shape_of_the_output_and_then_of_the_argument():
    for f, x in ((lambda x: np.sin(x) * x, X), (lambda x: x.T @ x, M),
                 (lambda x: x * Y, np.float64(2)), (np.prod, X),
                 (lambda x: Y, X), (lambda x: x[[2, 0, 0, 1]], X)):
        columns = [ad.jvp(f, (x,), (np.reshape(e, x.shape)[()],))[1]
                   for e in np.eye(x.size)]
        expected = np.stack(columns, -1).reshape(*np.shape(f(x)), *x.shape)
        for jacobian in (ad.jacfwd, ad.jacrev):
            out = jacobian(f)(x)
            assert out.shape == expected.shape
            assert_close(out, expected)


@pytest.mark.parametrize('jacobian', [ad.jacfwd, ad.jacrev])
def test_jacobians_are_trees_of_the_output_in_trees_of_the_argument(jacobian):
    """Each leaf of the output's tree holds a tree like the argument."""
    p = {'a': X, 'b': (2.0, M)}
    f = lambda p: [p['a'] * p['b'][0], {'s': np.sum(p['b'][1]) * p['a'][0]}]
    first, rest = jacobian(f)(p)
    zeros = np.zeros((3, 2, 3))
    assert_trees(first, {'a': 2 * np.eye(3), 'b': (X, zeros)})
    e0, s = np.eye(3)[0], np.sum(M)
    assert_trees(rest, {'s': {'a': s * e0,
                              'b': (np.asarray(0.0), np.full((2, 3), X[0]))}})


def test_holomorphic_derivatives_equal_the_formulas():
    z, square = X + 1j * Y, lambda z: z * z
    for jacobian in ad.jacfwd, ad.jacrev:
        assert_close(jacobian(square, holomorphic=True)(z), np.diag(2 * z))
    assert_same(ad.grad(square, holomorphic=True)(1j), 2j)
    assert ad.value_and_grad(square, holomorphic=True)(1j) == (-1, 2j)
    assert_close(ad.hessian(lambda z: np.sum(z ** 3), holomorphic=True)(z),
                 np.diag(6 * z))


def test_jacrev_and_grad_of_complex_outputs_need_holomorphic():
    """A column of jacfwd is the derivative along 1, not that along i."""
    for transform in ad.jacrev, ad.grad, ad.jacfwd:
        with pytest.raises(TypeError, match=(
                'outputs: .* requires complex-valued outputs, but got fl')):
            transform(np.abs, holomorphic=True)(1j)
        with pytest.raises(TypeError, match=(
                'requires real-valued .*but got complex.*holomorphic=True')):
            transform(lambda z: z * z)(1j)
    with pytest.raises(TypeError, match=(
            r'holomorphic=True requires complex-valued inputs, but got '
            r'float64\[\]. Convert it')):
        ad.jacfwd(lambda x: x * 1j, holomorphic=True)(1.0)
    assert ad.jacfwd(lambda x: x * 1j)(2.0) == 1j


@pytest.mark.parametrize('jacobian', [ad.jacfwd, ad.jacrev, ad.hessian])
def test_jacobians_return_aux_unchanged(jacobian):
    """JAX puts the two in a pair, whatever the aux is."""
    f = lambda x, y: (x ** 3 * y, {'word': 'as', 'sum': np.sum(x)})
    plain = lambda x, y: f(x, y)[0]
    for argnums in (0, (0, 1)):
        out, aux = jacobian(f, argnums, has_aux=True)(X, 2.0)
        assert_trees(out, jacobian(plain, argnums)(X, 2.0))
        assert aux == {'word': 'as', 'sum': 4.5}


@pytest.mark.parametrize('jacobian', [ad.jacfwd, ad.jacrev])
def test_jacobians_by_integers_are_float0(jacobian):
    p = {'n': np.arange(2), 'x': X}
    f = lambda p: {'a': p['x'] * p['n'][1], 'b': p['x'].sum()}
    for wrap in lambda f: f, ad.jit:
        out = wrap(jacobian(f, allow_int=True))(p)
        assert_close(out['a']['x'], np.eye(3))
        assert is_float0(out['a']['n'], (3, 2))
        assert is_float0(out['b']['n'], (2,))
    alone = jacobian(lambda n: n * 0.5, allow_int=True)(np.arange(2))
    assert is_float0(alone, (2, 2))


# Errors

def f(*args):
    """Any function; it is named in errors, and never called."""
    pytest.fail('f must not be called')


def returns(value):
    """Return a function named `loss` that returns this value."""
    def loss(x):
        return value(x) if callable(value) else value
    loss.__qualname__ = 'loss'
    return loss


def gradient(value):
    return lambda: ad.grad(returns(value))(X)


def cotangent(value, ct):
    return lambda: ad.vjp(returns(value), X)[1](ct)


def pushed(*x_dots):
    return lambda: ad.linearize(returns(lambda x: x), X)[1](*x_dots)


T, V = TypeError, ValueError
MISTAKES = {
    # before the function runs
    'argnums': (lambda: ad.grad(f, 1)(1.0), T, 'grad of f: .*argnums=1 '
                'requires at least 2 positional arguments .* got only 1'),
    'argnums_text': (lambda: ad.grad(f, 'x')(1.0), T, 'argnums'),
    'argnums_twice': (lambda: ad.grad(f, (0, 0))(1.0), T, 'Name each'),
    'integer': (lambda: ad.grad(f)(2), T,
                r'grad of f: argument 0: grad requires real-valued inputs '
                r'.*int64\[\].*Write 2.0'),
    'complex': (lambda: ad.grad(f, 1, holomorphic=True)(1j, 1.0), T,
                r'argument 1: .*complex-valued inputs, but got float64'),
    'none_in_list': (lambda: ad.vjp(f, 1.0, ['a']), T,
                     r'vjp of f: primals\[1\]\[0\].*type str'),
    # what the function returns
    'array': (gradient(lambda x: x), T, 'grad of loss: Gradient only defined '
              r'for scalar-output functions. Output had shape: \(3,\)'),
    'none': (gradient(None), T, 'Output was: None. Is a `return`'),
    'int': (gradient(2), T,
            r'loss: outputs: grad requires real-valued outputs .*int64'
            r'\[\], which has no derivative. Return floats from'),
    'function': (gradient(lambda x: np.sin), T, 'output of loss: .*ufunc'),
    'jacrev_bool': (lambda: ad.jacrev(returns(lambda x: x > 1))(X), T,
                    'of loss: outputs: jacrev requires real-valued outputs'),
    # cotangents and tangents that do not fit
    'ct_tree': (cotangent(lambda x: (x, x), 1.0), V,
                'vjp of loss: unexpected tree structure of the cotangent: got '
                r'PyTreeDef\(\*\), but the output of the function has '
                r'PyTreeDef\(\(\*, \*\)\)'),
    'ct_shape': (cotangent(lambda x: x, 1.0), V,
                 'vjp of loss: cotangent: unexpected type .*got float64'
                 r'\[\], but the output of the function is float64\[3\]'),
    'ct_two': (lambda: ad.vjp(returns(lambda x: x), X)[1](X, X), T,
               'vjp of loss: the pullback got 2 cotangents, but takes one'),
    'ct_float_for_float0': (cotangent(lambda x: np.argmax(x), 1.0), V,
                            r'is int64\[\]'),
    't_too_many': (pushed(X, X), T, 'linearize of loss: the linear function '
                   r'takes tangents with the tree structure of the primals, '
                   r'PyTreeDef\(\(\*,\)\), but got PyTreeDef\(\(\*, \*\)\)'),
    't_shape': (pushed(1.0), V, r'linearize of loss: tangents\[0\]: .*'
                r'float64\[3\] and the tangent is float64\[\]'),
}


@pytest.mark.parametrize('name', MISTAKES)
def test_a_mistake_is_named(name):
    mistake, error, words = MISTAKES[name]
    with pytest.raises(error, match=words):
        mistake()
    assert current_trace() is Trace.base
    assert ad.grad(lambda x: x * x)(3.0) == 6.0


def test_has_aux_needs_a_pair():
    for out in lambda x: x[0], lambda x: (x[0],), lambda x: [x[0], 1.0], None:
        f = returns(out)
        for use in (ad.grad(f, has_aux=True), ad.jacfwd(f, has_aux=True),
                    lambda x: ad.vjp(f, x, has_aux=True),
                    lambda x: ad.linearize(f, x, has_aux=True)):
            with pytest.raises(TypeError, match='has_aux=True, loss must '
                                                'return a pair'):
                use(X)
