"""Cold case: the teacher who counted for nothing.

The report: "In a group, everyone's opinion is changed by the opinions of the
others, until they settle. I need the derivative of where they settle, so I
wrote the rule of chapter 22, for arrays. I can't divide by 1 - s anymore, but
`x_dot = b_dot + s * x_dot` can be solved like the rest, by putting the answer
in again until it settles. The values are right. Among friends, who listen to
each other equally, the gradients are right as well. Then a teacher joined.
The others listen to her, and she listens to no one. The gradient says that
her opinion doesn't matter."

One line is wrong.
"""

from functools import partial

import autodiff_mini as ad

HINTS = (
    'Take two people, one of whom listens to the other, and write down the '
    "matrix of the slopes of `f` in `x`. Which entry isn't 0? In the "
    'reverse pass, from whom to whom does the cotangent have to be passed?',
    'The formula in the report is for tangents, and `s` multiplies by a '
    'matrix there, from the input of `f` to its output. For cotangents it '
    'has to be the transposed matrix. For a number, or a symmetric matrix, '
    "there's no difference.",
)


def repeat(step, x):
    for _ in range(100):
        x = step(x)
    return x


@partial(ad.custom_vjp, nondiff_argnums=(0,))
def settle(f, params, x0):
    """Return the x with x == f(params, x), found from x0."""
    return repeat(lambda x: f(params, x), x0)


def settle_fwd(f, params, x0):
    x = settle(f, params, x0)
    return x, (params, x)


def settle_bwd(f, residuals, ct):
    params, x = residuals
    _, pullback = ad.vjp(f, params, x)
    slope = lambda u: ad.jvp(lambda x: f(params, x), (x,), (u,))[1]
    u = repeat(lambda u: ct + slope(u), ct)
    params_bar, _ = pullback(u)
    return params_bar, None


settle.defvjp(settle_fwd, settle_bwd)

# exercise e22_2: one line above is wrong. Fix it.
