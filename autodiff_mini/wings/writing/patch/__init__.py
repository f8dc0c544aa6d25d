"""A wing: let `np.array([x, y])` and `y = np.zeros(n); y[0] = x` be traced.

The first trace imports it.  Without this folder, or after
`ad.patch_numpy(False)`, both programs raise an error.  See the page *Arrays
made inside*.
"""

from importlib import import_module

from autodiff_mini.core import seams

NAMES = {'patch_numpy': 'wings.writing.patch.traced_numpy.patch_numpy'}


@seams.enter_outermost.take
def first_trace_started(trace):
    """Import the wing, which takes the seam over from this function."""
    import_module('autodiff_mini.wings.writing.patch.makers')
    seams.enter_outermost(trace)
