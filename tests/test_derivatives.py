"""Derivatives for users: linearize, vjp, grad, Jacobians, Hessians.

Values are compared with closed forms.  That every program of the table is
transposed correctly is tested in tests/test_transpose.py.  Names with d3
cite a row of the page what_the_documents_ask.
"""

import math

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core import Trace, current_trace
from tests.numerical import assert_close, assert_same
from tests.test_custom_jvp import assert_trees, d

X = np.array([0.5, 1.5, 2.5])
Y = np.array([2.0, -1.0, 0.25])
M = np.arange(6.).reshape(2, 3) / 4 + 0.5
SINGLE = X.astype(np.float32)
HALF = X.astype(np.float16)


def is_float0(x, shape):
    return x.dtype == ad.float0 and x.shape == shape


def weighted(x, y, z):
    """Return x y^2 z^3, summed."""
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


# Memory: what NumPy changes in place, derivatives do not see


def test_the_zero_of_a_value_is_an_array_or_symbolic():
    assert_same(ad.zero_from_primal(X), np.zeros(3))
    zero = ad.zero_from_primal(X, symbolic_zeros=True)
    assert type(zero) is ad.SymbolicZero and zero.shape == (3,)
    with pytest.raises(TypeError, match='is a symbolic zero, not an array'):
        zero + 1.0


# Pullbacks and pushforwards


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


def test_a_pullback_is_differentiated_in_its_cotangent_and_its_residuals():
    f = lambda x: x ** 3
    g = lambda x, ct: ad.vjp(f, x)[1](ct)[0]      # 3 x^2 ct
    assert ad.grad(g, (0, 1))(2.0, 5.0) == (60.0, 12.0)
    assert ad.jvp(g, (2.0, 5.0), (1.0, 1.0))[1] == 72.0
    h = lambda x, t: ad.linearize(f, x)[1](t)
    assert ad.grad(h, (0, 1))(2.0, 5.0) == (60.0, 12.0)


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
    """Return the Jacobian, column by column, by jvp."""
    columns = [ad.jvp(f, (x,), (np.reshape(e, x.shape)[()],))[1]
               for e in np.eye(x.size)]
    out = np.stack(columns, -1)
    return np.reshape(out, (*out.shape[:-1], *x.shape))


JACOBIANS = {
    'vector': (lambda x: np.sin(x) * x, X),
    'matrix_to_matrix': (lambda x: x.T @ x, M),
    'scalar_to_vector': (lambda x: x * Y, np.float64(2)),
    'vector_to_scalar': (lambda x: np.prod(x), X),
    'constant': (lambda x: Y, X),
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
                'outputs: .* requires real-valued outputs .*but got complex'
                '.*holomorphic=True. If not')):
            transform(lambda z: z * z)(1j)
        with pytest.raises(TypeError, match=(
                'outputs: .* requires complex-valued outputs, but got fl')):
            transform(np.abs, holomorphic=True)(1j)


def test_jacfwd_of_complex_numbers_wants_a_word_that_it_may():
    """A column is the derivative along 1; conj has another along i."""
    with pytest.raises(TypeError, match=(
            r'jacfwd of conj\w*: argument 0: jacfwd requires real-valued '
            r'inputs .*but got complex128\[\]. .*holomorphic=True')):
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


# Higher orders


# Perturbations do not mix


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


# Errors

def f(*args):
    """Any function: it is named in the errors, and never called."""
    pytest.fail('f must not be called')


EARLY = {       # before the function runs
    'argnums': (lambda: ad.grad(f, 1)(1.0),
                'grad of f: .*argnums=1 requires at least 2 positional '
                'arguments .* got only 1'),
    'argnums_keyword': (lambda: ad.grad(f)(x=1.0),
                        'positional arguments .* got only 0'),
    'argnums_text': (lambda: ad.grad(f, 'x')(1.0), 'argnums'),
    'argnums_twice': (lambda: ad.grad(f, (0, 0))(1.0), 'Name each'),
    'integer': (lambda: ad.grad(f)(2),
                r'grad of f: argument 0: grad requires real-valued inputs '
                r'.*int64\[\].*Write 2.0'),
    'complex': (lambda: ad.grad(f, 1, holomorphic=True)(1j, 1.0),
                r'argument 1: .*complex-valued inputs, but got float64'),
    'complex_jacfwd': (lambda: ad.jacfwd(f, 1)(1.0, 1j),
                       r'argument 1: .*real-valued inputs .*but got complex'),
    'none_in_list': (lambda: ad.vjp(f, 1.0, ['a']),
                     r'vjp of f: primals\[1\]\[0\].*type str'),
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
    """Return a function named `loss` that returns this value."""
    def loss(x):
        return value(x) if callable(value) else value
    loss.__qualname__ = 'loss'
    return loss


LATE = {        # after it ran
    'array': (lambda x: x, 'grad of loss: Gradient only defined for '
              r'scalar-output functions. Output had shape: \(3,\)'),
    'tuple': (lambda x: (x[0],), r'scalar-output functions. Output was: \('),
    'none': (None, 'Output was: None. Is a `return`'),
    'int': (2, r'loss: outputs: grad requires real-valued outputs .*int64'
               r'\[\], which has no derivative. Convert it'),
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


COTANGENTS = {
    'tree': (lambda x: (x, x), 1.0, 'vjp of loss: unexpected tree structure '
             r'of the cotangent: got PyTreeDef\(\*\), but the output of the '
             r'function has PyTreeDef\(\(\*, \*\)\)'),
    'shape': (lambda x: x, 1.0, r'vjp of loss: cotangent: unexpected type '
              r'.*got float64\[\], but the output of the function is '
              r'float64\[3\]'),
    'dtype': (lambda x: x, SINGLE, r'got float32\[3\].*float64\[3\]'),
    'float_for_float0': (lambda x: np.argmax(x), 1.0, r'is int64\[\]'),
}


@pytest.mark.parametrize('name', COTANGENTS)
def test_cotangents_that_do_not_fit(name):
    out, ct, words = COTANGENTS[name]
    _, f_vjp = ad.vjp(returns(out), X)
    with pytest.raises(ValueError, match=words):
        f_vjp(ct)
    assert current_trace() is Trace.base


TANGENTS = {
    'too_many': ((X, X), TypeError, 'linearize of loss: the linear function '
                 r'takes tangents with the tree structure of the primals, '
                 r'PyTreeDef\(\(\*,\)\), but got PyTreeDef\(\(\*, \*\)\)'),
    'shape': ((1.0,), ValueError, r'linearize of loss: tangents\[0\]: .*'
              r'float64\[3\] and the tangent is float64\[\]'),
    'dtype': ((SINGLE,), TypeError, r'tangents\[0\]: .*float32\[3\]'),
    }


@pytest.mark.parametrize('name', TANGENTS)
def test_tangents_that_do_not_fit(name):
    x_dots, error, words = TANGENTS[name]
    _, f_jvp = ad.linearize(returns(lambda x: x), X)
    with pytest.raises(error, match=words):
        f_jvp(*x_dots)
    assert_same(f_jvp(Y), Y)


