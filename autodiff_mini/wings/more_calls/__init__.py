"""A wing: more calls that carry functions, such as `checkpoint`.

Without this folder, the package lacks the names below, and `def_vmap` and
`optimize_remat` raise an error.
"""

from autodiff_mini.core import seams

NAMES = {   # by public name: where to import it from, on demand
    'Primitive': 'wings.more_calls.user_primitive.UserPrimitive',
    'is_undefined_primal':
        'wings.more_calls.user_primitive.is_undefined_primal',
    'checkpoint': 'wings.more_calls.checkpoint.checkpoint',
    'remat': 'wings.more_calls.checkpoint.checkpoint',
    'checkpoint_policies': 'wings.more_calls.policies.checkpoint_policies',
    'fori_loop': 'wings.more_calls.control_flow.fori_loop',
    'switch': 'wings.more_calls.control_flow.switch',
    'custom_vmap': 'wings.more_calls.custom_vmap.custom_vmap',
    'sequential_vmap': 'wings.more_calls.sequential.sequential_vmap',
}

seams.call_with_batching.take_from('more_calls.custom_vmap')
seams.leave_closure.take_from('more_calls.closing_calls')
seams.bind_both_ways.take_from('more_calls.pullback_of_pullback')
seams.call_if_unused.take_from('more_calls.optimize_remat')
for seam in seams.method_of, seams.open_self, seams.check_attributes:
    seam.take_from('more_calls.jit_methods')
