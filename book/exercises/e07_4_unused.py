"""Extend: what nobody uses.

`power` squares once too often, and the jaxpr of a tangent computes values
that are not returned. Write `without_unused`, which leaves out every equation
that the results do not depend on. Constants that nobody needs any more go
too; the arguments stay, for whoever calls the program. Compilers know this as
dead-code elimination, and one walk over the equations is enough. In which
direction?
"""

from autodiff_mini.jaxprs import Jaxpr

HINTS = (
    'Begin with the set of variables that the program returns. Who made '
    'them? The equations that did are needed, and then their operands are.',
    'An equation can only use what stands before it. So go from the last to '
    'the first: when you come to one, everybody who could use its results '
    'has been asked.',
    'Some primitives have several results. One that is used is reason enough '
    'to keep the equation. And leave the jaxpr that you got as it was: make '
    'a new one, `Jaxpr(constvars, invars, eqns, outvars, consts)`.',
)


def without_unused(jaxpr):
    """Returns the program without equations and constants of no use."""
    raise NotImplementedError('exercise e07_4: leave out what is unused here')
