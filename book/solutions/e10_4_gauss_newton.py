"""Run `f` once and cut. The linear half runs forwards, and its pullback is
its transpose, because a linear function is its own derivative. Between the
two is one product with the Hessian of the loss, forward over reverse.

No array here is larger than the inputs and the outputs.
"""

import numpy as np

from autodiff_mini import draft as ad


def gauss_newton(f, loss, x, v):
    """Return the product of the Gauss-Newton matrix and `v`.

    Args:
        f: a function of `x`, a tree of arrays, that returns an array.
        loss: a function of the output of `f`, whose value is a number.
        x: the point.
        v: the direction, a tree like `x`.
    """
    y, f_jvp = ad.linearize(f, x)
    y_dot, pullback = ad.vjp(f_jvp, v)
    _, curved = ad.jvp(ad.grad(loss), (y,), (y_dot,))
    (x_bar,) = pullback(curved)
    return x_bar
