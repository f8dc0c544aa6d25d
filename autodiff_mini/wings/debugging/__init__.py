"""A wing: tools for debugging, such as `check_grads` and `debug_nans`.

Without this folder, the package lacks only the names below.
"""

NAMES = {   # by public name: where to import it from, on demand
    'check_grads': 'wings.debugging.checking.check_grads',
    'cost': 'wings.debugging.costs.cost',
    'debug_nans': 'wings.debugging.nans.debug_nans',
    'NaNError': 'wings.debugging.nans.NaNError',
    'which': 'wings.debugging.which.which',
}
