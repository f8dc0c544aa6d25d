"""autodiff_mini: a small autodiff system for plain NumPy."""

__version__ = '0.1.0'

from importlib.util import find_spec

import autodiff_mini.higher_order.error_states  # np.errstate
import autodiff_mini.interpreters.evaluate  # the base trace
import autodiff_mini.numpy_functions  # what NumPy's names mean
import autodiff_mini.primitives  # the rows
from autodiff_mini.api.checking import check_grads
from autodiff_mini.api.forward import jvp, vmap
from autodiff_mini.api.jacobians import hessian, jacfwd, jacrev
from autodiff_mini.api.primitive import UserPrimitive as Primitive
from autodiff_mini.api.primitive import is_undefined_primal
from autodiff_mini.api.reverse import (
    grad, linear_transpose, linearize, value_and_grad, vjp)
from autodiff_mini.api.staging import eval_shape, make_jaxpr
from autodiff_mini.core import ShapedArray, Tracer, float0, typeof
from autodiff_mini.errors import (
    ConcretizationTypeError, ReadOnlyError, TracerArrayConversionError,
    TracerBoolConversionError, TracerIntegerConversionError,
    UnexpectedTracerError)
from autodiff_mini.higher_order.checkpoint import checkpoint
from autodiff_mini.higher_order.checkpoint import checkpoint as remat
from autodiff_mini.higher_order.checkpoint import checkpoint_policies
from autodiff_mini.higher_order.closures import (
    closure_convert, custom_gradient)
from autodiff_mini.higher_order.cond import cond, switch
from autodiff_mini.higher_order.custom_jvp import custom_jvp
from autodiff_mini.higher_order.custom_vjp import CustomVJPPrimal, custom_vjp
from autodiff_mini.higher_order.custom_vmap import (
    custom_vmap, sequential_vmap)
from autodiff_mini.higher_order.jit import jit
from autodiff_mini.higher_order.scan import scan
from autodiff_mini.higher_order.while_loop import fori_loop, while_loop
from autodiff_mini.interpreters.jaxpr import eval_jaxpr
from autodiff_mini.numpy_api import asarray
from autodiff_mini.primitives.elementwise import stop_gradient
from autodiff_mini.pytree import (
    register_pytree_node, register_pytree_node_class, tree_flatten,
    tree_leaves, tree_map, tree_structure, tree_unflatten)
from autodiff_mini.zeros import (
    SymbolicZero, Zero, instantiate_zeros, zero_from_primal)

__all__ = [
    'ShapedArray', 'Tracer', 'typeof', 'asarray',
    'Zero', 'float0', 'instantiate_zeros',
    'register_pytree_node', 'register_pytree_node_class',
    'tree_flatten', 'tree_leaves', 'tree_map', 'tree_structure',
    'tree_unflatten',
    'jvp', 'stop_gradient', 'vmap',
    'custom_jvp', 'SymbolicZero', 'zero_from_primal',
    'custom_vjp', 'CustomVJPPrimal', 'closure_convert', 'custom_gradient',
    'custom_vmap', 'sequential_vmap',
    'make_jaxpr', 'eval_jaxpr', 'eval_shape',
    'linearize', 'linear_transpose', 'vjp', 'grad', 'value_and_grad',
    'jacfwd', 'jacrev', 'hessian', 'check_grads',
    'jit', 'Primitive', 'is_undefined_primal',
    'scan', 'cond', 'switch', 'while_loop', 'fori_loop',
    'checkpoint', 'remat', 'checkpoint_policies',
    'ConcretizationTypeError', 'ReadOnlyError', 'TracerArrayConversionError',
    'TracerBoolConversionError', 'TracerIntegerConversionError',
    'UnexpectedTracerError',
]

# The wings: each is a folder that nothing else needs, and may be deleted.
if find_spec('autodiff_mini.fast'):
    import autodiff_mini.fast  # a second compiler
if find_spec('autodiff_mini.more'):
    import autodiff_mini.more  # rows and functions
if find_spec('autodiff_mini.notebook'):
    from autodiff_mini.notebook import watch
    __all__ += ['watch']
if find_spec('autodiff_mini.applications'):
    from autodiff_mini.applications import (
        custom_root, expit, fixed_point, log1pexp, logit, logsumexp, odeint,
        root)
    __all__ += ['logit', 'expit', 'log1pexp', 'logsumexp',
                'fixed_point', 'custom_root', 'root', 'odeint']
