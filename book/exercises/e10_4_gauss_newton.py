"""Extend: curvature without a matrix.

Somebody minimizes `loss(f(x))`. A second-order method asks for the curvature
along a direction `v`. Gauss and Newton took the curvature of the loss, and
treated `f` as if it were its linear part: the product

    Jᵀ H J v

where J is the Jacobian of `f` at `x`, and H the Hessian of `loss` at
`f(x)`. If the loss is convex, this never points against `v`, as the product
with the true Hessian may.

Neither J nor H shall be made. With a million weights they would not fit into
the computer, and all that one needs are three products of a matrix and a
vector, from right to left: one forwards, one for the loss, one backwards. And
`f` may be run only once. `x`, `v` and the result are trees of arrays.
"""

import autodiff_mini as ad

HINTS = (
    'J v is forward mode, and Jᵀ times a vector is reverse mode. H times a '
    'vector is the derivative of the gradient along it: '
    '`ad.jvp(ad.grad(loss), (y,), (u,))`. This is called forward over '
    'reverse, and costs a few times what the loss does.',
    '`ad.jvp` and `ad.vjp` would run `f` twice. `linearize` runs it once, '
    'and gives you J as a linear function. How does one run a linear '
    'function backwards?',
    '`ad.linear_transpose(f_jvp, x)` is a function of a cotangent, and '
    'returns a tuple with one element.',
)


def gauss_newton(f, loss, x, v):
    """Returns the product of the Gauss-Newton matrix and `v`.

    Args:
        f: a function of `x`, a tree of arrays, that returns an array.
        loss: a function of what `f` returns, whose value is a number.
        x: the point.
        v: the direction, a tree like `x`.
    """
    raise NotImplementedError('exercise e10_4: write the three products here')
