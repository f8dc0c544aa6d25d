"""Break it: two rules for one quotient.

The library's rule for the divisor of `z = x / y` is `y_dot * (-z / y)`. On
paper the slope is minus x/y², and somebody proposes to change the line, so
that the code looks like the formula. Find an `x` and a `y` for which the
answer is finite and not zero, the library's rule has it right to twelve
digits, and the proposal has no digit right at all.
"""

HINTS = (
    'The two are equal for real numbers. Floats have a largest and a '
    'smallest one, near 1e308 and 1e-308. What is the largest number on the '
    'way, and the smallest?',
    'Choose `y` so that `y * y` is out of range, and then `x` so that x/y² '
    'is not.',
)


def proposal(y_dot, z, x, y):
    return -y_dot * x / (y * y)


def breaks_it():
    # e.g. 6.0, 2.0
    raise NotImplementedError('exercise e02_1: write your x and y here')
