"""Cold case: right once, and wrong twice.

The report: "My arrays are large, and the library copies what `fwd` keeps. So
my `fwd` writes its slope into a workspace that's made only once, and returns
no residual. `bwd` knows where to look. I test what I write. The gradient of
`np.sum(f(x))` is right to the last bit. Then I use `f` in two layers of a
network, and it learns worse than without my rule, or not at all."

There's no error and no `nan`. Fix the function, and keep its rule for reverse
mode. It has to be right if it's used twice, if a pullback is called twice,
and if its program is compiled. Which of the chapter's three sentences did the
author get around?
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    'Compare the gradient of `np.sum(f(2 * f(x)))` with the right one. In '
    'which order do the two `fwd`s and the two `bwd`s run? Print something '
    'in each of them.',
    'The second `fwd` writes over the slope that the first `bwd` is going '
    'to read. A list in place of the workspace, to which `fwd` appends and '
    'from which `bwd` pops, is right until a pullback is called twice.',
    'A call has its own slope, so it has to travel with the call. What does '
    '`fwd` return besides the value?',
)


def make_tanh(size):
    """Return `tanh`, with a rule for reverse mode.

    Args:
        size: the largest number of elements in an argument.
    """
    work = np.empty(size)
    f = ad.custom_vjp(lambda x: np.tanh(x))

    def fwd(x):
        y = f(x)
        work[:len(x)] = 1 - y * y
        return y, None

    def bwd(_, ct):
        return (ct * work[:len(ct)],)

    f.defvjp(fwd, bwd)
    return f


# exercise e24_1: something above outlives its call. Fix it.
