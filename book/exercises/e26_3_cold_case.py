"""Cold case: nan by night.

A model decides which texts belong together. A text is a row of numbers, and
only the direction of the row counts. The loss looks at how alike any two rows
are, with a weight for each column. The model has been in use for a year. Last
night a user sent a text with no words in it, a row of zeros, and in the
morning all weights of the model were `nan`.

The loss itself is right, even for such a row, and has to stay as it is. But
its gradients have to be numbers again, with respect to the weights and to the
rows. A row of zeros has no direction, so its gradient is zero.

There are three suspects, and each of them says that it has thought of zero.
`watch` prints the cotangents that pass it in the reverse pass, so put it
where you like. Then fix the guilty one.
"""

from functools import partial

import numpy as np

import autodiff_mini as ad

HINTS = (
    'Call `ad.grad(loss)` with a row of zeros, and put some `watch`es into '
    'the functions. The guilty one is between the last cotangent that is '
    'finite and the first that is not.',
    'A `where` chooses between two results, and both have been computed. In '
    'the reverse pass, the one that was not chosen gets a zero and passes it '
    'on. What does a root of 0 make of a zero? And a division by 0?',
    'Choose before it is too late: give the root something harmless, such as '
    '1, where the square is 0.',
)


@partial(ad.custom_vjp, nondiff_argnums=(1,))
def watch(x, name):
    """Return `x`, and print its cotangent in the reverse pass."""
    return x


def watch_fwd(x, name):
    return watch(x, name), None


def watch_bwd(name, _, ct):
    print('the cotangent of', name, 'is', ct)
    return (ct,)


watch.defvjp(watch_fwd, watch_bwd)


def weighted(weights, rows):
    """Return the rows, with a positive factor for each column."""
    return rows * np.exp(weights)


def directions(rows):
    """Return the rows with length 1; zeros stay zeros."""
    # exercise e26_3: is it this one?
    length = np.sqrt(np.sum(rows * rows, axis=-1, keepdims=True))
    return np.where(length > 0, rows / length, 0.0)


def surprise(p):
    """Return -p log p, and zero where p is zero."""
    return np.where(p > 0, -p * np.log(np.where(p > 0, p, 1.0)), 0.0)


def loss(weights, rows):
    """Return the total surprise at how alike the rows are."""
    units = directions(weighted(weights, rows))
    alike = units @ np.transpose(units)
    return np.sum(surprise(np.square(alike)))
