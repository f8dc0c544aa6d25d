"""Extend: drop the equations that nothing uses.

`power` squares once too often, and the program of a tangent computes values
that it doesn't return. Write `without_unused`, which drops every equation
that no output depends on. The arguments stay, because the caller passes them.
Compilers call this dead-code elimination, and one pass over the equations is
enough. In which direction?
"""

from autodiff_mini.draft.jaxpr import Jaxpr, Var
from autodiff_mini.draft.trees import tree_leaves

HINTS = (
    'Start with the variables that the program returns. The equations that '
    'compute them are needed, and so are the operands of these equations.',
    'An equation can only use the results of earlier ones. So if you go from '
    'the last to the first, you have seen every use of a result before you '
    'see the equation that computes it.',
    'An operation can have several results, in a list. Keep the equation '
    'if any of them is used. An operand can be an array, which '
    'cannot be an element of a set, so look for the variables.',
)


def without_unused(jaxpr):
    """Return the program without the equations that no output depends on."""
    raise NotImplementedError('exercise e07_4: drop the unused ones here')
