"""autodiff_mini: a small autodiff system for plain NumPy.

The library is imported when one of its names is first used, so that the
draft of Book One, `autodiff_mini.draft`, loads nothing of it.
"""

__version__ = '0.1.0'

from importlib import import_module
from importlib.util import find_spec

PUBLIC = {  # by module: the names in it that users import
    'api.derivatives': 'grad linear_transpose linearize value_and_grad vjp',
    'api.forward': 'jvp vmap',
    'api.staging': 'eval_shape make_jaxpr',
    'calls.cond': 'cond',
    'calls.custom_jvp': 'custom_jvp',
    'calls.custom_vjp': 'custom_vjp CustomVJPPrimal',
    'calls.jit': 'jit',
    'calls.loops': 'scan while_loop',
    'core.errors':
        'ConcretizationTypeError ReadOnlyError TracerArrayConversionError '
        'TracerBoolConversionError TracerIntegerConversionError '
        'UnexpectedTracerError',
    'core.seams': 'plain',
    'core.trace': 'Tracer',
    'core.trees':
        'register_dataclass register_pytree_node register_pytree_node_class '
        'tree_flatten tree_leaves tree_map tree_structure tree_unflatten',
    'core.types': 'ShapedArray float0 typeof',
    'core.zeros': 'SymbolicZero Zero instantiate_zeros zero_from_primal',
    'interpreters.jaxpr': 'eval_jaxpr',
    'numpy_functions.table': 'asarray',
    'primitives.elementwise': 'stop_gradient',
}
PLACES = {name: f'{module}.{name}'
          for module, names in PUBLIC.items() for name in names.split()}


def load():
    """Import the primitives, the NumPy functions, and the wings."""
    for folder in 'primitives', 'numpy_functions', 'wings':
        if find_spec(f'{__name__}.{folder}'):   # the wings can be missing
            import_module(f'{__name__}.{folder}')


def places() -> dict:
    """Return where each public name is defined; some are in wings."""
    load()
    wings = globals().get('wings')
    return PLACES | getattr(wings, 'NAMES', {})


def __getattr__(name):
    """Import a name, or a folder, when it is first used."""
    if find_spec(f'{__name__}.{name}'):
        return import_module(f'{__name__}.{name}')
    if name.endswith('_ipython_extension'):     # for %load_ext autodiff_mini
        return getattr(import_module(f'{__name__}.wings.notebook'), name)
    found = places()
    if name == '__all__':
        return [*found]
    if name not in found:
        seams = import_module(f'{__name__}.core.seams')
        cure = seams.advise('name', '', name)
        raise AttributeError(
            f'module {__name__!r} has no attribute {name!r}{cure}')
    module, _, inside = found[name].rpartition('.')
    value = getattr(import_module(f'{__name__}.{module}'), inside)
    return globals().setdefault(name, value)


def __dir__():
    """Return the public names, for completion in editors."""
    return sorted([*places(), *(x for x in globals() if x[:2] == '__')])
