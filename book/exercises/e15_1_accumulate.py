"""Extend: all the partial results.

Python's `itertools.accumulate(xs, f, initial=c)` returns c, f(c, x0), f(f(c,
x0), x1), and so on. With `f` an addition, that's a running sum. Write it as
one loop, for any `f` of two trees. Return the result of each step, without
`c` itself. The first axis is as long as that of `xs`.

With `reverse=True`, begin with the last row. The results stay where their
rows are: the last one is then `f(c, xs[-1])`.
"""

from autodiff_mini import draft as ad
from autodiff_mini.draft.trees import tree_map

HINTS = (
    'What does a step pass to the next one, and what does it output? They '
    'are the same value.',
    'The users of `scan` cannot ask for a loop from the last row. But '
    '`x[::-1]` works for tracers.',
    'Turn the rows around before the loop and the results after it, with '
    '`tree_map`, since both can be trees.',
)


def accumulate(f, init, xs, reverse=False):
    """Return all the partial results of `f`, stacked.

    Args:
        f: a function of the result so far and a row.
        init: the result before the first row.
        xs: a tree of arrays, whose rows are along the first axis.
        reverse: whether to begin with the last row.
    """
    raise NotImplementedError('exercise e15_1: write the loop here')
