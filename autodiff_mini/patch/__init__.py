"""A wing: let np.array([x, y]) and `y = np.zeros(n); y[0] = x` be traced.

The first trace imports it.  Without this folder, or after
`ad.patch_numpy(False)`, both programs raise an error.  The page
*Arrays made inside*.
"""

from importlib import import_module

from autodiff_mini.core import Trace

NAMES = {'patch_numpy': 'patch.names.patch_numpy'}


def first_trace_started(trace):
    """Import the wing, which replaces this hook with its own."""
    import_module('autodiff_mini.patch.makers')
    Trace.outermost_started(trace)


Trace.outermost_started = first_trace_started
