"""The carry is put out at every step, so both parts of the pair are the same.
Nothing else is needed: the derivative, the batch and the compiled program
are those of `scan`.

`f` need not be associative. If it is, one could compute in log n rounds what
takes n steps here, all pairs at once; JAX has `associative_scan` for that.
"""

import numpy as np

import autodiff_mini as ad


def accumulate(f, xs, reverse=False):
    """Returns all the partial results of `f`, as a tree like `xs`.

    Args:
        f: a function of two trees, the result so far and the next element.
        xs: a tree of arrays; its elements are along the first axis.
        reverse: whether to begin with the last element.
    """
    first, others = (-1, slice(-1)) if reverse else (0, slice(1, None))

    def step(so_far, x):
        so_far = f(so_far, x)
        return so_far, so_far

    start = ad.tree_map(lambda x: x[first], xs)
    _, rest = ad.scan(step, start, ad.tree_map(lambda x: x[others], xs),
                      reverse=reverse)

    def join(x, ys):
        x = np.expand_dims(x, 0)
        return np.concatenate([ys, x] if reverse else [x, ys])
    return ad.tree_map(join, start, rest)
