"""Cold case: the keyword that was not heard.

The report: "`deriv(decay)(2.0, rate=3.0)` gives the derivative for rate 1.
There is no error." Arguments given by keyword are problems 1938 and 2069 of
JAX's list; the second is about defaults. Here is a version of `deriv` with
a small function that turns keywords into positions. It is a line too short.
Find out what becomes of `rate`, and mend it.
"""

import inspect

import numpy as np

import autodiff_mini as ad

HINTS = (
    'Look at `positions(decay, (2.0,), {\'rate\': 3.0})`. How many arguments '
    'does `decay` have, and how many come out?',
    '`start` was left out, so the positions end there: there is no third '
    'place without a second. Python\'s `BoundArguments` can fill in what was '
    'left out.',
    '`bound.apply_defaults()`',
)


def positions(f, args, kwargs):
    """Returns the arguments of a call of `f`, all in their positions."""
    bound = inspect.signature(f).bind(*args, **kwargs)
    return bound.args


def deriv(f):
    """Returns the derivative with respect to the first argument."""
    def slope_of_f(*args, **kwargs):
        x, *rest = positions(f, args, kwargs)
        return ad.jvp(lambda x: f(x, *rest), (x,), (1.0,))[1]
    return slope_of_f


def decay(time, start=1.0, rate=1.0):
    return start * np.exp(-rate * time)

# exercise e03_4: mend `positions`.
