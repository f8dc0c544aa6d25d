"""Break it: two rules for a quotient.

The draft's rule for the divisor of `z = x / y` is `y_dot * (-z / y)`. On
paper the slope is -x/y², and a colleague proposes to change the line so that
the code looks like the formula. Find an `x` and a `y` for which the slope is
finite and isn't zero, the draft's rule gets it right to twelve digits, and
the proposal gets no digit right at all.
"""

HINTS = (
    'The two are equal for real numbers. But floats have a largest and a '
    'smallest number, near 1e308 and 1e-308. What are the largest and the '
    'smallest number that each rule computes?',
    'Choose `y` so that `y * y` is out of range, and then choose `x` so that '
    'x/y² isn\'t.',
)


def proposal(y_dot, z, x, y):
    return -y_dot * x / (y * y)


def breaks_it():
    # e.g. 6.0, 2.0
    raise NotImplementedError('exercise e02_1: write your x and y here')
