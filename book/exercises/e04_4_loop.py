"""Break it: when the loop and vmap disagree.

The chapter gave its word that `vmap(f)(xs)` is `np.stack([f(x) for x in
xs])`. It does not hold for every Python function. Find one, and an array,
for which both work, and return numbers of the same shape that are not the
same. For an array of one element they should agree.

`breaks_it` is called anew for each of the two, so a function may keep
something between its calls.
"""

import numpy as np

HINTS = (
    'How often does `f` run, in the loop and under `vmap`?',
    'What does a function return that counts its calls? Or one that throws '
    'dice? (With a seed, or it will not agree with itself.)',
)


def breaks_it():
    # e.g. np.sin, np.arange(3.0)
    raise NotImplementedError('exercise e04_4: return f and xs here')
