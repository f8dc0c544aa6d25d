"""Cold case: the gradients in the wrong order.

The report: "I wrote `run_scan` in my own way. All my loops return the right
values, and so do `jvp` and all derivatives with respect to the first carry.
But the gradient with respect to the rows has the right numbers in the wrong
order. If all the rows are equal, it's right."

One line is wrong. Find it and fix it. (The tests make this function the
implementation of `scan_p`.)
"""

import numpy as np

from autodiff_mini.draft.jit import run
from autodiff_mini.draft.loops import split

HINTS = (
    'Which loops run from the last step to the first? What makes them?',
    'The rows that are returned in a reverse pass are cotangents. Which of '
    'them is computed first, and where does it belong?',
)


def run_scan(*operands, fun, num_carry, length, reverse):
    """Return the stacked outputs of the steps, then the last carry."""
    xs, carry = split(operands, num_carry)
    order = range(length)[::-1 if reverse else 1]
    rows = [None] * length
    for step in range(length):
        i = order[step]
        outs = run(fun, *[x[i] for x in xs], *carry)
        rows[step], carry = split(outs, num_carry)
    return [*map(np.stack, zip(*rows)), *carry]


# exercise e15_3: one line above is wrong. Fix it.
