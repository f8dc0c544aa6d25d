"""Nothing is remembered, and a tree comes back as a tree. What counts is that
the way out calls `pretending` again, and not `f`. The value is the same. But
the slope of the square of `straight` is `2 * straight(x)`, and with
`2 * f(x)` in its place the second derivative would be 0, for `f` rounds.

The sign of `against` is changed once for each time that it is differentiated.
So the slope of half its square is -x, and the slope of that is +1.

`back` need not be linear. If it is the identity, people also write
`x + stop_gradient(f(x) - x)`, which needs no rule, and works forwards as
well.
"""

import numpy as np

import autodiff_mini as ad


def pretend(f, back):
    """Returns `f`, with `back` for its pullback.

    Args:
        f: a function of one array, or tree of arrays.
        back: takes a cotangent of what `f` returns, and returns a cotangent
            of its argument.
    """
    pretending = ad.custom_vjp(f)
    pretending.defvjp(
        lambda x: (pretending(x), None),    # not f(x), which does not pretend
        lambda residuals, ct: (back(ct),))
    return pretending


def rounded(tree):
    return ad.tree_map(np.round, tree)


def reversed_sign(tree):
    return ad.tree_map(np.negative, tree)


def straight(tree):
    return pretend(rounded, lambda ct: ct)(tree)


def against(tree):
    return pretend(lambda tree: tree, reversed_sign)(tree)
