"""A wing: rows and functions beyond those that the core needs.

Without this folder, calls of them raise an error.  Its folder `patch` is a
wing of its own.
"""

from importlib.util import find_spec

import autodiff_mini.more.error_states  # np.errstate
import autodiff_mini.more.on_demand
import autodiff_mini.more.writing  # x[i] = y

NAMES = {   # {name: its place}, imported on demand
    'Primitive': 'more.user_primitive.UserPrimitive',
    'is_undefined_primal': 'more.user_primitive.is_undefined_primal',
    'checkpoint': 'more.checkpoint.checkpoint',
    'remat': 'more.checkpoint.checkpoint',
    'checkpoint_policies': 'more.policies.checkpoint_policies',
    'fori_loop': 'more.control_flow.fori_loop',
    'switch': 'more.control_flow.switch',
    'custom_vmap': 'more.custom_vmap.custom_vmap',
    'sequential_vmap': 'more.sequential.sequential_vmap',
}
if find_spec('autodiff_mini.more.patch'):
    from autodiff_mini.more import patch  # np.array of traced values
    NAMES |= patch.NAMES
