"""The two programs are mapped, and one loop runs them. Nobody has to say how
many steps that takes, since the loop does not say so for one element, either.

It costs as many steps as the slowest element needs, and each of them computes
all elements. That is the price of a batch in which each goes its own way.
The library does the same, and lends to those that are done the values of one
that is not; or a step might divide by zero, where nobody looks.
"""

import numpy as np

from autodiff_mini.draft import lengthen, stage, vmap_jaxpr, while_p


def while_vmap(axis, *xs, step, test):
    """Returns a list of the last values of many loops.

    Args:
        axis: the batch; `axis.size` elements.
        xs: the first values of all loops, with the batch in front.
        step: a program from the values of one loop to the next ones.
        test: a program from the values of one loop to a list of a bool.
    """
    steps, tests = vmap_jaxpr(step, axis.size), vmap_jaxpr(test, axis.size)

    def one_step(*xs):
        [goes_on] = tests(*xs)
        return [np.where(lengthen(goes_on, np.ndim(x)), y, x)
                for x, y in zip(xs, steps(*xs))]

    def one_goes_on(*xs):
        [goes_on] = tests(*xs)
        return [np.sum(np.where(goes_on, 1.0, 0.0)) > 0.0]

    return while_p.bind(*xs, step=stage(one_step, steps.invars)[0],
                        test=stage(one_goes_on, steps.invars)[0])
