"""Extend: curvature without a matrix.

To minimize `loss(f(x))`, a second-order method asks for the curvature along a
direction `v`. Gauss and Newton took the curvature of the loss and treated `f`
as if it were linear, which gives the product

    Jᵀ H J v

where J is the Jacobian of `f` at `x` and H is the Hessian of `loss` at
`f(x)`. If the loss is convex, this product never points against `v`. The
product with the true Hessian can.

Don't make J or H. With a million weights they wouldn't fit into memory, and
you only need three products of a matrix and a vector, from right to left. Run
`f` only once. `x`, `v`, and the result are trees of arrays.
"""

import numpy as np

from autodiff_mini import draft as ad

HINTS = (
    'J v is forward mode, and Jᵀ times a vector is reverse mode. H times a '
    'vector is the derivative of the gradient along it, '
    '`ad.jvp(ad.grad(loss), (y,), (u,))`.',
    '`ad.jvp` and `ad.vjp` would both run `f`. `ad.linearize` runs it once '
    'and gives you J as a linear function.',
    'What is the pullback of a linear function?',
)


def gauss_newton(f, loss, x, v):
    """Return the product of the Gauss-Newton matrix and `v`.

    Args:
        f: a function of `x`, a tree of arrays, that returns an array.
        loss: a function of the output of `f`, whose value is a number.
        x: the point.
        v: the direction, a tree like `x`.
    """
    raise NotImplementedError('exercise e10_4: write the products here')
