"""Programs as users write them: they run, and have no type errors.

`make lint` reads this file with mypy and pyright, as editors do.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, assert_type

import numpy as np
import pytest
from numpy.typing import NDArray

import autodiff_mini as ad
from tests.support.wings import needs

Array = NDArray[np.float64]


def test_value_and_grad_returns_both() -> None:
    def loss(params: dict[str, Array]) -> float:
        return np.sum(params['w'] ** 2)

    value, gradient = ad.value_and_grad(loss)({'w': np.ones(3)})
    assert_type(value, float)
    assert value == 3.0 and gradient['w'].tolist() == [2.0, 2.0, 2.0]


def test_an_auxiliary_output_is_returned() -> None:
    def loss(w: Array) -> tuple[float, dict[str, int]]:
        return np.sum(w ** 2), {'steps': 1}

    gradient, aux = ad.grad(loss, has_aux=True)(np.ones(2))
    assert_type(aux, dict[str, int])
    (value, again), same = ad.value_and_grad(loss, has_aux=True)(np.ones(2))
    assert_type(value, float)
    assert value == 2.0 and again == aux and (same == gradient).all()


def test_a_pullback_is_applied() -> None:
    def f(x: float, y: float) -> float:
        return x * np.sin(y)

    z, pullback = ad.vjp(f, 2.0, 0.0)
    assert_type(z, float)
    x_bar, y_bar = pullback(1.0)
    z, pullback, aux = ad.vjp(lambda x: (x, 'seen'), 2.0, has_aux=True)
    assert (x_bar, y_bar, aux) == (0.0, 2.0, 'seen')
    assert pullback(3.0) == (3.0,)


def test_a_derivative_along_a_direction_is_computed() -> None:
    def f(x: Array) -> Array:
        return x ** 3

    x = np.ones(2)
    y, y_dot = ad.jvp(f, (x,), (x,))
    assert_type(y_dot, Array)
    y, push = ad.linearize(f, x)
    assert push(x).sum() == y_dot.sum() == 3 * y.sum()
    out = ad.jvp(lambda x: (x * 2, 'seen'), [1.0], [1.0], has_aux=True)
    assert out == (2.0, 2.0, 'seen')
    np.testing.assert_allclose(ad.jacfwd(f)(x), ad.jacrev(f)(x))
    assert ad.hessian(lambda x: np.prod(x))(x).shape == (2, 2)


def test_a_batch_of_gradients_is_computed() -> None:
    def loss(w: Array, x: Array) -> float:
        return np.dot(w, x) ** 2

    per_example = ad.vmap(ad.grad(loss), in_axes=(None, 0))
    assert per_example(np.ones(3), np.ones((5, 3))).shape == (5, 3)


def test_a_function_is_compiled() -> None:
    @ad.jit
    def step(x: Array, rate: float = 0.1) -> Array:
        return x - rate * x

    @partial(ad.jit, static_argnums=(1,))
    def power(x: Array, n: int) -> Array:
        return x if n == 1 else x * power(x, n - 1)

    assert_type(step(np.ones(2)), Array)
    assert step(np.ones(2), rate=0.5).tolist() == [0.5, 0.5]
    assert step.source.splitlines()[-1]
    assert power(np.array([2.0]), 3)[0] == 8.0
    assert ad.jit(lambda x, n: x ** n, static_argnames='n')(2.0, n=3) == 8.0


def test_a_method_is_compiled() -> None:
    class Line:
        def __init__(self, slope: float) -> None:
            self.slope = slope

        @ad.jit
        def above(self, x: float) -> float:
            return self.slope * x + 1

        @ad.custom_jvp
        def twice(self, x: float) -> float:
            return 2 * x

    assert Line(3.0).above(2.0) == 7.0 and callable(Line.twice)


def test_a_custom_jvp_is_used() -> None:
    @ad.custom_jvp
    def log1p_exp(x: Array) -> Array:
        return np.log1p(np.exp(x))

    @log1p_exp.defjvp
    def log1p_exp_jvp(primals: tuple[Array], tangents: tuple[Array]
                      ) -> tuple[Array, Array]:
        (x,), (x_dot,) = primals, tangents
        return log1p_exp(x), x_dot / (1 + np.exp(-x))

    assert_type(log1p_exp(np.zeros(1)), Array)
    assert ad.grad(lambda x: log1p_exp(x).sum())(np.zeros(1))[0] == 0.5


def test_a_custom_vjp_is_used() -> None:
    @partial(ad.custom_vjp, nondiff_argnums=(0,))
    def clipped(limit: float, x: Array) -> Array:
        return x

    def fwd(limit: float, x: Array) -> tuple[Array, None]:
        return x, None

    def bwd(limit: float, residuals: None, ct: Array) -> tuple[Array]:
        return (np.clip(ct, -limit, limit),)

    clipped.defvjp(fwd, bwd)
    y, pullback = ad.vjp(partial(clipped, 1.0), np.ones(2))
    (x_bar,) = pullback(np.array([-5.0, 0.5]))
    assert y.tolist() == [1.0, 1.0] and x_bar.tolist() == [-1.0, 0.5]


def test_a_custom_vmap_is_used() -> None:
    @ad.custom_vmap
    def f(x: Array) -> Array:
        return np.sort(x)

    @f.def_vmap
    def f_all(size: int, in_batched: list[bool], x: Array
              ) -> tuple[Array, bool]:
        return np.sort(x, -1), True

    assert f(np.array([2.0, 1.0]))[0] == 1.0
    assert ad.vmap(f)(np.array([[2.0, 1.0]])).tolist() == [[1.0, 2.0]]


def test_loops_and_branches_run() -> None:
    def step(carry: Array, x: float) -> tuple[Array, Array]:
        return carry + x, carry

    last, before = ad.scan(step, np.zeros(2), np.arange(3.0))
    assert_type(last, Array)
    assert last.tolist() == [3.0, 3.0] and before.shape == (3, 2)
    assert ad.cond(True, lambda x: x, lambda x: -x, 2.0) == 2.0
    assert ad.switch(1, [np.sin, np.cos], 0.0) == 1.0
    assert ad.while_loop(lambda i: i < 10, lambda i: i * 2, 1) == 16
    assert ad.fori_loop(1, 5, lambda i, product: i * product, 1) == 24


def test_a_registered_container_is_a_tree() -> None:
    @dataclass
    class Layer:
        w: float
        size: int

    @ad.register_pytree_node_class
    class Box:
        def __init__(self, inside: Any) -> None:
            self.inside = inside

        def tree_flatten(self) -> tuple[tuple[Any], None]:
            return (self.inside,), None

        @classmethod
        def tree_unflatten(cls, aux: None, children: Any) -> 'Box':
            return cls(*children)

    leaves, treedef = ad.tree_flatten(ad.tree_map(lambda x: 2 * x, (1, 2)))
    assert ad.tree_unflatten(treedef, leaves) == (2, 4)
    ad.register_dataclass(Layer, ['w'], ['size'])
    assert ad.grad(lambda layer: layer.w ** 2)(Layer(3.0, 1)).w == 6.0
    slope = ad.grad(lambda box: box.inside ** 2)(Box(3.0))
    assert slope.inside == 6.0 and Box(1).tree_flatten() == ((1,), None)


def test_a_program_is_data() -> None:
    def f(x: Array) -> Array:
        return np.sin(x) * 2

    jaxpr = ad.make_jaxpr(f)(np.ones(3))
    [y] = ad.eval_jaxpr(jaxpr, jaxpr.consts, np.zeros(3))
    shape = ad.eval_shape(f, np.ones(3)).shape
    jaxpr, types = ad.make_jaxpr(f, return_shape=True)(np.ones(3))
    assert shape == types.shape == y.shape and len(jaxpr.eqns) == 2
    assert ad.typeof(y).dtype == np.float64


def test_memory_is_saved_and_rules_are_checked() -> None:
    @ad.checkpoint
    def layer(x: Array, w: Array) -> Array:
        return np.tanh(w @ x)

    @partial(ad.checkpoint, policy=ad.checkpoint_policies.dots_saveable)
    def saved(x: Array) -> Array:
        return np.sin(x)

    ad.check_grads(layer, (np.ones(2), np.eye(2)), order=1, modes=['rev'])
    with pytest.raises(ad.TracerBoolConversionError, match='bool'):
        ad.jit(lambda x: x if x > 0 else saved(x))(1.0)
    assert saved(np.zeros(1))[0] == 0.0


@needs('applications')
def test_equations_are_solved() -> None:
    def slope(y: Array, t: float, rate: float) -> Array:
        return -rate * y

    def babylonian(a: float, x: float) -> float:
        return (x + a / x) / 2

    path = ad.odeint(slope, np.ones(1), [0.0, 1.0], 0.5)
    root_of_2 = ad.fixed_point(babylonian, 2.0, 1.0)
    again = ad.root(lambda a, x: x * x - a, 2.0, 1.0)
    assert path.shape == (2, 1)
    assert round(root_of_2, 6) == round(again, 6) == 1.414214
    assert ad.expit(0.0) == 0.5
    assert ad.logsumexp(np.zeros((2, 2)), axis=(0, 1)) == np.log(4)
