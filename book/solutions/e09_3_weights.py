"""The interpreter never knew that its unknowns were tangents. If it opened
calls with a rule, the rule would vanish here without an error. The caller can
differentiate with respect to the inputs, and then the rule has to be there.
"""

from autodiff_mini.draft.core import current_trace
from autodiff_mini.draft.jaxpr import build
from autodiff_mini.draft.partial_eval import PartialEvalTrace


def specialize(jaxpr, args):
    """Return a program without the part that can be computed now.

    Args:
        jaxpr: the program.
        args: a value for each argument, or None if it's unknown.

    Returns:
        The program of the unknown arguments, and the list of tracers that it
        captures, which are its first arguments.
    """
    with PartialEvalTrace(current_trace(), object()) as trace:
        xs = [trace.new(v) if x is None else x
              for v, x in zip(jaxpr.invars, args, strict=True)]
        return build(trace, list(filter(trace.owns, xs)), jaxpr(*xs))
