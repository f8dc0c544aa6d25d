"""Extend: a test for rows.

A rule that asks about symbolic zeros is several rules in one. `check_grads`
perturbs all its arguments, so it tests only one of them. The physicist of the
chapter perturbed one argument at a time, so she tested the others, but not
that one. With three operands there are seven choices.

Write `check_row(f, args, order=1)`. For each choice of one or more arguments,
it calls `ad.check_grads` on the function of these arguments, while the others
stay constant. If a check fails, it raises an AssertionError that begins with
the positions of the arguments, as a tuple, such as `(0, 2): `. If several
choices fail, it reports one with the fewest arguments, since that's the
easiest to think about.
"""

from itertools import combinations

import numpy as np

import autodiff_mini as ad

HINTS = (
    '`combinations(range(3), 2)` yields (0, 1), (0, 2), and (1, 2).',
    'The function of the chosen arguments gets fewer arguments than `f`. '
    'It puts them into a copy of the list `args` and calls `f` with that.',
    'Write `try`, catch the AssertionError, and raise your own, whose text '
    'is the tuple, a colon, and the text of the first.',
)


def check_row(f, args, order=1):
    """Check the derivatives of `f` for each choice of its arguments."""
    raise NotImplementedError('exercise e25_2: write the test here')
