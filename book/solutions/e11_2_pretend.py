"""There's no residual. The call to `pretending` in the forward pass is what
counts. `f(x)` has the same value, but the slope of the square of `straight`
is `2 * straight(x)`, and with `2 * f(x)` instead the second derivative would
be 0.

`against` changes the sign once per derivative, so the slope of half its
square is -x, and the slope of that is 1.

`backward` doesn't have to be linear, or the transpose of any
derivative at all.
"""

import numpy as np

from autodiff_mini import draft as ad
from autodiff_mini.draft.trees import tree_map


def pretend(f, backward):
    """Return `f`, with `backward` as its pullback.

    Args:
        f: a function of one array, or of one tree of arrays.
        backward: takes a cotangent of the output of `f` and returns a
            cotangent of its argument.
    """
    pretending = ad.custom_vjp(f)
    pretending.defvjp(
        lambda x: (pretending(x), None),    # f(x) would not pretend
        lambda residuals, ct: (backward(ct),))
    return pretending


def signs(tree):
    return tree_map(lambda x: np.where(x > 0, 1.0, -1.0), tree)


def reversed_sign(tree):
    return tree_map(np.negative, tree)


def straight(tree):
    return pretend(signs, lambda ct: ct)(tree)


def against(tree):
    return pretend(lambda tree: tree, reversed_sign)(tree)
