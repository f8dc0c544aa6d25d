"""Cold case: the keyword that was dropped.

The report: "`deriv(decay)(2.0, rate=3.0)` returns the derivative for rate 1,
without an error." (JAX's issues 1938 and 2069 are about keywords and
defaults.) Here's a version of `deriv` with a small function that turns
keywords into positions. It's one line too short. Find out what happens to
`rate`, and fix it.
"""

import inspect

import numpy as np

import autodiff_mini as ad

HINTS = (
    'Look at `positions(decay, (2.0,), {\'rate\': 3.0})`. How many arguments '
    'does `decay` have, and how many come out?',
    '`start` was left out, so the positions end there: there is no third '
    'position without a second. Python\'s `BoundArguments` can fill in '
    'defaults.',
    '`bound.apply_defaults()`',
)


def positions(f, args, kwargs):
    """Return the arguments of a call to `f`, all in their positions."""
    bound = inspect.signature(f).bind(*args, **kwargs)
    return bound.args


def deriv(f):
    """Return the derivative with respect to the first argument."""
    def slope_of_f(*args, **kwargs):
        x, *rest = positions(f, args, kwargs)
        return ad.jvp(lambda x: f(x, *rest), (x,), (1.0,))[1]
    return slope_of_f


def decay(time, start=1.0, rate=1.0):
    return start * np.exp(-rate * time)

# exercise e20_4: fix `positions`.
