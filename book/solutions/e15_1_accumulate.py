"""Each step returns the new carry twice, once as the carry and once as its
row. The derivative, the batch, and the compiled program are those of `scan`.

For the reverse order, reverse the rows before the loop and the results after
it. Transposition will turn the loop around once more. If `f` is
associative, you could compute all pairs at the same time and need only log n
rounds. JAX has `associative_scan` for that.
"""

from autodiff_mini import draft as ad
from autodiff_mini.draft.trees import tree_map


def accumulate(f, init, xs, reverse=False):
    """Return all the partial results of `f`, stacked.

    Args:
        f: a function of the result so far and a row.
        init: the result before the first row.
        xs: a tree of arrays, whose rows are along the first axis.
        reverse: whether to begin with the last row.
    """
    def turned(tree):
        return tree_map(lambda x: x[::-1], tree) if reverse else tree

    def step(so_far, x):
        so_far = f(so_far, x)
        return so_far, so_far
    return turned(ad.scan(step, init, turned(xs))[1])
