"""The slope is a residual, so `fwd` returns it.

*What the library keeps, it copies.* That's the sentence the author got
around, because the library can only copy what it's told to keep. Between
`fwd` and `bwd` of one call there can be other calls of the same function, and
a pullback can be called later, twice, or never. A residual belongs to its
call, and a workspace, a list, or a dict that `bwd` closes over belongs to all
of them.

And the copy that he wanted to save? The slope is a new array each time, so
its memory is used for nothing else. To keep less, keep an array that exists
already: `y`, which the program needs anyway, is enough for this slope.
"""

import numpy as np

import autodiff_mini as ad


def make_tanh(size):
    """Return `tanh`, with a rule for reverse mode.

    Args:
        size: the largest number of elements in an argument.
    """
    f = ad.custom_vjp(lambda x: np.tanh(x))

    def fwd(x):
        y = f(x)
        return y, 1 - y * y

    def bwd(slope, ct):
        return (ct * slope,)

    f.defvjp(fwd, bwd)
    return f
