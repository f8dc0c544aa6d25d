"""Cold case: the slope that depended on the stride.

The report: "`gentle` is a cube whose slope I limit to 1, so that it can't run
away. The derivative is fine. But along a direction that's twice as long, I
get four times as much, and in the opposite direction I get the same number
again." A tangent that's twice as long has to give twice as much, whatever the
rule is. One line of this rule is wrong. Find it and fix it.
"""

import numpy as np

from autodiff_mini import draft as ad

HINTS = (
    'Write down what the rule returns at x = 0.1 if `x_dot` is 1, 2, and -1. '
    'How many times does it multiply by `x_dot`?',
    '`slope` should not depend on `x_dot`. Along which direction is it the '
    'derivative? Remember that `x` can be an array, and that a tangent has '
    'the same shape.',
)


def cube(x):
    return x * x * x


@ad.custom_jvp
def gentle(x):
    return cube(x)


@gentle.defjvp
def gentle_jvp(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    y, slope = ad.jvp(cube, (x,), (x_dot,))
    return y, np.where(slope > 1.0, 1.0, slope) * x_dot

# exercise e06_2: one line above is wrong. Fix it.
