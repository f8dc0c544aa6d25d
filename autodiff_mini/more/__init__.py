"""A wing: rows and functions beyond those that the core needs.

Without this folder, calls of them raise an error.  Its folder `calls` holds
calls that carry functions, and its folder `patch` is a wing of its own.
"""

from importlib.util import find_spec

import autodiff_mini.more.boxes  # traced arrays that change
import autodiff_mini.more.on_demand

NAMES = {   # {name: its place}, imported on demand
    'Primitive': 'more.calls.user_primitive.UserPrimitive',
    'is_undefined_primal': 'more.calls.user_primitive.is_undefined_primal',
    'checkpoint': 'more.calls.checkpoint.checkpoint',
    'remat': 'more.calls.checkpoint.checkpoint',
    'checkpoint_policies': 'more.calls.policies.checkpoint_policies',
    'fori_loop': 'more.calls.control_flow.fori_loop',
    'switch': 'more.calls.control_flow.switch',
    'custom_vmap': 'more.calls.custom_vmap.custom_vmap',
    'sequential_vmap': 'more.calls.sequential.sequential_vmap',
}
if find_spec('autodiff_mini.more.patch'):
    from autodiff_mini.more import patch  # np.array of traced values
    NAMES |= patch.NAMES
