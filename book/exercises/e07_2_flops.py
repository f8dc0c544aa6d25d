"""Extend: what will a program cost?

In a recorded program, every operand and every result has a type. So you can
say what the program will cost before you run it. Write `cost(eqn)`, the
number of floating-point operations of one equation:

- An elementwise operation costs one for each element of the result.
- A `sum` costs one for each element that it adds up.
- An operation that only moves elements is free. `FREE` has their names.
- A call costs as much as the program in it.
"""

import math

from autodiff_mini.draft.core import typeof
from autodiff_mini.draft.trees import tree_leaves

HINTS = (
    'Everything you need is in `eqn.primitive`, `eqn.params`, and the types '
    'of `eqn.invars` and `eqn.outvars`. `typeof` works for variables and '
    'arrays, and `math.prod` multiplies the lengths in a shape.',
    'A call has `eqn.primitive.is_call`, and `flops` is already there to '
    'count its program, `eqn.params[\'fun\']`. Test for a call first, '
    'because it can have several results.',
)

FREE = {'reshape', 'transpose', 'broadcast_to', 'index', 'scatter'}


def cost(eqn):
    """Return the number of floating-point operations of an equation."""
    raise NotImplementedError('exercise e07_2: count the operations here')


def flops(jaxpr):
    """Return the number of floating-point operations of a program."""
    return sum(map(cost, jaxpr.eqns))
