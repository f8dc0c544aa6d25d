"""Add a column: bounds instead of numbers.

Write the interpreter of chapter 18. Nothing is given but the imports, which
are all that you need. `bounds(f)` takes an interval, a pair `(low, high)`,
for each argument of `f`, and returns one for each result.

- There's a rule for each operation in the imports. The page has all of them
  but those of negation, the difference, and the sine. A sine is never outside
  of [-1, 1], and its bounds must not be wider than the interval of its
  operand.
- A value that doesn't depend on the arguments has two equal ends.
- A result can be a tree, with a pair for each of its leaves.
- The ends can be arrays, or tracers of `vmap` or `grad`. They can be
  infinite, but an end is never nan.
- A call is opened.
"""

from functools import reduce

import numpy as np

from autodiff_mini.draft.core import (
    Table, Trace, Tracer, current_trace, typeof)
from autodiff_mini.draft.primitives import (
    add_p, div_p, exp_p, max_p, min_p, mul_p, neg_p, sin_p, structural,
    sub_p, tanh_p)
from autodiff_mini.draft.trees import tree_map

HINTS = (
    'Begin with the counter of the chapter. What does a tracer carry instead '
    'of `val`, and what are the ends of a value that is not your own? One '
    'small method opens a value, and another one packs two ends.',
    '`process_primitive` opens its own operands, and with them it asks the '
    'rule, inside `with self.parent:`. Leave an operation to the parent if '
    'no operand is your own. The rules may only use NumPy functions that '
    'work on tracers, so `np.minimum` and not `min`.',
    'A result of `f` can be a number that never met your tracers. '
    '`tree_map(trace.ends, out)` opens all results, if `trace.ends(x)` is '
    '`(x.low, x.high)` for your tracers and `(x, x)` for all other values.',
    'For the sine, take the middle of the interval. No `x` is farther from '
    'it than half the width, so no sine is farther than that from the sine '
    'of the middle. If an end is infinite, replace it by a large number '
    'first.',
)


def bounds(f):
    """Return a function from intervals, pairs of ends, to intervals."""
    raise NotImplementedError('exercise e18_1: write the column here')
