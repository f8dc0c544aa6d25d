"""A wing: np.array([x, y]), and np.zeros(n) to be filled with traced values.

It is imported when the first trace starts.  Without this folder, or after
`ad.patch_numpy(False)`, both are refused.  Appendix W.
"""

from importlib import import_module

from autodiff_mini.core import Trace

LATER = {'patch_numpy': 'patch.names.patch_numpy'}


def first_trace_started(trace):
    """Import the wing, whose own functions then hear of traces."""
    import_module('autodiff_mini.patch.makers')
    Trace.outermost_started(trace)


Trace.outermost_started = first_trace_started
