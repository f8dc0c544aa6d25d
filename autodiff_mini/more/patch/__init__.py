"""A wing: let `np.array([x, y])` and `y = np.zeros(n); y[0] = x` be traced.

The first trace imports it.  Without this folder, or after
`ad.patch_numpy(False)`, both programs raise an error.  See the page *Arrays
made inside*.
"""

from importlib import import_module

from autodiff_mini import seams

NAMES = {'patch_numpy': 'more.patch.names.patch_numpy'}


@seams.enter_outermost.take
def first_trace_started(trace):
    """Import the wing, which takes the seam over from this function."""
    import_module('autodiff_mini.more.patch.makers')
    seams.enter_outermost(trace)
