"""The types of what users call, for type checkers and editors.

The code itself has none, so that it reads as the book prints it.  `make lint`
compares the two: names, arguments and defaults.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import (
    Any, Concatenate, Generic, Literal, ParamSpec, Self, TypeVar, overload)

import numpy as np
from numpy.typing import DTypeLike

from autodiff_mini.calls.custom_vjp import CustomVJPPrimal
from autodiff_mini.core.errors import (
    ConcretizationTypeError, ReadOnlyError, TracerArrayConversionError,
    TracerBoolConversionError, TracerIntegerConversionError,
    UnexpectedTracerError)
from autodiff_mini.core.jaxprs import Jaxpr
from autodiff_mini.core.trace import ShapedArray, Tracer
from autodiff_mini.core.trees import PyTreeDef
from autodiff_mini.core.zeros import SymbolicZero, Zero
from autodiff_mini.wings.debugging.costs import CostTable
from autodiff_mini.wings.debugging.nans import NaNError
from autodiff_mini.wings.more_calls.policies import checkpoint_policies
from autodiff_mini.wings.notebook.player import Recording

__all__ = [
    'ShapedArray', 'Tracer', 'typeof', 'asarray', 'Zero', 'float0',
    'instantiate_zeros', 'register_dataclass', 'register_pytree_node',
    'register_pytree_node_class',
    'tree_flatten', 'tree_leaves', 'tree_map', 'tree_structure',
    'tree_unflatten', 'jvp', 'stop_gradient', 'vmap', 'custom_jvp',
    'SymbolicZero', 'zero_from_primal', 'custom_vjp', 'CustomVJPPrimal',
    'closure_convert', 'custom_gradient', 'custom_vmap', 'sequential_vmap',
    'make_jaxpr', 'eval_jaxpr', 'eval_shape', 'cost', 'debug_nans',
    'NaNError', 'linearize',
    'linear_transpose', 'vjp', 'grad', 'value_and_grad', 'jacfwd', 'jacrev',
    'hessian',
    'check_grads', 'jit', 'Primitive', 'is_undefined_primal', 'scan', 'cond',
    'switch', 'while_loop', 'fori_loop', 'checkpoint', 'remat',
    'checkpoint_policies', 'ConcretizationTypeError', 'ReadOnlyError',
    'TracerArrayConversionError', 'TracerBoolConversionError',
    'TracerIntegerConversionError', 'UnexpectedTracerError', 'watch', 'logit',
    'expit', 'log1pexp', 'logsumexp', 'fixed_point', 'custom_root', 'root',
    'odeint', 'patch_numpy', 'backend', 'plain', 'which',
]

__version__: str

_A = TypeVar('_A')
_F = TypeVar('_F', bound=Callable[..., Any])
_P = ParamSpec('_P')
_Q = ParamSpec('_Q')
_R = TypeVar('_R')
_S = TypeVar('_S')


# Values.
float0: np.dtype[np.void]

def patch_numpy(on: bool = True) -> None: ...
def asarray(a: Any, dtype: DTypeLike | None = None) -> Any: ...
def typeof(x: Any) -> ShapedArray: ...
def stop_gradient(x: _S) -> _S: ...
def instantiate_zeros(t: Any) -> Any: ...
def zero_from_primal(x: Any, symbolic_zeros: bool = False) -> Any: ...


# Trees.
def tree_flatten(tree: Any) -> tuple[list[Any], PyTreeDef]: ...
def tree_unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any: ...
def tree_leaves(tree: Any) -> list[Any]: ...
def tree_structure(tree: Any) -> PyTreeDef: ...
def tree_map(f: Callable[..., Any], tree: Any, *rest: Any) -> Any: ...
def register_pytree_node(
    node_type: type[_S],
    flatten: Callable[[_S], tuple[Iterable[Any], Any]],
    unflatten: Callable[[Any, Any], _S],
    names: Callable[[Any], Iterable[str]] | None = None) -> None: ...
def register_dataclass(
    nodetype: type[_S], data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None) -> type[_S]: ...
def register_pytree_node_class(cls: type[_S]) -> type[_S]: ...


# Forward mode and batching.
@overload
def jvp(f: Callable[..., tuple[_R, _A]], primals: Sequence[Any],
        tangents: Sequence[Any], has_aux: Literal[True]
        ) -> tuple[_R, _R, _A]: ...
@overload
def jvp(f: Callable[..., _R], primals: Sequence[Any], tangents: Sequence[Any],
        has_aux: Literal[False] = False) -> tuple[_R, _R]: ...
@overload
def jvp(f: Callable[..., Any], primals: Sequence[Any],
        tangents: Sequence[Any], has_aux: bool = False) -> Any: ...
def vmap(f: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0,
         axis_size: int | None = None) -> Callable[..., Any]: ...


# Reverse mode.  The backward function returns a tuple like the arguments.
@overload
def vjp(f: Callable[..., tuple[_R, _A]], *primals: Any, has_aux: Literal[True]
        ) -> tuple[_R, Callable[[Any], tuple[Any, ...]], _A]: ...
@overload
def vjp(f: Callable[..., _R], *primals: Any, has_aux: Literal[False] = False
        ) -> tuple[_R, Callable[[Any], tuple[Any, ...]]]: ...
@overload
def vjp(f: Callable[..., Any], *primals: Any, has_aux: bool = False
        ) -> Any: ...
@overload
def linearize(f: Callable[..., tuple[_R, _A]], *primals: Any,
              has_aux: Literal[True]) -> tuple[_R, Callable[..., _R], _A]: ...
@overload
def linearize(f: Callable[..., _R], *primals: Any,
              has_aux: Literal[False] = False
              ) -> tuple[_R, Callable[..., _R]]: ...
@overload
def linearize(f: Callable[..., Any], *primals: Any, has_aux: bool = False
              ) -> Any: ...
def linear_transpose(f: Callable[..., Any], *primals: Any
                     ) -> Callable[[Any], tuple[Any, ...]]: ...
@overload
def grad(f: Callable[_P, tuple[Any, _A]], argnums: int | Sequence[int] = 0, *,
         has_aux: Literal[True], holomorphic: bool = False,
         allow_int: bool = False) -> Callable[_P, tuple[Any, _A]]: ...
@overload
def grad(f: Callable[_P, Any], argnums: int | Sequence[int] = 0,
         has_aux: bool = False, holomorphic: bool = False,
         allow_int: bool = False) -> Callable[_P, Any]: ...
def value_and_grad(f: Callable[_P, _R], argnums: int | Sequence[int] = 0,
                   has_aux: bool = False, holomorphic: bool = False,
                   allow_int: bool = False
                   ) -> Callable[_P, tuple[_R, Any]]: ...
@overload
def jacfwd(f: Callable[_P, tuple[Any, _A]],
           argnums: int | Sequence[int] = 0, *, has_aux: Literal[True],
           holomorphic: bool = False, allow_int: bool = False
           ) -> Callable[_P, tuple[Any, _A]]: ...
@overload
def jacfwd(f: Callable[_P, Any], argnums: int | Sequence[int] = 0,
           has_aux: bool = False, holomorphic: bool = False,
           allow_int: bool = False) -> Callable[_P, Any]: ...
@overload
def jacrev(f: Callable[_P, tuple[Any, _A]],
           argnums: int | Sequence[int] = 0, *, has_aux: Literal[True],
           holomorphic: bool = False, allow_int: bool = False
           ) -> Callable[_P, tuple[Any, _A]]: ...
@overload
def jacrev(f: Callable[_P, Any], argnums: int | Sequence[int] = 0,
           has_aux: bool = False, holomorphic: bool = False,
           allow_int: bool = False) -> Callable[_P, Any]: ...
@overload
def hessian(f: Callable[_P, tuple[Any, _A]],
            argnums: int | Sequence[int] = 0, *, has_aux: Literal[True],
            holomorphic: bool = False, allow_int: bool = False
            ) -> Callable[_P, tuple[Any, _A]]: ...
@overload
def hessian(f: Callable[_P, Any], argnums: int | Sequence[int] = 0,
            has_aux: bool = False, holomorphic: bool = False,
            allow_int: bool = False) -> Callable[_P, Any]: ...
def check_grads(f: Callable[..., Any], args: Sequence[Any], order: int,
                modes: str | Sequence[str] = ('fwd', 'rev'),
                eps: float | None = None, atol: float | None = None,
                rtol: float | None = None) -> None: ...


# Programs.
@overload
def make_jaxpr(f: Callable[_P, Any],
               static_argnums: int | Sequence[int] = (), *,
               return_shape: Literal[True]
               ) -> Callable[_P, tuple[Jaxpr, Any]]: ...
@overload
def make_jaxpr(f: Callable[_P, Any],
               static_argnums: int | Sequence[int] = (),
               return_shape: Literal[False] = False
               ) -> Callable[_P, Jaxpr]: ...
@overload
def make_jaxpr(f: Callable[_P, Any],
               static_argnums: int | Sequence[int] = (),
               return_shape: bool = False) -> Callable[_P, Any]: ...
def eval_jaxpr(jaxpr: Jaxpr, consts: Iterable[Any], *args: Any
               ) -> list[Any]: ...
def cost(f: Callable[..., Any], *args: Any) -> CostTable: ...
def debug_nans() -> AbstractContextManager[None]: ...
def backend(name: Literal['numpy', 'fused']) -> AbstractContextManager[None]: ...
def plain(*wings: str) -> AbstractContextManager[None]: ...
def which(f: Callable[..., Any], *args: Any) -> list[str]: ...
def eval_shape(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any: ...
def watch(f: Callable[..., Any], *args: Any, name: str = 'player',
          title: str = '', lines: Sequence[Any] = (),
          roles: Sequence[str] = (), memory: bool = False) -> Recording: ...


# Functions with their own rule or program: they are called as before, and in
# a class they are methods.
class _Function(Generic[_P, _R]):
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
    @overload
    def __get__(self, instance: None, owner: type | None = None
                ) -> Self: ...
    @overload
    def __get__(self: _Function[Concatenate[Any, _Q], _R], instance: object,
                owner: type | None = None) -> Callable[_Q, _R]: ...

class custom_jvp(_Function[_P, _R]):
    fun: Callable[_P, _R]
    def __init__(self, fun: Callable[_P, _R],
                 nondiff_argnums: int | Sequence[int] = (),
                 nondiff_argnames: str | Sequence[str] = ()) -> None: ...
    def defjvp(self, rule: _F, symbolic_zeros: bool = False) -> _F: ...
    def defjvps(self, *rules: Callable[..., Any] | None) -> None: ...
    def def_vmap(self, rule: _F) -> _F: ...

class custom_vjp(custom_jvp[_P, _R]):
    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any],
               symbolic_zeros: bool = False, optimize_remat: bool = False
               ) -> None: ...

class custom_vmap(custom_vjp[_P, _R]): ...

class jit(_Function[_P, _R]):
    def __init__(self, f: Callable[_P, _R],
                 static_argnums: int | Sequence[int] = (),
                 static_argnames: str | Sequence[str] = (),
                 backend: Literal['numpy', 'fused'] | None = None
                 ) -> None: ...
    @property
    def source(self) -> str: ...

def sequential_vmap(fun: Callable[_P, _R]) -> custom_vmap[_P, _R]: ...
def custom_gradient(fun: Callable[_P, tuple[_R, Any]]
                    ) -> custom_vjp[_P, _R]: ...
def closure_convert(fun: Callable[..., _R], *example_args: Any
                    ) -> tuple[Callable[..., _R], list[Any]]: ...
def checkpoint(f: _F, *, prevent_cse: bool = True,
               policy: Callable[..., Any] | None = None,
               static_argnums: int | Sequence[int] = ()) -> _F: ...

remat = checkpoint

class Primitive:
    name: str
    multiple_results: bool
    def __init__(self, name: str, multiple_results: bool = False
                 ) -> None: ...
    def bind(self, *args: Any, **params: Any) -> Any: ...
    def def_impl(self, rule: _F) -> _F: ...
    def def_abstract_eval(self, rule: _F) -> _F: ...
    def def_jvp(self, rule: _F) -> _F: ...
    def def_vjp(self, fwd: _F, bwd: Callable[..., Any] | None = None
                ) -> _F: ...
    def def_vmap(self, rule: _F) -> _F: ...
    def def_transpose(self, rule: _F) -> _F: ...
    def def_lowering(self, rule: _F) -> _F: ...

def is_undefined_primal(x: Any) -> bool: ...


# Control flow.
def scan(f: Callable[[Any, Any], tuple[_S, Any]], init: Any, xs: Any = None,
         length: int | None = None, reverse: bool = False
         ) -> tuple[_S, Any]: ...
def cond(pred: Any, true_fun: Callable[..., _R],
         false_fun: Callable[..., Any], *operands: Any) -> _R: ...
def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any
           ) -> Any: ...
def while_loop(cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], _S],
               init_val: Any) -> _S: ...
def fori_loop(lower: Any, upper: Any, body_fun: Callable[[Any, Any], _S],
              init_val: Any) -> _S: ...


# Applications.
def logit(x: Any) -> Any: ...
def expit(x: Any) -> Any: ...
def log1pexp(x: Any) -> Any: ...

def logsumexp(x: Any, axis: int | Sequence[int] | None = None,
              keepdims: bool = False, b: Any = None) -> Any: ...
def fixed_point(f: Callable[[Any, Any], _S], a: Any, x_guess: Any, *,
                tol: float | None = None, max_steps: int = 10000) -> _S: ...
def custom_root(f: Callable[[Any], Any], initial_guess: Any,
                solve: Callable[[Any, Any], _S],
                tangent_solve: Callable[[Any, Any], Any]) -> _S: ...
def root(f: Callable[[Any, Any], Any], a: Any, x_guess: Any, *,
         tol: float | None = None, max_steps: int = 100) -> Any: ...
def odeint(func: Callable[..., Any], y0: Any, t: Any, *args: Any,
           rtol: float = 1.4e-8, atol: float = 1.4e-8, mxstep: int = 100000
           ) -> Any: ...
