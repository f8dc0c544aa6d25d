"""Cold case: the slope that depended on the stride.

The report: "`gentle` is a cube whose slope I limit to 1, so that it does not
run away. The derivative is fine. But along a direction twice as long I get
four times as much, and backwards I get the same as forwards." Twice as long
must be twice as much, whatever the rule. One line of this one is wrong.
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    'Write down what the rule returns at x = 0.1, for `x_dot` 1, 2 and -1. '
    'How often is it multiplied by `x_dot`?',
    '`slope` should not know of `x_dot`. It is the derivative along what? '
    'Mind that `x` may be an array, and that a tangent has its shape.',
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

# exercise e06_4: one line above is wrong. Mend it.
