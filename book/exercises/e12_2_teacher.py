"""Cold case: the teacher who counted for nothing.

The report: "In a group, everybody's opinion is moved by those of the others,
until all of them stay. I need the derivative of where they end, so I wrote
the rule of the chapter, for arrays. I cannot divide by 1 - s any more, but
`x_dot = b_dot + s * x_dot` can be solved as the rest is: put the answer in
again until it stays. The values are right. Among friends, who listen to each
other equally, the gradients are right as well. Then a teacher came. The
others listen to her, and she listens to nobody. The gradient says that what
she thinks does not matter."

One line is wrong.
"""

from functools import partial

import autodiff_mini as ad

HINTS = (
    'Take two people, of whom one listens to the other, and write down the '
    'matrix of the slopes of `f` in `x`. Which entry is not 0? On the way '
    'back, from whom to whom does the cotangent have to go?',
    'The formula in the report is that of the way out: `s` is a product with '
    'a matrix, from what goes in to what comes out. On the way back it is '
    'the transposed matrix. For a number, or a symmetric matrix, nobody '
    'notices.',
)


def repeat(step, x):
    for _ in range(100):
        x = step(x)
    return x


@partial(ad.custom_vjp, nondiff_argnums=(0,))
def settle(f, params, x0):
    """Returns the x with x == f(params, x), found from x0."""
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

# exercise e12_2: one line above is wrong. Mend it.
