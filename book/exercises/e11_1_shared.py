"""Cold case: the weight that listened to one example.

The report: "The second equation of the chapter, written by a user: I map the
function and both its rules. With a weight that all examples share, `bwd`
returned too much, a whole list for one weight. Since it is the same weight
for all of them, that was easy to mend. Now nothing complains. The slopes of
the examples are right, and with a single example that of the weight is, too.
But when I shuffle the examples, it changes."

One line is wrong.
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    'Take `x * w` with a rule, two examples, and one weight. What does '
    '`ad.vmap(bwd)` return for the weight, and what is the true slope of the '
    'sum?',
    'A weight that is not mapped is handed to all examples: it is a value '
    'that is used many times. What did chapter 10 do with the cotangents of '
    'such a value?',
)


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
        return tuple(x_bar if axis == 0 else x_bar[0]
                     for x_bar, axis in zip(x_bars, in_axes))

    f_of_all = ad.custom_vjp(ad.vmap(f, in_axes))
    f_of_all.defvjp(fwd_of_all, bwd_of_all)
    return f_of_all

# exercise e11_1: one line above is wrong. Mend it.
