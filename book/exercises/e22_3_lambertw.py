"""Your row, for the last time: Lambert's W is where a flow leads.

`expit` came out of its own rule, by `odeint`. So will Lambert's W, the
solution of w·exp(w) = x. You have found its rule in chapter 2: the slope of w
is w / (x (1 + w)). And one value is known: where x is e, w is 1.

Write `lambertw(x)` for a number x > 0, with one call of `odeint` and no
formula but these. The derivative you need not write. Why?
"""

import autodiff_mini as ad

HINTS = (
    'What is called the time in this flow?',
    'It begins at the time e, with the state 1.0, and x may be smaller than '
    'e. A list with a traced number in it: ad.asarray.',
)


def lambertw(x):
    """Returns the w with w * exp(w) == x, for a number x > 0."""
    raise NotImplementedError('exercise e22_3: follow the flow to x')


def slopes(x):
    """Returns the first and the second derivative at `x`."""
    return ad.grad(lambertw)(x), ad.grad(ad.grad(lambertw))(x)
