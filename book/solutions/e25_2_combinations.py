"""All arguments, each argument, and everything in between.

`n` arguments have 2ⁿ − 1 choices, which is a lot for ten. But a row with ten
operands whose rule asks about each of them has 2ⁿ − 1 rules in it, so that
isn't the fault of the test.

`ad.instantiate_zeros` turns a zero into an array of zeros. A rule that begins
with that, like the solution of e25_1, is only one rule, and `check_grads` is
enough for it.
"""

from itertools import combinations

import numpy as np

import autodiff_mini as ad


def check_row(f, args, order=1):
    """Check the derivatives of `f` for each choice of its arguments."""
    for size in range(1, len(args) + 1):
        for chosen in combinations(range(len(args)), size):
            def of_chosen(*xs):
                whole = list(args)
                for i, x in zip(chosen, xs, strict=True):
                    whole[i] = x
                return f(*whole)

            try:
                ad.check_grads(of_chosen, [args[i] for i in chosen], order)
            except AssertionError as error:
                raise AssertionError(f'{chosen}: {error}') from None
