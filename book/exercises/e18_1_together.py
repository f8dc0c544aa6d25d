"""Add a rule: many while loops at once.

The draft cannot map a `while_loop`. Write the rule that it lacks. Its
operands have the batch axis in front, every one of them, and `step` and
`test` are programs for a single element.

The loop for all elements goes on as long as there is one that goes on. An
element that is done keeps the values that it has.

You have chapter 16's `vmap_jaxpr`, chapter 4's `lengthen`, and `stage`. In
NumPy, `np.any` would say whether one goes on; the draft does not have it.
"""

import numpy as np

from autodiff_mini.draft import lengthen, stage, vmap_jaxpr, while_p

HINTS = (
    '`vmap_jaxpr(step, axis.size)` is a program for all elements, and it can '
    'be called like any function. So can that of `test`; it returns a list '
    'with one array, of a bool for each element.',
    '`np.where` takes, for each element, the new value or the old one. The '
    'values may have more axes than the answers of the test, and these are '
    'aligned in front, not at the end.',
    'How many go on is a sum of ones and zeros. What `while_p.bind` needs '
    'are programs: `stage(f, step.invars)[0]` writes one down for arguments '
    'like those of `step`.',
)


def while_vmap(axis, *xs, step, test):
    """Returns a list of the last values of many loops.

    Args:
        axis: the batch; `axis.size` elements.
        xs: the first values of all loops, with the batch in front.
        step: a program from the values of one loop to the next ones.
        test: a program from the values of one loop to a list of a bool.
    """
    raise NotImplementedError('exercise e18_1: write the rule here')
