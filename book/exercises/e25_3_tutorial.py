"""Cold case: two slips in a lesson.

A tutorial explains `custom_scale`, an array times a factor. It says what the
results should be, and it's right: for an x of [1, 2, 3] and a factor of 2,
tangents of [0.1, 0.2, 0.3] and 0.5 make [0.7, 1.4, 2.1], and the sum of the
squares has the gradients [8, 16, 24] and 56. Here are its rules, in our
words. They produce none of these numbers.

One line turns the factor into something that has no derivative. Another one
calls a method that a symbolic zero doesn't have, neither in JAX nor here. Fix
both.

(The tutorial has two more slips. Its methods, such as `def_jvp`, are here but
not in JAX, as the chapter says. And its rule for reverse mode promises
residuals and returns none, which isn't an error here, because a rule without
residuals is given the primals.)
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    'A keyword of `bind` is a parameter, like the axis of a sum. To which '
    'line does the error of `ad.grad(scale, 1)` lead?',
    'A sum can begin with a number, to which the terms are added, if there '
    'are any.',
)


def make(p):
    """Give a primitive its rules, and return the function for users."""
    def scale(x, factor):
        return p.bind(x, factor=factor)

    p.def_impl(lambda x, factor: x * factor)
    p.def_abstract_eval(lambda x, factor: ad.ShapedArray(
        x.shape, np.result_type(x.dtype, factor.dtype)))

    @p.def_jvp
    def jvp(primals, tangents):
        (x, factor), (x_dot, factor_dot) = primals, tangents
        y_dot = ad.Zero.zero_if_zero(factor_dot)
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


# exercise e25_3: two lines above are wrong. Fix them.
