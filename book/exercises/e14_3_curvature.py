"""Golf: the curvature along a direction, as a program.

A Hessian-vector product is the derivative of a gradient along a direction. It
costs as much as a few gradients, whatever the size of `x`, and many
optimizers use it. Write a function that takes a program for `f(x)`, where `f`
returns a number, and returns a program of two arguments, `x` and a direction,
for the product.

The functions of this chapter do the work. Three short statements are enough.
"""

from autodiff_mini.draft.jaxpr import stage
from autodiff_mini.draft.programs import (
    linearize_jaxpr, tangent_jaxpr, transpose_jaxpr)

HINTS = (
    'First make a program for the gradient. `linearize_jaxpr` gives you the '
    'two halves, and `transpose_jaxpr` needs to know how many residuals '
    'there are.',
    'A program can be called, so write a function that calls one program and '
    'then the other. The cotangent of the output is 1.0.',
    '`stage(function, jaxpr.invars)[0]` records the function for arguments '
    'of the same types.',
    'The program for the gradient takes `x`. What does `tangent_jaxpr` of it '
    'take and return?',
)


def curvature_jaxpr(jaxpr):
    """Return a program from `x` and a direction to H(x) @ direction.

    Args:
        jaxpr: a program of one argument that returns one number.
    """
    raise NotImplementedError('exercise e14_3: combine the programs here')
