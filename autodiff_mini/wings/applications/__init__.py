"""A wing: functions that are applications of the library.

Without this folder, the package lacks only the names below.
"""

NAMES = {   # by public name: where to import it from, on demand
    'jacfwd': 'wings.applications.jacobians.jacfwd',
    'jacrev': 'wings.applications.jacobians.jacrev',
    'hessian': 'wings.applications.jacobians.hessian',
    'logit': 'wings.applications.special.logit',
    'expit': 'wings.applications.special.expit',
    'log1pexp': 'wings.applications.special.log1pexp',
    'logsumexp': 'wings.applications.special.logsumexp',
    'fixed_point': 'wings.applications.implicit.fixed_point',
    'custom_root': 'wings.applications.implicit.custom_root',
    'root': 'wings.applications.implicit.root',
    'odeint': 'wings.applications.ode.odeint',
    'closure_convert': 'wings.applications.closures.closure_convert',
    'custom_gradient': 'wings.applications.gradient.custom_gradient',
}
