"""Extend: what does a program cost?

A jaxpr has the type of every operand and of every result. So one can say
what a program will cost before anybody runs it, and for matrices that would
not fit into the computer. Write `cost(eqn)`, the number of floating-point
operations of one equation:

- What works element by element costs one for each element of the result.
- A reduction, `reduce_sum`, `reduce_max` or another, costs one for each
  element that goes in.
- A product of an m × k and a k × n matrix costs 2mnk: a multiplication and an
  addition for each of the k terms of each of the mn results. A product with a
  vector, or of a whole stack of matrices, is counted likewise.
- What only moves numbers is free.
"""

import math

HINTS = (
    'Everything that you need is in `eqn.primitive.name`, in the types '
    '`v.aval` of the variables in `eqn.invars` and `eqn.outvars`, and in the '
    'set `MOVES`. The product of the lengths in a shape is `math.prod`.',
    'For a product of matrices you need two numbers: how many results, and '
    'how many terms in each. The first is the size of the result. The second '
    'is the length of an axis that both operands have. Which axis of the '
    'left one is it, always?',
)

MOVES = {'reshape', 'transpose', 'broadcast_to', 'index', 'concatenate',
         'stack', 'astype', 'stop_gradient'}


def cost(eqn):
    """Returns the number of floating-point operations of an equation."""
    raise NotImplementedError('exercise e07_2: count the operations here')


def flops(jaxpr):
    """Returns the number of floating-point operations of a program."""
    return sum(map(cost, jaxpr.eqns))
