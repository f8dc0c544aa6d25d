"""autodiff_mini: a small autodiff system for plain NumPy."""

__version__ = '0.1.0'

import importlib.util

import autodiff_mini.numpy_functions  # NumPy functions on tracers
import autodiff_mini.primitives  # primitives and rules
from autodiff_mini import seams
from autodiff_mini.api.derivatives import (
    grad, linear_transpose, linearize, value_and_grad, vjp)
from autodiff_mini.api.staging import eval_shape, make_jaxpr
from autodiff_mini.core import ShapedArray, Tracer, float0, typeof
from autodiff_mini.errors import (
    ConcretizationTypeError, ReadOnlyError, TracerArrayConversionError,
    TracerBoolConversionError, TracerIntegerConversionError,
    UnexpectedTracerError)
from autodiff_mini.interpreters.jaxpr import eval_jaxpr
from autodiff_mini.numpy_api import asarray
from autodiff_mini.primitives.elementwise import stop_gradient
from autodiff_mini.pytree import (
    register_dataclass, register_pytree_node, register_pytree_node_class,
    tree_flatten, tree_leaves, tree_map, tree_structure, tree_unflatten)
from autodiff_mini.seams import plain
from autodiff_mini.zeros import (
    SymbolicZero, Zero, instantiate_zeros, zero_from_primal)

__all__ = [name for name, x in globals().items()
           if name[0] != '_' and not isinstance(x, type(importlib))]

LATER = {   # by name: where it is defined, for import on demand
    'cond': 'higher_order.cond.cond',
    'custom_jvp': 'higher_order.custom_jvp.custom_jvp',
    'custom_vjp': 'higher_order.custom_vjp.custom_vjp',
    'CustomVJPPrimal': 'higher_order.custom_vjp.CustomVJPPrimal',
    'jit': 'higher_order.jit.jit',
    'jvp': 'api.forward.jvp',
    'scan': 'higher_order.loops.scan',
    'vmap': 'api.forward.vmap',
    'while_loop': 'higher_order.loops.while_loop',
}
# The wings: nothing else needs these folders, so each can be deleted.
for wing in ('fast', 'fused', 'more', 'elsewhere', 'notebook', 'applications',
             'tools'):
    if importlib.util.find_spec(f'autodiff_mini.{wing}'):
        module = importlib.import_module(f'autodiff_mini.{wing}')
        LATER |= getattr(module, 'NAMES', {})
__all__ += [*LATER]


def __getattr__(name):
    """Import a name when it is first used."""
    if name not in LATER:
        cure = seams.advise('name', '', name)
        raise AttributeError(
            f'module {__name__!r} has no attribute {name!r}{cure}')
    place, _, inside = LATER[name].rpartition('.')
    found = getattr(importlib.import_module(f'autodiff_mini.{place}'), inside)
    return globals().setdefault(name, found)


def __dir__():
    """Return the public names, for completion in editors."""
    return sorted([*__all__, *(x for x in globals() if x[:2] == '__')])
