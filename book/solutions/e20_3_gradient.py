"""One run of `f` for each number: for a million parameters, a million runs.
"""

import numpy as np

import autodiff_mini as ad


def gradient(f):
    def gradient_of_f(params):
        leaves, tree = ad.tree_flatten(params)

        def slope(k, i):
            direction = [np.zeros(np.shape(leaf)) for leaf in leaves]
            direction[k][i] = 1.0
            return ad.jvp(f, (params,), (tree.unflatten(direction),))[1]

        slopes = [np.zeros(np.shape(leaf)) for leaf in leaves]
        for k, leaf in enumerate(leaves):
            for i in np.ndindex(np.shape(leaf)):   # () for a number
                slopes[k][i] = slope(k, i)
        return tree.unflatten(slopes)
    return gradient_of_f
