import numpy as np

from autodiff_mini import draft as ad
from autodiff_mini.draft.core import typeof

RNG = np.random.default_rng(0)
MATRIX = RNG.standard_normal((3, 4))
X, V = RNG.standard_normal((2, 4))


def f(x):
    return MATRIX @ np.sin(x)


def loss(y):
    return np.sum(np.exp(y)) + y[0] * y[1]


def jacobian(f, x):
    return ad.vmap(lambda v: ad.jvp(f, (x,), (v,))[1])(np.eye(len(x))).T


def hessian(f, x):
    return jacobian(ad.grad(f), x)


def product_of_matrices(f, loss, x, v):
    j = jacobian(f, x)
    return j.T @ hessian(loss, f(x)) @ j @ v


def test_product(exercise):
    found = exercise.gauss_newton(f, loss, X, V)
    assert np.allclose(found, product_of_matrices(f, loss, X, V))


def test_for_a_linear_function_it_is_the_hessian(exercise):
    g = lambda x: MATRIX @ x
    found = exercise.gauss_newton(g, loss, X, V)
    assert np.allclose(found, hessian(lambda x: loss(g(x)), X) @ V)


def test_trees(exercise):
    g = lambda p: np.tanh(p['w'] @ np.ones(2) + p['b'])
    x = {'w': RNG.standard_normal((3, 2)), 'b': np.zeros(3)}
    v = {'w': np.ones((3, 2)), 'b': np.arange(3.0)}
    found = exercise.gauss_newton(g, loss, x, v)
    on_flat = lambda z: g({'w': np.reshape(z[:6], (3, 2)), 'b': z[6:]})
    flat = lambda p: np.concatenate([p['w'].ravel(), p['b']])
    assert np.allclose(flat(found),
                       product_of_matrices(on_flat, loss, flat(x), flat(v)))


def test_no_array_is_a_matrix(exercise):
    n = 50
    g, square = lambda x: np.sin(x) * np.sum(x), lambda y: np.sum(y ** 2)
    jaxpr = ad.make_jaxpr(
        lambda x, v: exercise.gauss_newton(g, square, x, v))(
            np.ones(n), np.ones(n))
    sizes = [int(np.prod(typeof(eqn.outvars).shape)) for eqn in jaxpr.eqns]
    assert max(sizes) == n
    assert sum(sizes) <= 40 * n     # a fixed number of vectors


def test_function_is_run_once(exercise):
    runs = []
    exercise.gauss_newton(lambda x: runs.append('f') or f(x), loss, X, V)
    assert runs == ['f']
