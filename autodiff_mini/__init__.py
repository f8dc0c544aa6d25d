"""autodiff_mini: a small autodiff system for plain NumPy."""

__version__ = '0.1.0'

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

import autodiff_mini.numpy_functions  # what NumPy's names mean
import autodiff_mini.primitives  # the rows
from autodiff_mini.api.forward import jvp, vmap
from autodiff_mini.api.reverse import (
    grad, linear_transpose, linearize, value_and_grad, vjp)
from autodiff_mini.api.staging import eval_shape, make_jaxpr
from autodiff_mini.core import ShapedArray, Tracer, float0, typeof
from autodiff_mini.errors import (
    ConcretizationTypeError, ReadOnlyError, TracerArrayConversionError,
    TracerBoolConversionError, TracerIntegerConversionError,
    UnexpectedTracerError)
from autodiff_mini.higher_order.jit import jit
from autodiff_mini.interpreters.jaxpr import eval_jaxpr
from autodiff_mini.numpy_api import asarray
from autodiff_mini.primitives.elementwise import stop_gradient
from autodiff_mini.pytree import (
    register_dataclass, register_pytree_node, register_pytree_node_class,
    tree_flatten, tree_leaves, tree_map, tree_structure, tree_unflatten)
from autodiff_mini.seams import plain, which
from autodiff_mini.zeros import (
    SymbolicZero, Zero, instantiate_zeros, zero_from_primal)

LATER = {   # by name: where it is, to be imported when it is asked for
    'check_grads': 'api.checking.check_grads',
    'cost': 'api.costs.cost',
    'debug_nans': 'api.debugging.debug_nans',
    'NaNError': 'api.debugging.NaNError',
    'jacfwd': 'api.jacobians.jacfwd',
    'jacrev': 'api.jacobians.jacrev',
    'hessian': 'api.jacobians.hessian',
    'Primitive': 'api.primitive.UserPrimitive',
    'is_undefined_primal': 'api.primitive.is_undefined_primal',
    'custom_jvp': 'higher_order.custom_jvp.custom_jvp',
    'custom_vjp': 'higher_order.custom_vjp.custom_vjp',
    'CustomVJPPrimal': 'higher_order.custom_vjp.CustomVJPPrimal',
    'closure_convert': 'higher_order.closures.closure_convert',
    'custom_vmap': 'higher_order.custom_vmap.custom_vmap',
    'scan': 'higher_order.scan.scan',
    'cond': 'higher_order.cond.cond',
    'switch': 'higher_order.cond.switch',
    'while_loop': 'higher_order.while_loop.while_loop',
    'fori_loop': 'higher_order.while_loop.fori_loop',
    'checkpoint': 'higher_order.checkpoint.checkpoint',
    'remat': 'higher_order.checkpoint.checkpoint',
    'checkpoint_policies': 'higher_order.checkpoint.checkpoint_policies',
}

# The wings: each is a folder that nothing else needs, and may be deleted.
if find_spec('autodiff_mini.fast'):
    import autodiff_mini.fast  # a second compiler
if find_spec('autodiff_mini.more'):
    import autodiff_mini.more  # rows and functions, np.array of traced values
    LATER |= autodiff_mini.more.LATER
if find_spec('autodiff_mini.notebook'):
    import autodiff_mini.notebook
    LATER |= autodiff_mini.notebook.LATER
if find_spec('autodiff_mini.applications'):
    import autodiff_mini.applications
    LATER |= autodiff_mini.applications.LATER

if TYPE_CHECKING:   # for editors, which read and do not run
    from autodiff_mini.api.checking import check_grads
    from autodiff_mini.api.costs import cost
    from autodiff_mini.api.debugging import NaNError, debug_nans
    from autodiff_mini.api.jacobians import hessian, jacfwd, jacrev
    from autodiff_mini.api.primitive import UserPrimitive as Primitive
    from autodiff_mini.api.primitive import is_undefined_primal
    from autodiff_mini.applications.gradient import custom_gradient
    from autodiff_mini.applications.implicit import (
        custom_root, fixed_point, root)
    from autodiff_mini.applications.ode import odeint
    from autodiff_mini.applications.sequential import sequential_vmap
    from autodiff_mini.applications.special import (
        expit, log1pexp, logit, logsumexp)
    from autodiff_mini.higher_order.checkpoint import checkpoint
    from autodiff_mini.higher_order.checkpoint import checkpoint as remat
    from autodiff_mini.higher_order.checkpoint import checkpoint_policies
    from autodiff_mini.higher_order.closures import closure_convert
    from autodiff_mini.higher_order.cond import cond, switch
    from autodiff_mini.higher_order.custom_jvp import custom_jvp
    from autodiff_mini.higher_order.custom_vjp import (
        CustomVJPPrimal, custom_vjp)
    from autodiff_mini.higher_order.custom_vmap import custom_vmap
    from autodiff_mini.higher_order.scan import scan
    from autodiff_mini.higher_order.while_loop import fori_loop, while_loop
    from autodiff_mini.more.patch.names import patch_numpy
    from autodiff_mini.notebook.player import watch

__all__ = [
    'ShapedArray', 'Tracer', 'typeof', 'asarray',
    'Zero', 'float0', 'instantiate_zeros', 'SymbolicZero', 'zero_from_primal',
    'register_dataclass', 'register_pytree_node',
    'register_pytree_node_class', 'tree_flatten', 'tree_leaves', 'tree_map',
    'tree_structure', 'tree_unflatten',
    'jvp', 'stop_gradient', 'vmap',
    'make_jaxpr', 'eval_jaxpr', 'eval_shape',
    'linearize', 'linear_transpose', 'vjp', 'grad', 'value_and_grad', 'jit',
    'ConcretizationTypeError', 'ReadOnlyError', 'TracerArrayConversionError',
    'TracerBoolConversionError', 'TracerIntegerConversionError',
    'UnexpectedTracerError', 'plain', 'which', *LATER,
]


def __getattr__(name):
    """Returns what a name of LATER means; Python asks only once."""
    if name not in LATER:
        cure = {'lax': '. Leave lax out: write ad.scan, ad.cond and so on',
                'tree_util': '. Leave tree_util out: write ad.tree_map',
                'numpy': '. Write np: it is plain NumPy'}.get(name, '')
        raise AttributeError(
            f'module {__name__!r} has no attribute {name!r}{cure}')
    module, _, inside = LATER[name].rpartition('.')
    found = getattr(import_module(f'autodiff_mini.{module}'), inside)
    return globals().setdefault(name, found)


def __dir__():
    """Return the public names, which editors complete."""
    return sorted([*__all__, *(x for x in globals() if x[:2] == '__')])
