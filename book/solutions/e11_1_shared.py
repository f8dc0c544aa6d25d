"""Each example has its opinion of the weight, and they are added. It is the
oldest rule of the way back: what is used many times gets the sum. Not the
mean, which would be the slope of another function; and along the axis of the
examples only, for the weight may be an array. `fit_axis` does it in the
library.

An error of shapes had been a good hint, until it was silenced.
"""

import numpy as np

import autodiff_mini as ad


def mapped(f, fwd, bwd, in_axes):
    """Returns `f`, with its rules, mapped over axis 0 of its arguments.

    Args:
        f: a function of arrays that returns one.
        fwd: the way out, `fwd(*xs) -> (y, residuals)`.
        bwd: the way back, `bwd(residuals, ct) -> cotangents`.
        in_axes: a tuple, with 0 or None for each argument.
    """
    def fwd_of_all(*xs):
        _, residuals = ad.vmap(fwd, in_axes)(*xs)
        return f_of_all(*xs), residuals

    def bwd_of_all(residuals, cts):
        x_bars = ad.vmap(bwd)(residuals, cts)
        return tuple(x_bar if axis == 0 else np.sum(x_bar, 0)
                     for x_bar, axis in zip(x_bars, in_axes))

    f_of_all = ad.custom_vjp(ad.vmap(f, in_axes))
    f_of_all.defvjp(fwd_of_all, bwd_of_all)
    return f_of_all
