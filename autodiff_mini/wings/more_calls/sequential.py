"""`sequential_vmap`: a function that `vmap` maps one element at a time.

Chapter 23.
"""

from autodiff_mini.calls.loops import scan
from autodiff_mini.calls.programs import interleave, others, picked
from autodiff_mini.core.trees import tree_flatten, tree_leaves, tree_map
from autodiff_mini.wings.more_calls.custom_vmap import custom_vmap


def sequential_vmap(fun):
    """Return a version of `fun` that `vmap` runs as a loop over elements.

    Args:
        fun: the function, of arrays or trees of arrays.  Under `vmap` it
            is staged as the body of a `scan`, so its Python code cannot
            depend on the values of its arguments.

    Returns:
        A `custom_vmap` function.

    Source: `jax.custom_batching.sequential_vmap`.

    Examples:
        >>> import numpy as np, autodiff_mini as ad
        >>> f = sequential_vmap(lambda x, y: x * y)
        >>> ad.vmap(f, (0, None))(np.arange(3.0), 2.0)
        array([0., 2., 4.])
    """
    f = custom_vmap(fun)

    @f.def_vmap
    def loop(axis_size, in_batched, *args, **kwargs):
        leaves, tree = tree_flatten((*args, *kwargs.values()))
        mapped = tree_leaves(in_batched)
        fixed, n = others(leaves, mapped), len(args)

        def step(_, xs):
            xs = tree.unflatten(interleave(mapped, xs, fixed))
            return None, f(*xs[:n], **dict(zip(kwargs, xs[n:])))
        _, out = scan(step, None, picked(leaves, mapped), axis_size)
        return out, tree_map(lambda _: True, out)
    return f
