"""A product of an m x k and a k x n matrix costs 2mnk in our system, because
`matmul` is a product and a sum. With such a count, you can choose among
programs that compute the same thing, and you don't have to run any of them.
"""

import math

from autodiff_mini.draft.core import typeof
from autodiff_mini.draft.trees import tree_leaves

FREE = {'reshape', 'transpose', 'broadcast_to', 'index', 'scatter'}


def cost(eqn):
    """Return the number of floating-point operations of an equation."""
    if eqn.primitive.is_call:
        return flops(eqn.params['fun'])
    if eqn.primitive.name in FREE:
        return 0
    summed = eqn.primitive.name == 'sum'
    [counted] = tree_leaves(eqn.invars if summed else eqn.outvars)
    return math.prod(typeof(counted).shape)


def flops(jaxpr):
    """Return the number of floating-point operations of a program."""
    return sum(map(cost, jaxpr.eqns))
