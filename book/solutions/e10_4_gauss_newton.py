"""Run `f` once, and cut: the linear half is run forwards, and then, turned
round, backwards. Between the two is the loss, of which one product with the
Hessian is taken, forward over reverse. No array is larger than those that go
in or come out.
"""

import autodiff_mini as ad


def gauss_newton(f, loss, x, v):
    """Returns the product of the Gauss-Newton matrix and `v`.

    Args:
        f: a function of `x`, a tree of arrays, that returns an array.
        loss: a function of what `f` returns, whose value is a number.
        x: the point.
        v: the direction, a tree like `x`.
    """
    y, f_jvp = ad.linearize(f, x)
    _, curved = ad.jvp(ad.grad(loss), (y,), (f_jvp(v),))
    (out,) = ad.linear_transpose(f_jvp, x)(curved)
    return out
