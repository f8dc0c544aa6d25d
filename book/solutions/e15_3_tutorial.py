"""What has a derivative is an operand, and operands stand by position. A
keyword is a parameter: it may be anything that has a hash, and so it is no
number that moves.

A symbolic zero is no number either. It says that there is nothing to add, and
so nothing is added.
"""

import numpy as np

import autodiff_mini as ad


def make(p):
    """Gives a primitive its rules, and returns the function for users."""
    def scale(x, factor):
        return p.bind(x, factor)

    p.def_impl(lambda x, factor: x * factor)
    p.def_abstract_eval(lambda x, factor: ad.ShapedArray(
        x.shape, np.result_type(x.dtype, factor.dtype)))

    @p.def_jvp
    def jvp(primals, tangents):
        (x, factor), (x_dot, factor_dot) = primals, tangents
        y_dot = 0.0
        if not isinstance(x_dot, ad.Zero):
            y_dot = y_dot + scale(x_dot, factor)
        if not isinstance(factor_dot, ad.Zero):
            y_dot = y_dot + x * factor_dot
        return scale(x, factor), y_dot

    @p.def_vjp
    def vjp(primals):
        def backward(residuals, y_bar):
            x, factor = residuals
            return scale(y_bar, factor), np.sum(y_bar * x)

        return scale(*primals), backward

    return scale
