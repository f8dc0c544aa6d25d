"""What everything else uses: primitives, traces, trees, memory, and errors.

Start with trace.py.
"""

import autodiff_mini
from autodiff_mini.core import seams


@seams.enter_outermost.take
def first_trace_started(trace):
    """Import what is missing of the library: a program can import a part."""
    seams.enter_outermost.taken = None
    autodiff_mini.load()
    seams.enter_outermost(trace)    # a wing can have taken it now
