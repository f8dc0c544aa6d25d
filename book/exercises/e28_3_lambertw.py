"""Your row, for the last time: Lambert's W as a flow.

In this chapter, `odeint` got `expit` from its rule. It can get Lambert's W,
too, which is the solution of w·exp(w) = x. You found its rule in chapter 2,
where the slope of w is w / (x (1 + w)). You also know one value, because w is
1 where x is e.

Write `lambertw(x)` for a number x > 0, with one call of `odeint` and no other
formula. You don't have to write a derivative. Why not?
"""

import autodiff_mini as ad

HINTS = (
    'Which variable is the time in this flow?',
    'The flow starts at the time e, in the state 1.0, and x can be smaller '
    'than e. `ad.asarray` makes an array of a list that holds a traced '
    'number.',
)


def lambertw(x):
    """Return the w with w * exp(w) == x, for a number x > 0."""
    raise NotImplementedError('exercise e28_3: follow the flow to x')


def slopes(x):
    """Return the first and the second derivative at `x`."""
    return ad.grad(lambertw)(x), ad.grad(ad.grad(lambertw))(x)
