"""autodiff_mini: a small autodiff system for plain NumPy."""

import autodiff_mini.interpreters.evaluate  # noqa: F401  (the base trace)
from autodiff_mini.core import ShapedArray, Tracer, float0, typeof
from autodiff_mini.errors import (
    ConcretizationTypeError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    UnexpectedTracerError,
)
from autodiff_mini.forward import jvp, stop_gradient
from autodiff_mini.higher_order.custom_jvp import (
    SymbolicZero,
    custom_jvp,
    zero_from_primal,
)
from autodiff_mini.interpreters.jvp import Zero, instantiate_zeros
from autodiff_mini.interpreters.vmap import vmap
from autodiff_mini.numpy_api import asarray
from autodiff_mini.pytree import (
    register_pytree_node,
    register_pytree_node_class,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_structure,
    tree_unflatten,
)

__all__ = [
    'ShapedArray', 'Tracer', 'typeof', 'asarray',
    'Zero', 'float0', 'instantiate_zeros',
    'register_pytree_node', 'register_pytree_node_class',
    'tree_flatten', 'tree_leaves', 'tree_map', 'tree_structure',
    'tree_unflatten',
    'jvp', 'stop_gradient', 'vmap',
    'custom_jvp', 'SymbolicZero', 'zero_from_primal',
    'ConcretizationTypeError', 'TracerArrayConversionError',
    'TracerBoolConversionError', 'TracerIntegerConversionError',
    'UnexpectedTracerError',
]
