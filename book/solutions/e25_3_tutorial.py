"""A value that has a derivative is an operand, and operands are passed by
position. A keyword is a parameter. It can be anything that has a hash, so it
can't be a tracer.

A symbolic zero isn't a number either. It says that there's no term to add, so
the sum begins with a plain zero.
"""

import numpy as np

import autodiff_mini as ad


def make(p):
    """Give a primitive its rules, and return the function for users."""
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
