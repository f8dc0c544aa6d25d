"""The long way: what an operation takes that the tape does not prepare.

See the page *How fast is it?*.
"""

from autodiff_mini.primitives.elementwise import float_power_p, pow_p

BY_VALUE = {pow_p, float_power_p}   # their rules depend on a Python number


class LongWay(Exception):
    """Raised if an operation is not prepared yet, or cannot be."""


# The errors of an operation.  A fault of the tape itself is not hidden.
REFUSED = (LongWay, ArithmeticError, IndexError, NotImplementedError,
           TypeError, ValueError)
