"""A wing: functions that are applications of the library.

Without this folder, the package lacks only the names below.
"""

NAMES = {   # by name: where to import it from, on demand
    'jacfwd': 'applications.jacobians.jacfwd',
    'jacrev': 'applications.jacobians.jacrev',
    'hessian': 'applications.jacobians.hessian',
    'logit': 'applications.special.logit',
    'expit': 'applications.special.expit',
    'log1pexp': 'applications.special.log1pexp',
    'logsumexp': 'applications.special.logsumexp',
    'fixed_point': 'applications.implicit.fixed_point',
    'custom_root': 'applications.implicit.custom_root',
    'root': 'applications.implicit.root',
    'odeint': 'applications.ode.odeint',
    'closure_convert': 'applications.closures.closure_convert',
    'custom_gradient': 'applications.gradient.custom_gradient',
}
