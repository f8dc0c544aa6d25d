"""Break it: when the loop and vmap disagree.

The chapter promised that `vmap(f)(xs)` is `np.stack([f(x) for x in xs])`.
That isn't true for every Python function. Find a function and an array for
which both work and return arrays of the same shape, but with different
numbers. For an array of one element, they should agree.

The tests call `breaks_it` once for the loop and once for `vmap`, so your
function can remember its earlier calls.
"""

import numpy as np

HINTS = (
    'How many times does `f` run in the loop, and how many under `vmap`?',
    'What if a function counts its calls, or rolls dice? (Give the dice a '
    'seed, or the function will not even agree with itself.)',
)


def breaks_it():
    # e.g. np.sin, np.arange(3.0)
    raise NotImplementedError('exercise e03_4: return f and xs here')
