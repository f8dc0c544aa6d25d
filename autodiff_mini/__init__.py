"""autodiff_mini: a small autodiff system for plain NumPy."""

import autodiff_mini.drawing  # noqa: F401  (pictures of jaxprs)
import autodiff_mini.higher_order.fission  # noqa: F401  (of loops)
import autodiff_mini.higher_order.staged_calls  # noqa: F401  (its rules)
import autodiff_mini.interpreters.evaluate  # noqa: F401  (the base trace)
from autodiff_mini.applications.implicit import (
    custom_root,
    fixed_point,
    root,
)
from autodiff_mini.applications.ode import odeint
from autodiff_mini.applications.special import (
    expit,
    log1pexp,
    logit,
    logsumexp,
)
from autodiff_mini.checking import check_grads
from autodiff_mini.core import ShapedArray, Tracer, float0, typeof
from autodiff_mini.derivatives import (
    grad,
    hessian,
    jacfwd,
    jacrev,
    linear_transpose,
    linearize,
    value_and_grad,
    vjp,
)
from autodiff_mini.errors import (
    ConcretizationTypeError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    UnexpectedTracerError,
)
from autodiff_mini.forward import jvp, stop_gradient
from autodiff_mini.higher_order.checkpoint import checkpoint
from autodiff_mini.higher_order.checkpoint import checkpoint as remat
from autodiff_mini.higher_order.closures import (
    closure_convert,
    custom_gradient,
)
from autodiff_mini.higher_order.cond import cond, switch
from autodiff_mini.higher_order.custom_jvp import (
    SymbolicZero,
    custom_jvp,
    zero_from_primal,
)
from autodiff_mini.higher_order.custom_vjp import (
    CustomVJPPrimal,
    custom_vjp,
)
from autodiff_mini.higher_order.jit import jit
from autodiff_mini.higher_order.scan import scan
from autodiff_mini.higher_order.while_loop import fori_loop, while_loop
from autodiff_mini.interpreters.jaxpr import (
    eval_jaxpr,
    eval_shape,
    make_jaxpr,
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
from autodiff_mini.user_primitive import (
    UserPrimitive as Primitive,
)
from autodiff_mini.user_primitive import (
    is_undefined_primal,
)

__all__ = [
    'ShapedArray', 'Tracer', 'typeof', 'asarray',
    'Zero', 'float0', 'instantiate_zeros',
    'register_pytree_node', 'register_pytree_node_class',
    'tree_flatten', 'tree_leaves', 'tree_map', 'tree_structure',
    'tree_unflatten',
    'jvp', 'stop_gradient', 'vmap',
    'custom_jvp', 'SymbolicZero', 'zero_from_primal',
    'custom_vjp', 'CustomVJPPrimal', 'closure_convert', 'custom_gradient',
    'make_jaxpr', 'eval_jaxpr', 'eval_shape',
    'linearize', 'linear_transpose', 'vjp', 'grad', 'value_and_grad',
    'jacfwd', 'jacrev', 'hessian', 'check_grads',
    'jit', 'Primitive', 'is_undefined_primal',
    'scan', 'cond', 'switch', 'while_loop', 'fori_loop',
    'checkpoint', 'remat',
    'logit', 'expit', 'log1pexp', 'logsumexp',
    'fixed_point', 'custom_root', 'root', 'odeint',
    'ConcretizationTypeError', 'TracerArrayConversionError',
    'TracerBoolConversionError', 'TracerIntegerConversionError',
    'UnexpectedTracerError',
]
