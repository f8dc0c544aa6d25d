"""The last axis of the left operand is what is summed over, be it a vector, a
matrix or a stack. Everything else is in the size of the result. With such a
count one can choose among programs that compute the same: look at the test
with the two ways to put brackets into a product of three.
"""

import math

MOVES = {'reshape', 'transpose', 'broadcast_to', 'index', 'concatenate',
         'stack', 'astype', 'stop_gradient'}


def cost(eqn):
    """Returns the number of floating-point operations of an equation."""
    name, operand = eqn.primitive.name, eqn.invars[0].aval
    results = math.prod(eqn.outvars[0].aval.shape)
    if name in MOVES:
        return 0
    if name == 'matmul':
        return 2 * results * operand.shape[-1]
    if name.startswith('reduce_'):
        return math.prod(operand.shape)
    return results


def flops(jaxpr):
    """Returns the number of floating-point operations of a program."""
    return sum(map(cost, jaxpr.eqns))
