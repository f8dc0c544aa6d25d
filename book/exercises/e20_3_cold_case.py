"""Cold case: nan by night.

A model tells which of some texts belong together. A text is a row of numbers,
of which only the direction counts. The loss looks at how alike any two of the
rows are, with a weight for each column. It has been in use for a year. Last
night somebody sent a text with no words in it, a row of zeros, and in the
morning all weights of the model were `nan`.

The loss itself is right, also for such a row, and must stay as it is. But
its gradients are to be numbers again, with respect to the weights and to the
rows. To a row of zeros, which has no direction, the gradient is zero.

There are three suspects, and each of them says that it has thought of zero.
`watch` tells of what comes by on the way back; put it where you like. Then
mend the one that is guilty.
"""

from functools import partial

import numpy as np

import autodiff_mini as ad

HINTS = (
    'Call `ad.grad(loss)` with a row of zeros, and let it pass by some '
    '`watch`es. The guilty one is between the last that is finite and the '
    'first that is not.',
    'A `where` chooses between two numbers, and both have been computed. On '
    'the way back, the one that was not chosen gets a zero, and passes it '
    'on. What becomes of a zero in a root of 0? And in a division by 0?',
    'Choose before it is too late: give the root something harmless, such as '
    '1, where the square is 0.',
)


@partial(ad.custom_vjp, nondiff_argnums=(1,))
def watch(x, name):
    """Returns `x`, and on the way back prints its cotangent."""
    return x


def watch_fwd(x, name):
    return watch(x, name), None


def watch_bwd(name, _, ct):
    print('the cotangent of', name, 'is', ct)
    return (ct,)


watch.defvjp(watch_fwd, watch_bwd)


def weighted(weights, rows):
    """Returns the rows, with a positive factor for each column."""
    return rows * np.exp(weights)


def directions(rows):
    """Returns the rows with length 1; zeros stay zeros."""
    # exercise e20_3: is it this one?
    length = np.sqrt(np.sum(rows * rows, axis=-1, keepdims=True))
    return np.where(length > 0, rows / length, 0.0)


def surprise(p):
    """Returns -p log p, and zero where p is zero."""
    return np.where(p > 0, -p * np.log(np.where(p > 0, p, 1.0)), 0.0)


def loss(weights, rows):
    """Returns how undecided the likenesses of the rows are."""
    units = directions(weighted(weights, rows))
    alike = units @ np.transpose(units)
    return np.sum(surprise(np.square(alike)))
