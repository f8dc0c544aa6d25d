"""We batch both programs and run them in one loop. It doesn't matter that the
number of steps is unknown, because it's unknown for a single element too.

The batch takes as many steps as its slowest element, and every step computes
all elements, even those that have stopped. That's the price of a batch whose
elements disagree. A stopped element can even divide by zero, and then NumPy
warns about a number that `np.where` doesn't choose. No nan follows, because a
while loop has no reverse mode.
"""

import numpy as np

from autodiff_mini.draft.branches import while_p
from autodiff_mini.draft.jaxpr import stage
from autodiff_mini.draft.programs import vmap_jaxpr
from autodiff_mini.draft.vmap import lengthen


def while_vmap(axis, *xs, step, test):
    """Return a list of the last values of a batch of loops.

    Args:
        axis: the batch, which has `axis.size` elements.
        xs: the first values of all loops, with the batch axis in front.
        step: a program from the values of one loop to the next ones.
        test: a program from the values of one loop to a list of one bool.
    """
    steps, tests = vmap_jaxpr(step, axis.size), vmap_jaxpr(test, axis.size)

    def one_step(*xs):
        [continues] = tests(*xs)
        return [np.where(lengthen(continues, np.ndim(x)), y, x)
                for x, y in zip(xs, steps(*xs))]

    def any_continues(*xs):
        [continues] = tests(*xs)
        return [np.sum(np.where(continues, 1.0, 0.0)) > 0.0]

    return while_p.bind(*xs, step=stage(one_step, steps.invars)[0],
                        test=stage(any_continues, steps.invars)[0])
