"""Add a rule: a batch of while loops.

The draft has no `vmap` rule for `while_loop`. Write it, and the tests install
it. As in every rule of chapter 3, all operands have the batch axis in front.
The programs `step` and `test` are for a single element.

The loop of the batch continues as long as any element does, and an element
that has stopped keeps its values.

You have `vmap_jaxpr` from chapter 14, `lengthen` from chapter 3, and `stage`.
NumPy's `np.any` would tell you whether any element continues, but the draft
does not know it.
"""

import numpy as np

from autodiff_mini.draft.branches import while_p
from autodiff_mini.draft.jaxpr import stage
from autodiff_mini.draft.programs import vmap_jaxpr
from autodiff_mini.draft.vmap import lengthen

HINTS = (
    '`vmap_jaxpr(step, axis.size)` is a program for the whole batch, and you '
    'can call it like a function. `vmap_jaxpr(test, axis.size)` is one, too. '
    'It returns a list of one array, with a bool for each element.',
    '`np.where` takes the new or the old value of each element. The values '
    'can have more axes than the bools, and NumPy aligns shapes at the last '
    'axis, but you need the first.',
    'To count the elements that continue, add up ones and zeros. '
    '`while_p.bind` needs programs, and `stage(f, avals)[0]` is one, where '
    '`avals` are the input variables of the batched step.',
)


def while_vmap(axis, *xs, step, test):
    """Return a list of the last values of a batch of loops.

    Args:
        axis: the batch, which has `axis.size` elements.
        xs: the first values of all loops, with the batch axis in front.
        step: a program from the values of one loop to the next ones.
        test: a program from the values of one loop to a list of one bool.
    """
    raise NotImplementedError('exercise e16_2: write the rule here')
