"""Cold case: a power that nobody can raise.

The report: "At x = 0 the slope of `x**y` in y is nan, and there are warnings.
But `0**y` is 0 for every y > 0. It stays where it is, so its slope is 0." The
reporter is right. Below is the row that was in use, with a primitive of its
own. One expression in it is wrong. Find and mend it. The problem is a real
one: the rules of HIPS autograd have a small function for just this zero.
"""

import numpy as np

from autodiff_mini.core import Primitive
from autodiff_mini.interpreters.jvp import defjvp

HINTS = (
    'Two rules, one for each operand. Which of them says how the output '
    'moves when `y` moves? Compute it at x = 0 with a pencil.',
    '0 · log 0 is 0 times minus infinity. The 0 is the right answer; so it '
    'does not matter which number it is multiplied by, if it is a number.',
    'Choosing the right result with `np.where` afterwards is too late: the '
    'logarithm of 0 has been taken, and has warned. Choose what goes *into* '
    'the logarithm.',
)

power_p = Primitive('power', np.power)


def power(x, y):
    return power_p.bind(x, y)


def base_rule(x_dot, z, x, y):
    return x_dot * y * np.power(x, np.where(np.equal(y, 0), 1.0, y - 1))


def exponent_rule(y_dot, z, x, y):
    return y_dot * z * np.log(x)


defjvp(power_p, base_rule, exponent_rule)

# exercise e02_3: one line above is wrong. Mend it.
