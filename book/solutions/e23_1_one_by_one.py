"""Each element is the tree of arguments, with one entry of each batched
array. The outputs are stacked, as in chapter 3's definition of `vmap`.

Forward mode transforms the function and this rule. The derivative of a loop
over elements is a loop over elements, with slopes, and the calls in it still
branch on numbers. So the order doesn't matter.

Reverse mode *inside* of `vmap` is refused if the function branches. The
library then has the function recorded, because it doesn't know yet whether
the function or its rule will run.
"""

import numpy as np

import autodiff_mini as ad


def one_by_one(fun):
    """Return `fun` with a rule that calls it for one element at a time.

    Args:
        fun: a function of arrays, or trees of arrays.
    """
    f = ad.custom_vmap(fun)

    @f.def_vmap
    def loop(axis_size, in_batched, *args):
        def element(i):
            return ad.tree_map(lambda batched, x: x[i] if batched else x,
                               tuple(in_batched), args)

        outs = [f(*element(i)) for i in range(axis_size)]
        out = ad.tree_map(lambda *ys: np.stack(ys), *outs)
        return out, ad.tree_map(lambda y: True, out)

    return f
