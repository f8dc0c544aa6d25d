"""Cold case: the weight that listened to one example.

The report: "I have a function of an example and a weight, with a rule. I
wrote the batched function and its rules myself, with `vmap` for each of them
and one weight for all examples. At first `bwd` returned a whole list for the
weight, and that was an error. It's the same weight for all of them, so I
fixed that. Now there's no error. The slopes of the examples are right, and
with a single example the slope of the weight is right, too. But when I
shuffle the examples, it changes."

One line is wrong. Find it and fix it.
"""

import numpy as np

from autodiff_mini import draft as ad

HINTS = (
    'Take `x * w` with a rule, two examples, and one weight. What does '
    '`ad.vmap(bwd)` return for the weight, and what is the true slope of the '
    'sum?',
    'The same weight is passed to each example, so it is used many times. '
    'What did chapter 10 do with the cotangents of such a value?',
)


def batched(f, fwd, bwd):
    """Return `f` of many examples and one weight, with its rules.

    Args:
        f: a function of an example and a weight.
        fwd: its forward pass, `fwd(x, w) -> (y, residuals)`.
        bwd: its backward pass, `bwd(residuals, ct) -> (x_bar, w_bar)`.
    """
    def for_all(g):
        return lambda xs, w: ad.vmap(lambda x: g(x, w))(xs)

    f_for_all = ad.custom_vjp(for_all(f))

    def fwd_for_all(xs, w):
        _, residuals = for_all(fwd)(xs, w)
        return f_for_all(xs, w), residuals

    def bwd_for_all(residuals, cts):
        x_bars, w_bars = ad.vmap(bwd)(residuals, cts)
        return x_bars, w_bars[0]

    f_for_all.defvjp(fwd_for_all, bwd_for_all)
    return f_for_all

# exercise e11_1: one line above is wrong. Fix it.
